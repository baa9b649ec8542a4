// Drives the server with the library that VS Code speaks to language servers with.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { applied, binary, placed, position, project, show, text } from "./sample.mjs";

const require = createRequire(import.meta.url);
const lsp = require("vscode-languageserver-protocol/node");

async function connect(t, { program = text, trusted = false, capabilities = {} } = {}) {
  const at = project(t, program);
  const server = spawn(binary, ["lsp"], { cwd: at.folder, env: at.env, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => server.on("exit", resolve));
  const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
  const published = [];
  let heard = () => {};
  connection.onNotification(lsp.PublishDiagnosticsNotification.type, (params) => {
    published.push(params);
    heard();
  });
  connection.listen();
  const hello = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: null, workspaceFolders: [{ uri: at.uri.replace(/\/Pulumi.yaml$/, ""), name: "p" }],
    capabilities, initializationOptions: { trusted },
  });
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri: at.uri, languageId: "yamlhost", version: 1, text: program },
  });
  t.after(async () => {
    await connection.sendRequest(lsp.ShutdownRequest.type);
    await connection.sendNotification(lsp.ExitNotification.type);
    assert.equal(await exited, 0);
    connection.dispose();
  });
  const document = { textDocument: { uri: at.uri } };
  const findings = async (version) => {
    for (;;) {
      const last = published.find((p) => p.uri === at.uri && p.version === version);
      if (last) {
        return last.diagnostics;
      }
      await new Promise((resolve) => { heard = resolve; });
    }
  };
  const on = (word, where) => ({ ...document, position: position(program, word, where) });
  return { connection, hello, at, document, findings, on, request: (type, params) => connection.sendRequest(type, params) };
}

test("findings come by push and by pull, and follow edits", async (t) => {
  const c = await connect(t);
  assert.deepEqual(await c.findings(1), []);
  const range = { start: position(text, "${pet.id}", { by: 2 }), end: position(text, "${pet.id}", { by: 5 }) };
  await c.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: c.at.uri, version: 2 }, contentChanges: [{ range, text: "pot" }],
  });
  const found = await c.findings(2);
  assert.equal(found.length, 1);
  assert.equal(found[0].code, "Y200");
  show(`finding: ${found[0].code} at ${placed(found[0].range)}: ${found[0].message.split("\n")[0]}`);
  assert.deepEqual(found[0].range, range);
  const report = await c.request(lsp.DocumentDiagnosticRequest.type, c.document);
  assert.deepEqual(report.items, found);
  const actions = await c.request(lsp.CodeActionRequest.type, { ...c.document, range, context: { diagnostics: found } });
  const fix = actions.find((a) => a.kind === "quickfix");
  assert.equal(applied(text.replace("${pet.id}", "${pot.id}"), fix.edit.changes[c.at.uri]), text);
});

test("completion, hover and signatures", async (t) => {
  const program = text.replace("${next.id}", "${next.}").replace("fn::join", "fn::joi");
  const c = await connect(t, { program });
  const members = await c.request(lsp.CompletionRequest.type, c.on("${next.", { by: 7 }));
  assert.ok(members.items.some((i) => i.label === "id"));
  const functions = await c.request(lsp.CompletionRequest.type, c.on("fn::joi", { by: 7 }));
  assert.ok(functions.items.some((i) => i.label === "fn::join"));
  const hover = await c.request(lsp.HoverRequest.type, c.on("random:RandomPet", { by: 3 }));
  assert.match(hover.contents.value, /RandomPet/);
  const called = await connect(t, { program: 'outputs:\n  a: ${join("-", )}\n' });
  const help = await called.request(lsp.SignatureHelpRequest.type, called.on(", )", { by: 2 }));
  assert.match(help.signatures[0].label, /^join\(/);
  assert.equal(help.activeParameter, 1);
});

test("names: definition, references, highlights, rename", async (t) => {
  const c = await connect(t);
  const use = c.on("${pet.id}", { by: 3 });
  const declared = { start: position(text, "pet:"), end: position(text, "pet:", { by: 3 }) };
  assert.deepEqual(await c.request(lsp.DefinitionRequest.type, use), [{ uri: c.at.uri, range: declared }]);
  const uses = await c.request(lsp.ReferencesRequest.type, { ...use, context: { includeDeclaration: true } });
  assert.equal(uses.length, 2);
  assert.equal((await c.request(lsp.DocumentHighlightRequest.type, use)).length, 2);
  assert.equal((await c.request(lsp.PrepareRenameRequest.type, use)).placeholder, "pet");
  const renamed = await c.request(lsp.RenameRequest.type, { ...use, newName: "animal" });
  const after = applied(text, renamed.changes[c.at.uri]);
  assert.match(after, /prefix: \$\{animal\.id\}/);
  assert.match(after, /aliases: \[\{name: pet\}\]/);
  await assert.rejects(c.request(lsp.RenameRequest.type, { ...use, newName: "next" }), /declared already/);
  const linked = await c.request(lsp.LinkedEditingRangeRequest.type, c.on("twice:"));
  assert.equal(linked.ranges.length, 2);
});

test("structure: symbols, folding, selection, links, hints, tokens, the graph", async (t) => {
  const c = await connect(t, { program: text + "  read: {fn::readFile: ./Pulumi.yaml}\n" });
  const symbols = await c.request(lsp.DocumentSymbolRequest.type, c.document);
  assert.deepEqual(symbols.map((s) => s.name), ["size", "twice", "pet", "next", "name", "joined", "read"]);
  assert.deepEqual((await c.request(lsp.WorkspaceSymbolRequest.type, { query: "twi" })).map((s) => s.name), ["twice"]);
  const folds = await c.request(lsp.FoldingRangeRequest.type, c.document);
  assert.ok(folds.some((f) => f.startLine === position(text, "resources:").line));
  const [selection] = await c.request(lsp.SelectionRangeRequest.type, { ...c.document, positions: [position(text, "size * 2", { by: 1 })] });
  assert.ok(selection.parent.parent.parent);
  const links = await c.request(lsp.DocumentLinkRequest.type, c.document);
  assert.deepEqual(links.map((l) => l.target), [c.at.uri]);
  const whole = { start: { line: 0, character: 0 }, end: { line: 100, character: 0 } };
  const hints = await c.request(lsp.InlayHintRequest.type, { ...c.document, range: whole });
  assert.ok(hints.some((h) => JSON.stringify(h.label).includes("integer")));
  const tokens = await c.request(lsp.SemanticTokensRequest.type, c.document);
  assert.equal(tokens.data.length % 5, 0);
  assert.ok(tokens.data.length > 100);
  const legend = c.hello.capabilities.semanticTokensProvider.legend.tokenTypes;
  let line = 0;
  let character = 0;
  const words = [];
  for (let i = 0; i < tokens.data.length; i += 5) {
    const [lines, columns, length, kind] = tokens.data.slice(i, i + 4);
    character = lines ? columns : character + columns;
    line += lines;
    words.push(`${text.split("\n")[line]?.slice(character, character + length)} (${legend[kind]})`);
  }
  show("semantic tokens: " + words.slice(0, 14).join(", ") + ", …");
  for (const h of hints) {
    show(`inlay hint at ${placed({ start: h.position })}: ${h.label.trim()}`);
  }
  const part = await c.request(lsp.SemanticTokensRangeRequest.type, { ...c.document, range: { start: { line: 0, character: 0 }, end: { line: 5, character: 0 } } });
  assert.ok(part.data.length > 0 && part.data.length < tokens.data.length);
  const [item] = await c.request(lsp.CallHierarchyPrepareRequest.type, c.on("pet:"));
  const needed = await c.request(lsp.CallHierarchyIncomingCallsRequest.type, { item });
  assert.deepEqual(needed.map((n) => n.from.name), ["next"]);
  const needs = await c.request(lsp.CallHierarchyOutgoingCallsRequest.type, { item });
  assert.deepEqual(needs.map((n) => n.to.name), ["twice"]);
  show(`calls: pet needs ${needs.map((n) => n.to.name)}, and ${needed.map((n) => n.from.name)} needs it`);
});

test("formatting and actions", async (t) => {
  const program = text.replace("  twice: ", "    twice:   ");
  const c = await connect(t, { program, capabilities: { workspace: { workspaceEdit: { documentChanges: true, snippetEditSupport: true, resourceOperations: ["rename"] } } } });
  const formatted = await c.request(lsp.DocumentFormattingRequest.type, { ...c.document, options: { tabSize: 2, insertSpaces: true } });
  assert.equal(applied(program, formatted), text);
  const at = position(program, "fn::join", { by: 5 });
  const actions = await c.request(lsp.CodeActionRequest.type, { ...c.document, range: { start: at, end: at }, context: { diagnostics: [], only: ["refactor.rewrite"] } });
  const expression = actions.find((a) => a.title === "Write join inside of ${…}");
  assert.match(applied(program, expression.edit.changes[c.at.uri]), /joined: \$\{join\("-", \["a", "b"\]\)\}/);
  const top = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const file = await c.request(lsp.CodeActionRequest.type, { ...c.document, range: top, context: { diagnostics: [], only: ["refactor.rewrite"] } });
  const json = file.find((a) => a.title === "Write the file as JSON");
  assert.equal(json.edit.documentChanges[1].kind, "rename");
  assert.match(json.edit.documentChanges[1].newUri, /Pulumi\.json$/);
  assert.equal(JSON.parse(json.edit.documentChanges[0].edits[0].newText).name, "sample");
});

test("required properties are filled in by a snippet", async (t) => {
  const program = "name: s\nruntime: yaml\nresources:\n  id:\n    type: random:RandomId\n";
  const edit = { documentChanges: true, snippetEditSupport: true };
  const c = await connect(t, { program, capabilities: { workspace: { workspaceEdit: edit } } });
  const at = position(program, "random:RandomId");
  const actions = await c.request(lsp.CodeActionRequest.type, { ...c.document, range: { start: at, end: at }, context: { diagnostics: [] } });
  const fill = actions.find((a) => a.title.startsWith("Fill in"));
  assert.match(fill.edit.documentChanges[0].edits[0].snippet.value, /byteLength: \$\{1:/);
  show(`action: ${fill.title}, as the snippet ${JSON.stringify(fill.edit.documentChanges[0].edits[0].snippet.value)}`);
});

test("commands: the graph always, a plan only in a trusted workspace", async (t) => {
  const careful = await connect(t);
  const svg = await careful.request(lsp.ExecuteCommandRequest.type, { command: "yamlhost.graph", arguments: [careful.at.uri] });
  assert.match(svg, /^<svg|^<\?xml/);
  await assert.rejects(careful.request(lsp.ExecuteCommandRequest.type, { command: "yamlhost.plan", arguments: [careful.at.uri] }), /not trusted/);
  const trusting = await connect(t, { trusted: true });
  const plan = await trusting.request(lsp.ExecuteCommandRequest.type, { command: "yamlhost.plan", arguments: [trusting.at.uri] });
  assert.match(plan, /pet/);
  assert.match(plan, /create/);
});

test("types, lenses, parts of the format, renamed files, the workspace", async (t) => {
  const program = text + "  read: {fn::readFile: ./a.txt}\n";
  const c = await connect(t, { program: program.replace("length: ${twice}", "length:   ${twice}") });
  assert.deepEqual(await c.request(lsp.TypeDefinitionRequest.type, c.on("pet:")), []);
  const lenses = await c.request(lsp.CodeLensRequest.type, c.document);
  assert.deepEqual(lenses.map((l) => l.command.title), ["dev: not deployed", "dev: not deployed"]);
  show("lenses: " + lenses.map((l) => l.command.title).join(", "));
  const line = position(program, "length: ").line;
  const range = { start: { line, character: 0 }, end: { line, character: 1 } };
  const options = { tabSize: 2, insertSpaces: true };
  assert.equal((await c.request(lsp.DocumentRangeFormattingRequest.type, { ...c.document, range, options })).length, 1);
  assert.deepEqual(await c.request(lsp.DocumentOnTypeFormattingRequest.type, { ...c.document, position: range.start, ch: "\n", options }), []);
  const folder = c.at.uri.replace("Pulumi.yaml", "");
  const moved = await c.request(lsp.WillRenameFilesRequest.type, { files: [{ oldUri: `${folder}a.txt`, newUri: `${folder}b.txt` }] });
  assert.equal(moved.changes[c.at.uri][0].newText, "./b.txt");
  const report = await c.request(lsp.WorkspaceDiagnosticRequest.type, { previousResultIds: [] });
  assert.ok(report.items.some((i) => i.uri === c.at.uri));
});
