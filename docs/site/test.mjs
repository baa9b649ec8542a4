// Opens the built site in a browser without a screen: small and large, search, dark and light, print, and no request to
// anybody else.
import assert from "node:assert/strict";
import { createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const folder = fileURLToPath(new URL("../../bin/site", import.meta.url));
const shots = fileURLToPath(new URL("../../bin/site-captures", import.meta.url));
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json", ".gz": "application/octet-stream" };

test("the site", async (t) => {
  mkdirSync(shots, { recursive: true });
  const server = createServer((request, response) => {
    let path = join(folder, decodeURIComponent(new URL(request.url, "http://x").pathname).replaceAll("..", ""));
    if (existsSync(path) && statSync(path).isDirectory()) path = join(path, "index.html");
    if (!existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": types[extname(path)] ?? "application/octet-stream" });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const context = await browser.newContext();
  const foreign = [];
  const missing = [];
  const faults = [];
  context.on("request", (r) => r.url().startsWith(origin) || r.url().startsWith("data:") || foreign.push(r.url()));
  context.on("response", (r) => r.status() >= 400 && missing.push(r.url()));
  const page = await context.newPage();
  page.setDefaultTimeout(120000);
  page.on("pageerror", (e) => faults.push(String(e)));

  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ["/", "/tutorial.html", "/language.html", "/codes/Y204.html", "/examples/hello.html"]) {
      await page.goto(origin + path);
      await page.waitForSelector(".vp-doc h1");
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${path} is ${over} pixels wider than a screen of ${width}`);
      await page.screenshot({ path: join(shots, `${width}${path.replaceAll("/", "-").replace(".html", "")}.png`) });
    }
  }

  // Search works without a server, and finds codes, words of the language and options.
  for (const [words, wanted] of [["Y204", /codes\/Y204/], ["forEach", /language/], ["ignoreChanges", /language|engine/]]) {
    await page.goto(origin + "/contents.html");
    await page.waitForSelector(".vp-doc h1");
    await page.click(".DocSearch-Button, #local-search button");
    await page.fill("#localsearch-input", words);
    await page.waitForSelector(".VPLocalSearchBox .result");
    const found = await page.$$eval(".VPLocalSearchBox .result", (list) => list.map((e) => e.getAttribute("href")));
    assert.ok(found.some((href) => wanted.test(href)), `${words}: ${found}`);
    if (words === "forEach") await page.screenshot({ path: join(shots, "search.png") });
    await page.keyboard.press("Escape");
  }

  // What looks like an expression of the site's generator is shown as it is written.
  await page.goto(origin + "/convert.html");
  await page.waitForSelector(".vp-doc h1");
  assert.match(await page.innerText(".vp-doc"), /\{\{resolve:ssm:…\}\}/);

  // An example opens in the playground with its program.
  await page.goto(origin + "/examples/hello.html");
  await page.click("text=Try it in the playground");
  await page.waitForFunction(() => document.getElementById("status")?.textContent === "no findings");
  assert.match(await page.evaluate(() => window.playground.state.doc.toString()), /random:RandomPet/);

  // Light and dark are a choice of the reader's.
  await page.goto(origin + "/language.html");
  const dark = () => page.evaluate(() => document.documentElement.classList.contains("dark"));
  const before = await dark();
  await page.locator(".VPSwitchAppearance:visible").first().click();
  assert.notEqual(await dark(), before);
  await page.screenshot({ path: join(shots, "dark.png") });

  // Paper has the text and nothing to click.
  await page.emulateMedia({ media: "print" });
  for (const part of [".VPNav", ".VPSidebar"]) assert.equal(await page.isVisible(part), false, part);

  // Every page opens without a fault, and every link of the sidebar leads to one.
  await page.emulateMedia({ media: "screen" });
  const links = await page.$$eval(".VPSidebar a", (list) => [...new Set(list.map((e) => e.getAttribute("href")))]);
  assert.ok(links.length > 100, `${links.length} links`);
  for (const href of links) {
    const path = join(folder, href.endsWith("/") ? `${href}index.html` : href);
    assert.ok(existsSync(path), href);
  }
  assert.deepEqual(foreign, []);
  assert.deepEqual(missing, []);
  assert.deepEqual(faults, []);
});
