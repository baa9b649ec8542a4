// Asks the tools of `yamlhost mcp` by the client library of the Model Context Protocol, over a real process.
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const binary = resolve(process.env.YAMLHOST_BINARY ?? "../../../bin/yamlhost");
const capture = process.env.YAMLHOST_CAPTURE;
const program = `name: sample
runtime: yaml
resources:
  pet:
    type: random:RandomPet
outputs:
  name: \${pot.id}
`;

async function connect(t, ...args) {
  const folder = mkdtempSync(join(tmpdir(), "yamlhost-mcp-"));
  mkdirSync(join(folder, "project"));
  mkdirSync(join(folder, "state"));
  writeFileSync(join(folder, "project", "Pulumi.yaml"), program);
  const env = { PATH: process.env.PATH, HOME: folder, PULUMI_HOME: join(folder, ".pulumi"), PULUMI_BACKEND_URL: `file://${folder}/state`, PULUMI_CONFIG_PASSPHRASE: "test" };
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: binary, args: ["mcp", join(folder, "project"), ...args], env }));
  t.after(async () => {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { client, folder };
}

const said = (result) => result.content.map((c) => c.text).join("\n");

function show(text) {
  if (capture) {
    appendFileSync(capture, text + "\n");
  }
}

test("every tool answers", async (t) => {
  const { client } = await connect(t);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), ["check", "explain", "functions", "graph", "schema"]);
  show("tools: " + tools.map((tool) => tool.name).sort().join(" "));
  const ask = (name, args = {}) => client.callTool({ name, arguments: args });
  const [finding] = (await ask("check")).structuredContent.diagnostics;
  assert.equal(finding.code, "Y200");
  show(`check: ${finding.code} at ${finding.place.start.line}:${finding.place.start.column}: ${finding.summary}`);
  assert.match(said(await ask("explain", { code: "Y200" })), /Y200/);
  const type = JSON.parse(said(await ask("schema", { type: "random:RandomPet" })));
  show("schema of random:RandomPet: " + type.inputs.map((input) => input.name).join(" "));
  assert.ok(type.inputs.some((input) => input.name === "prefix"));
  assert.match(said(await ask("functions", { name: "join" })), /join\(/);
  const graph = said(await ask("graph"));
  assert.match(graph, /resource:pet/);
});

test("what is outside, malformed or not allowed is refused", async (t) => {
  const { client } = await connect(t);
  const outside = await client.callTool({ name: "check", arguments: { file: "../../etc/passwd" } });
  assert.ok(outside.isError);
  show("check of ../../etc/passwd: " + said(outside));
  await assert.rejects(async () => {
    const answer = await client.callTool({ name: "check", arguments: { file: 3 } });
    if (answer.isError) throw new Error(said(answer));
  });
  await assert.rejects(async () => {
    const answer = await client.callTool({ name: "plan", arguments: {} });
    if (answer.isError) throw new Error(said(answer));
  });
});

test("a preview, where it is allowed", async (t) => {
  const { client } = await connect(t, "--allow-plan");
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "plan"));
  assert.match(said(await client.callTool({ name: "plan", arguments: {} })), /stack|pot/);
});
