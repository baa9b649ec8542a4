// Runs the code of the packaged extension against a stub of the editor and the real server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { binary, here, placed, position, project, show, text } from "./sample.mjs";
import { stub } from "./vscode-stub.mjs";

const require = createRequire(import.meta.url);
const packed = join(here, "../../../../bin/yamlhost.vsix");

// unpacked is the folder of the extension that is in the package.
function unpacked(t) {
  assert.ok(existsSync(packed), `${packed} is missing: npm run package makes it`);
  const folder = mkdtempSync(join(tmpdir(), "yamlhost-vsix-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync("python3", ["-m", "zipfile", "-e", packed, folder]);
  return join(folder, "extension");
}

test("the package has what it needs and no more", (t) => {
  const folder = unpacked(t);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const path of [manifest.main, ...manifest.contributes.grammars.map((g) => g.path), ...manifest.contributes.languages.map((l) => l.configuration)]) {
    assert.ok(existsSync(join(folder, path)), path);
  }
  assert.ok(!existsSync(join(folder, "node_modules")));
  assert.deepEqual(manifest.contributes.languages.map((l) => l.id), ["yamlhost", "yamlhost-json"]);
});

test("the extension starts the server, shows findings, draws the graph and plans", async (t) => {
  const folder = unpacked(t);
  const at = project(t, text.replace("${pet.id}", "${pot.id}"));
  Object.assign(process.env, at.env);
  const vscode = stub({ path: binary, file: at.path, program: text.replace("${pet.id}", "${pot.id}"), trusted: true });
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (request, ...rest) {
    return request === "vscode" ? "vscode" : resolve.call(this, request, ...rest);
  };
  require.cache.vscode = { id: "vscode", filename: "vscode", loaded: true, exports: vscode.api };
  t.after(() => {
    Module._resolveFilename = resolve;
  });
  const extension = require(join(folder, "dist/extension.js"));
  const context = { subscriptions: [] };
  await extension.activate(context);
  const findings = await vscode.diagnostics();
  assert.equal(findings.length, 1);
  assert.equal(findings[0].range.start.line, position(text, "${pet.id}").line);
  assert.match(findings[0].message, /pot/);
  show(`the packaged extension shows at ${placed(findings[0].range)}: ${findings[0].message.split("\n")[0]}`);
  await vscode.commands.get("yamlhost.showGraph")();
  assert.match(vscode.panels[0].webview.html, /<svg/);
  assert.match(vscode.panels[0].webview.html, /default-src 'none'/);
  await vscode.commands.get("yamlhost.showPlan")();
  assert.match(vscode.documents[0].content, /pot/); // the preview refuses the program for the same finding
  vscode.trusted = false;
  await vscode.commands.get("yamlhost.showPlan")();
  assert.equal(vscode.documents.length, 1);
  assert.match(vscode.messages.at(-1), /trust the workspace/);
  await extension.deactivate();
});
