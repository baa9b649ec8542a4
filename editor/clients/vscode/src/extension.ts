import * as vscode from "vscode";
import { LanguageClient, type Executable, type LanguageClientOptions } from "vscode-languageclient/node";

const languages = ["yamlhost", "yamlhost-json"];

let client: LanguageClient | undefined;

// command is the program to start. A workspace that is not trusted does not choose it: its settings are left out by the editor.
export function command(): Executable {
  const path = vscode.workspace.getConfiguration("yamlhost").get<string>("path") || "yamlhost";
  return { command: path, args: ["lsp"] };
}

function options(): LanguageClientOptions {
  return {
    documentSelector: languages.map((language) => ({ language, scheme: "file" })),
    initializationOptions: { trusted: vscode.workspace.isTrusted },
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{yaml,yml,json}") },
    markdown: { isTrusted: false },
  };
}

async function start(): Promise<void> {
  client = new LanguageClient("yamlhost", "yamlhost", command(), options());
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(`yamlhost could not be started: ${error instanceof Error ? error.message : error}`, "Settings");
    if (choice === "Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "yamlhost.path");
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

// ask has the server carry out a command for the file that is shown.
async function ask(name: string): Promise<string | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  if (!client || !document || !languages.includes(document.languageId)) {
    await vscode.window.showInformationMessage("Open a Pulumi program first.");
    return undefined;
  }
  const params = { command: name, arguments: [document.uri.toString()] };
  try {
    return await client.sendRequest<string>("workspace/executeCommand", params);
  } catch (error) {
    await vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

async function showGraph(): Promise<void> {
  const svg = await ask("yamlhost.graph");
  if (svg === undefined) {
    return;
  }
  const panel = vscode.window.createWebviewPanel("yamlhost.graph", "Graph", vscode.ViewColumn.Beside, { enableScripts: false, localResourceRoots: [] });
  panel.webview.html = `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body { background: white; } svg { max-width: 100%; height: auto; }</style></head><body>${svg}</body></html>`;
}

async function showPlan(): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    await vscode.window.showInformationMessage("A preview runs plugins and commands of the project: trust the workspace first.");
    return;
  }
  const text = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "yamlhost: preview" }, () => ask("yamlhost.plan"));
  if (text === undefined) {
    return;
  }
  const document = await vscode.workspace.openTextDocument({ content: text, language: "diff" });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("yamlhost.showGraph", showGraph),
    vscode.commands.registerCommand("yamlhost.showPlan", showPlan),
    vscode.commands.registerCommand("yamlhost.restart", restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("yamlhost.path")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}
