// Opens the page in a browser without a screen: findings, graph, preview, the program in the link, and no request to anybody else.
import assert from "node:assert/strict";
import { createReadStream, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const folder = fileURLToPath(new URL("../../../bin/playground", import.meta.url));
const types = { html: "text/html", js: "text/javascript", gz: "application/octet-stream" };

test("the playground", async (t) => {
  const server = createServer((request, response) => {
    const path = join(folder, request.url === "/" ? "index.html" : request.url.replaceAll("..", ""));
    if (!existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": types[path.split(".").pop()] });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${server.address().port}/`;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(120000);
  const requests = [];
  const faults = [];
  page.on("request", (r) => requests.push(r.url()));
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
  const status = (text) => page.waitForFunction((s) => document.getElementById("status").textContent === s, text);
  const write = (text) => page.evaluate((s) => window.playground.dispatch({ changes: { from: 0, to: window.playground.state.doc.length, insert: s } }), text);
  const program = () => page.evaluate(() => window.playground.state.doc.toString());

  await page.goto(origin);
  await status("no findings");
  const sound = await program();
  await page.click("#graph");
  await page.waitForSelector("#side svg");
  await page.screenshot({ path: join(folder, "graph.png") });
  await page.click("#preview");
  await page.waitForFunction(() => document.getElementById("side").textContent.includes("3 to create"));
  assert.match(await page.textContent("#side"), /\+ pet random:RandomPet/);
  await page.screenshot({ path: join(folder, "preview.png") });
  const shown = ["preview:", await page.evaluate(() => document.getElementById("side").innerText)];

  await page.click("#findings");
  await write(sound.replace("${pet.id}", "${pot.id}"));
  await status("1 finding");
  assert.match(await page.textContent("#side"), /Y200: `pot` is not declared/);
  await page.waitForSelector(".cm-lintRange-error");
  shown.push("finding:", await page.evaluate(() => document.getElementById("side").innerText));
  mkdirSync(join(folder, "../editor"), { recursive: true });
  writeFileSync(join(folder, "../editor/chromium.txt"), shown.join("\n") + "\n");
  await page.screenshot({ path: join(folder, "finding.png") });
  const broken = await program();
  await page.waitForFunction(() => location.hash.length > 20);
  const link = page.url();
  const other = await browser.newPage();
  other.setDefaultTimeout(120000);
  await other.goto(link);
  await other.waitForFunction(() => window.playground !== undefined);
  assert.equal(await other.evaluate(() => window.playground.state.doc.toString()), broken);
  await other.close();

  await write("resources:\n  c:\n    type: command:local:Command\n    properties: {create: echo}\n");
  await status("no findings");
  await page.click("#preview");
  await page.waitForFunction(() => document.getElementById("side").textContent.includes("not in a browser"));
  await write("a:   1\noutputs:\n  o:    1\n");
  await page.click("#format");
  assert.match(await program(), /o: 1\n/);
  assert.deepEqual(faults, []);
  assert.deepEqual(requests.filter((url) => !url.startsWith(origin)), []);
  assert.ok(requests.every((url) => !url.includes("#")), "the fragment stays in the browser");
});
