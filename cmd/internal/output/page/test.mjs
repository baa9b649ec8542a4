// Drives the console in a browser without a screen: every view, a run that goes on, a failure, locks, a stack that changes
// underneath, hostile states and pages, accessibility, a secret that stays one, and figures of a large stack. YAMLHOST
// names the program. Captures are in bin/ui-captures, or where CAPTURES says.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { transform } from "esbuild";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env.YAMLHOST ?? join(here, "../../../../bin/yamlhost");
const captures = process.env.CAPTURES ?? join(here, "../../../../bin/ui-captures");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const canary = "canary-4c1d-swordfish", passphrase = "correct horse";
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

const root = mkdtempSync(join(tmpdir(), "yamlhost-ui-"));
const project = join(root, "shop"), state = join(root, "state"), ready = join(root, "ready.json");
const env = { PATH: process.env.PATH, HOME: join(root, "home"), PULUMI_BACKEND_URL: "file://" + state, PULUMI_CONFIG_PASSPHRASE: passphrase, PULUMI_SKIP_UPDATE_CHECK: "true" };
let server, browser, page, origin, url;
const bodies = [], requests = [], faults = [];

const run = (...args) => execFileSync(program, ["-C", project, ...args], { env, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
const start = (...args) => {
  const child = spawn(program, ["-C", project, ...args], { env, stdio: "ignore" });
  return { child, end: new Promise((resolve) => child.on("exit", resolve)) };
};
const write = (extra) => writeFileSync(join(project, "Pulumi.yaml"), `name: shop
runtime: yaml
resources:
  pet:
    type: random:RandomPet
    properties: {length: 2}
  password:
    type: random:RandomPassword
    properties: {length: 12}
  note:
    type: command:local:Command
    properties:
      create: echo noted
      environment:
        WORD:
          fn::secret: ${canary}
        PET: \${pet.id}
${extra}
outputs: {pet: "\${pet.id}"}
config: {colour: {type: string, default: red}}
`);

// context returns a new browser's profile, in which a slow machine has time.
async function context(options) {
  const made = await browser.newContext(options);
  made.setDefaultTimeout(120000);
  return made;
}
async function open() {
  page = await (await context({ viewport: { width: 1280, height: 800 }, colorScheme: "light" })).newPage();
  page.on("request", (r) => requests.push(r.url()));
  page.on("response", (r) => r.url().includes("/api/") && r.text().then((text) => { bodies.push([r.url(), text]); if (r.status() >= 500) faults.push(r.url() + ": " + text); }, () => {}));
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
  page.on("dialog", (d) => { faults.push("dialog: " + d.message()); void d.dismiss(); });
  await page.goto(url);
  await page.getByRole("heading", { name: /stack/ }).first().waitFor();
}
const to = (...parts) => page.goto(origin + "/#/" + parts.map(encodeURIComponent).join("/"));
const shot = (name) => page.screenshot({ path: join(captures, name + ".png") });
// cutTypes returns the types of resources that their column cuts.
const cutTypes = () => page.evaluate(() => [...document.querySelectorAll(".row > .type")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent));
const accessible = async (what) => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  assert.deepEqual(found.violations.map((v) => `${what}: ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`), []);
};
// duration returns the seconds of a duration as the page shows it.
const duration = (text) => {
  const [, minutes = 0, seconds] = /^(?:(\d+)m)?(?:<0\.1s|(\d+(?:\.\d)?)s)$/.exec(text) ?? assert.fail(`${text} is no duration`);
  return Number(minutes) * 60 + Number(seconds ?? 0);
};
const until = async (what, check) => {
  for (let i = 0; i < 600; i++) { if (await check()) return; await new Promise((r) => setTimeout(r, 100)); }
  assert.fail("waited in vain: " + what);
};

before(async () => {
  mkdirSync(captures, { recursive: true });
  for (const dir of [project, state, env.HOME]) mkdirSync(dir, { recursive: true });
  write("");
  run("stack", "init", "dev");
  run("config", "set", "colour", "blue", "--stack", "dev");
  run("up", "--yes", "--skip-preview", "--stack", "dev", "-m", "the first");
  server = spawn(program, ["-C", project, "ui", "--no-browser", "--ready-file", ready], { env, stdio: "ignore" });
  await until("the page can be opened", () => existsSync(ready));
  url = JSON.parse(readFileSync(ready, "utf8")).url;
  origin = new URL(url).origin;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--host-resolver-rules=MAP rebind.test 127.0.0.1"] });
  await open();
});
after(async () => {
  await browser?.close();
  if (server) { const ended = new Promise((r) => server.on("exit", r)); server.kill("SIGINT"); assert.equal(await ended === 0 || server.signalCode === null, true); }
  rmSync(root, { recursive: true, force: true });
});

test("durations are those of a terminal", async () => {
  const { code } = await transform(readFileSync(join(here, "src/took.ts"), "utf8"), { loader: "ts", format: "esm" });
  const { took } = await import("data:text/javascript," + encodeURIComponent(code));
  const examples = readFileSync(join(here, "../view/testdata/durations.txt"), "utf8").split("\n").filter((l) => /^\d/.test(l));
  assert.ok(examples.length > 10);
  for (const line of examples) assert.equal(took(Number(line.split(" ")[0])), line.split(" ")[1], line);
});

test("the committed page is what its sources make", () => {
  const out = mkdtempSync(join(root, "dist-"));
  execFileSync("node", [join(here, "build.mjs"), out]);
  for (const name of readdirSync(out)) {
    const bytes = (dir) => { const data = readFileSync(join(dir, name)); return name.endsWith(".gz") ? gunzipSync(data) : data; };
    assert.ok(bytes(out).equals(bytes(join(here, "dist"))), name);
  }
});

test("the link opens the page, and its token is nowhere afterwards", async () => {
  assert.ok(url.includes("#token="));
  assert.ok(!page.url().includes("token"));
  assert.ok(!(await page.content()).includes(new URL(url).hash.slice(7)));
  await page.reload();
  await page.getByRole("link", { name: "shop/dev" }).waitFor();
  await accessible("stacks");
  await shot("stacks");
});

test("a report is the same page with its data inside: rows that open, causes, the drawing", async () => {
  const program = readFileSync(join(project, "Pulumi.yaml"), "utf8"), file = join(root, "report.html");
  writeFileSync(join(project, "Pulumi.yaml"), program.replace("{length: 2}", "{length: 3, prefix: '</script><img src=x onerror=alert(1)>'}").replace("echo noted", "echo other").replace(/  password:[^]*?length: 12}\n/, ""));
  run("preview", "--stack", "dev", "--out", "html=" + file);
  writeFileSync(join(project, "Pulumi.yaml"), program);
  const usual = page;
  for (const [width, height] of [[1440, 900], [390, 844]]) for (const scheme of ["light", "dark"]) {
    page = await (await context({ viewport: { width, height }, colorScheme: scheme, bypassCSP: true })).newPage();
    const asked = [], wrong = [];
    page.on("request", (r) => asked.push(r.url()));
    page.on("pageerror", (e) => wrong.push(String(e)));
    page.on("dialog", (d) => { wrong.push(d.message()); void d.dismiss(); });
    await page.goto("file://" + file);
    const row = (name) => page.locator("details", { has: page.locator("summary .name", { hasText: new RegExp(`^${name}$`) }) });
    for (const [name, open] of [["pet", true], ["password", true], ["note", false]]) assert.equal(await row(name).evaluate((e) => e.open), open, name);
    assert.match(await row("pet").innerText(), /length: 2 => 3 \(forces replacement\)/);
    assert.match(await row("password").locator(".why").innerText(), /not in the program any more/);
    await row("note").locator("summary").press("Enter");
    assert.match(await row("note").locator(".why").innerText(), /Pulumi\.yaml:\d+ pet ~ length: 2 => 3/);
    assert.match(await page.evaluate(() => document.getElementById("drawing").shadowRoot.querySelector("svg").textContent), /pet/);
    await accessible("report " + width + " " + scheme);
    await shot(`report-${width}-${scheme}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
    assert.deepEqual(await cutTypes(), []);
    await page.getByRole("button", { name: /replace/ }).click();
    assert.equal(await row("pet").count(), 0);
    await page.getByRole("searchbox").fill("password");
    assert.equal(await page.locator(".tree summary .name", { hasText: "note" }).count(), 0);
    assert.deepEqual([asked, wrong], [["file://" + file], []]);
    assert.ok(!readFileSync(file, "utf8").includes(canary));
    await page.context().close();
  }
  const strict = await (await context()).newPage(), refused = [];
  strict.on("console", (m) => refused.push(m.text()));
  await strict.goto("file://" + file);
  await strict.locator(".tree details").first().waitFor();
  assert.deepEqual(refused, [], "the policy of the page lets its own script run");
  await strict.context().close();
  page = usual;
});

test("resources: tree, table, filters, keyboard, one resource", async () => {
  await page.getByRole("link", { name: "shop/dev" }).click();
  const rows = page.locator(".virtual .row");
  await rows.getByText("pet", { exact: true }).waitFor();
  await accessible("resources");
  const all = await rows.count();
  await page.getByLabel("Type", { exact: true }).selectOption({ label: "random:RandomPet" });
  await until("the filter", async () => await rows.count() < all);
  await page.getByLabel("Type", { exact: true }).selectOption("");
  await page.getByLabel("Filter by name or type").fill("note");
  await page.getByRole("treegrid").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "note" }).waitFor();
  await page.getByText("In the program").waitFor();
  assert.match(await page.locator("pre").first().innerText(), /fn::secret: \*+/);
  await page.getByText("[secret]").first().waitFor();
  await page.getByRole("button", { name: "Show what operations" }).click();
  await page.getByText("added", { exact: false }).first().waitFor();
  await accessible("a resource");
  await shot("resource");
});

test("a secret is shown for its passphrase and a click, and in no other answer", async () => {
  const told = () => bodies.filter(([, text]) => text.includes("swordfish"));
  assert.deepEqual(told(), []);
  assert.ok(!(await page.content()).includes("swordfish"));
  const reveal = page.getByRole("button", { name: "Show the secret environment.WORD" }).first();
  await reveal.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Passphrase of the stack").fill("wrong");
  await dialog.getByRole("button", { name: "Show it" }).click();
  await dialog.getByText("not that of this stack").waitFor();
  await accessible("the dialog");
  await dialog.getByLabel("Passphrase of the stack").fill(passphrase);
  await dialog.getByRole("button", { name: "Show it" }).click();
  await page.getByText(canary).waitFor();
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByText(canary).waitFor({ state: "detached" });
  await until("the answer is noted", () => told().length > 0);
  assert.deepEqual(told().map(([to]) => new URL(to).pathname), ["/api/reveal"]);
});

// A run waits for what the test has seen of it: on a slow machine, too, each state is seen before it is over.
test("a run is watched: under way, locked, what it says, its end; the stack changes underneath", async () => {
  const seen = join(root, "seen");
  write(`  slow:
    type: command:local:Command
    properties: {create: "until [ -e '${seen}' ]; do sleep 0.1; done; echo slow is ready"}
  slower:
    type: command:local:Command
    properties: {create: "sleep 1"}
    options: {dependsOn: ["\${slow}"]}
`);
  await to("s", "shop", "dev", "resources");
  await page.getByLabel("Filter by name or type").fill("");
  const rows = page.locator(".virtual .row");
  await rows.first().waitFor();
  const other = await page.context().newPage();
  await other.goto(url);
  await other.goto(origin + "/#/s/shop/dev/live");
  const up = start("up", "--yes", "--skip-preview", "--stack", "dev");
  await other.locator(".gantt", { hasText: "slow" }).locator(".mark", { hasText: "running" }).first().waitFor();
  await other.getByText("Locked").first().waitFor();
  await page.getByText("in flight:").waitFor();
  const [keep] = [page];
  page = other;
  await accessible("a run");
  await shot("run-live");
  writeFileSync(seen, "");
  assert.equal(await up.end, 0);
  await other.getByText("succeeded").first().waitFor();
  await other.locator(".gantt", { hasText: "slower" }).locator(".mark", { hasText: "create" }).waitFor();
  assert.ok(duration(await other.locator(".gantt", { hasText: "slower" }).locator(".over").innerText()) >= 1);
  await other.locator(".log", { hasText: "slow is ready" }).waitFor();
  await other.getByLabel("longest first").check();
  const lengths = (await other.locator(".gantt .over").allInnerTexts()).map(duration);
  assert.ok(lengths.length > 2 && lengths.every((length, i) => i === 0 || length <= lengths[i - 1]), "longest first: " + lengths);
  await shot("run");
  page = keep;
  await rows.getByText("slower", { exact: true }).waitFor();
  await page.getByText("in flight:").waitFor({ state: "detached" });
  await other.close();
});

test("a failure is told, and a preview is started from the page", async () => {
  write(`  broken:
    type: command:local:Command
    properties: {create: "echo it breaks >&2; exit 3"}
`);
  await to("s", "shop", "dev", "live");
  assert.notEqual(await start("up", "--yes", "--skip-preview", "--stack", "dev").end, 0);
  await page.locator(".gantt", { hasText: "broken" }).locator(".mark", { hasText: "failed" }).waitFor();
  await page.locator(".log", { hasText: "it breaks" }).waitFor();
  await shot("run-failed");
  const before = run("stack", "export", "--stack", "dev");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("What the preview says").waitFor();
  await page.getByRole("link", { name: /preview: plan/ }).first().waitFor();
  assert.equal(run("stack", "export", "--stack", "dev"), before, "a preview changes nothing");
});

test("the graph: folding, choosing, the critical path", async () => {
  await to("s", "shop", "dev", "graph");
  const canvas = page.getByRole("application");
  await canvas.waitFor();
  await accessible("the graph");
  await page.getByLabel("critical path").check();
  await page.locator("main").getByText(/→|s: /).first().waitFor();
  await canvas.focus();
  for (const key of ["+", "ArrowLeft", "0", "Enter"]) await page.keyboard.press(key);
  await page.getByText("would break if it went").waitFor();
  await page.getByLabel("Find in the graph").fill("pet");
  await page.getByText("1 found").waitFor();
  await shot("graph");
});

test("keys: search, help, a walk through lists; outputs and configuration come first; another tab", async () => {
  await to("");
  await page.locator(".card").first().waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.closest(".card h2 a")?.textContent), "shop/dev");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await accessible("the keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.press("Escape");
  await to("s", "shop", "dev");
  await page.getByRole("region", { name: "Outputs" }).getByText("pet").waitFor();
  await page.getByRole("region", { name: "Configuration" }).getByText("blue").waitFor();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.className), "virtual");
  await accessible("a stack");
  await shot("stack");
  const tab = await page.context().newPage(); // a link that is opened in a new tab
  await tab.goto(origin + "/#/s/shop/dev/history");
  await tab.locator(".row.tall").first().waitFor();
  await tab.goto(url);
  await tab.getByRole("link", { name: "shop/dev" }).waitFor();
  assert.ok(!tab.url().includes("token"));
  await tab.close();
});

test("history: timeline, differences, export", async () => {
  run("refresh", "--yes", "--skip-preview", "--stack", "dev");
  await to("s", "shop", "dev", "history");
  const rows = page.locator(".row.tall");
  await rows.first().waitFor();
  await accessible("history");
  await rows.filter({ hasText: "update" }).nth(1).click();
  await page.getByText(/differ, \d+ are the same/).waitFor();
  await page.locator(".detail").getByText("slower").first().waitFor();
  await shot("history");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as HTML" }).click()]);
  const text = readFileSync(await download.path(), "utf8");
  assert.ok(text.includes("the first") && !text.includes("<script"));
});

// deployment is a state as `stack import` takes it.
const deployment = (name, resources) => JSON.stringify({ version: 3, deployment: { manifest: { time: "2026-01-01T00:00:00Z", magic: "", version: "" }, resources: [
  { urn: `urn:pulumi:${name}::shop::pulumi:pulumi:Stack::shop-${name}`, custom: false, type: "pulumi:pulumi:Stack" }, ...resources] } });
const imported = (name, resources) => {
  const file = join(root, name + ".json");
  writeFileSync(file, deployment(name, resources));
  run("stack", "init", name);
  run("stack", "import", "--stack", name, "--file", file);
};

test("types are written as programs write them", async () => {
  const parent = "urn:pulumi:types::shop::pulumi:pulumi:Stack::shop-types";
  const types = { "kubernetes:core/v1:Namespace": "kubernetes:core/v1:Namespace", "aws:s3/bucket:Bucket": "aws:s3:Bucket", "random:index/randomPet:RandomPet": "random:RandomPet" };
  imported("types", Object.keys(types).map((type, i) => ({ urn: `urn:pulumi:types::shop::${type}::r${i}`, custom: false, type, parent })));
  await to("s", "shop", "types");
  for (const type of Object.values(types)) await page.getByRole("gridcell", { name: type, exact: true }).waitFor();
});

test("hostile states: no script runs, nothing leaves", async () => {
  const urn = `urn:pulumi:evil::shop::a:b:C::${hostile}`;
  imported("evil", [{ urn, custom: false, type: "a:b:C", inputs: { [hostile]: hostile, url: "javascript:window.hacked=1", long: "x".repeat(2 << 20), __proto: { constructor: 1 } }, outputs: {},
    parent: "urn:pulumi:evil::shop::pulumi:pulumi:Stack::shop-evil", sourcePosition: "project:///../../../etc/passwd#1,1" }]);
  mkdirSync(join(state, ".pulumi/locks/organization/shop/evil"), { recursive: true });
  writeFileSync(join(state, `.pulumi/locks/organization/shop/evil/${randomUUID()}.json`), JSON.stringify({ pid: 1, username: hostile, hostname: "elsewhere", timestamp: "2026-01-01T00:00:00Z" }));
  await to("s", "shop", "evil", "resources", urn);
  await page.getByRole("heading", { name: "<img" }).waitFor();
  await page.getByText("by <img").first().waitFor();
  for (const view of ["graph", "history", "live"]) { await to("s", "shop", "evil", view); await page.waitForTimeout(400); }
  await to("search", "onerror");
  await page.getByText("1 resource", { exact: true }).waitFor();
  await to("s", hostile, "<script>", "resources");
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("img, main script, iframe").count(), 0);
  assert.equal(await page.evaluate(() => { try { document.body.innerHTML = "<b>"; return "made"; } catch { return "refused"; } }), "refused");
  assert.deepEqual(requests.filter((to) => !to.startsWith(origin + "/") && !to.startsWith("blob:")), []);
  assert.ok(bodies.every(([, text]) => text.length < (1 << 20)));
  await to("");
  await page.getByRole("heading", { name: /stack/ }).first().waitFor();
  faults.length = 0; // of stacks that do not exist
});

test("hostile names, outputs and messages of a run are text", async () => {
  const evil = JSON.stringify(hostile), said = hostile + "\u202egnp.evil";
  write(`  loud:
    type: command:local:Command
    name: ${evil}
    properties:
      create: 'printf "%s\\033]0;hacked\\007\\n" "$SAID"; printf "%s\\n" "$SAID" >&2'
      environment: {SAID: ${JSON.stringify(said)}}
  failing:
    type: command:local:Command
    properties:
      create: 'printf "%s\\n" "$SAID" >&2; exit 3'
      environment: {SAID: ${evil}}
`);
  const file = join(project, "Pulumi.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^outputs: \{/m, `outputs: {said: "\${loud.stdout}", ${evil}: ${evil}, `));
  run("stack", "init", "loud");
  await to("s", "shop", "loud", "live");
  assert.notEqual(await start("up", "--yes", "--skip-preview", "--stack", "loud", "-m", hostile).end, 0);
  await page.locator(".gantt", { hasText: "<img src=x" }).first().waitFor();
  await page.locator(".log", { hasText: "<img src=x" }).first().waitFor();
  const loud = "urn:pulumi:loud::shop::command:local:Command::" + hostile;
  for (const parts of [["resources"], ["resources", loud], ["graph"], ["history"]]) {
    await to("s", "shop", "loud", ...parts);
    await page.locator("main").waitFor();
    if (parts[0] !== "graph") await page.getByText("<img src=x", { exact: false }).first().waitFor();
    assert.equal(await page.evaluate(() => window.hacked), undefined, parts.join(" "));
    assert.equal(await page.locator("img, main script, iframe").count(), 0, parts.join(" "));
    assert.doesNotMatch(await page.locator("main").innerText(), /[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/, parts.join(" "));
  }
  assert.equal(await page.title(), "shop/loud · yamlhost", "only the page sets its title");
  assert.deepEqual(requests.filter((to) => !to.startsWith(origin + "/") && !to.startsWith("blob:")), []);
});

test("hostile pages: other origins and rebound names get nothing", async () => {
  const token = new URL(url).hash.slice(7);
  const evil = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<p>evil"));
  await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
  const other = await (await context()).newPage();
  await other.goto(`http://127.0.0.1:${evil.address().port}/`);
  const tried = await other.evaluate(async ([origin, token]) => {
    const attempt = (init) => fetch(origin + "/api/overview", init).then((r) => r.text(), () => "refused");
    const frame = document.createElement("iframe");
    frame.src = origin; document.body.append(frame);
    await new Promise((r) => setTimeout(r, 500));
    let framed = "refused";
    try { framed = frame.contentDocument?.querySelector("#app") ? "framed" : "refused"; } catch { /* another origin */ }
    return [await attempt({ headers: { Authorization: "Bearer " + token } }), await attempt({ method: "POST", body: "{}" }), framed];
  }, [origin, token]);
  assert.deepEqual(tried, ["refused", "refused", "refused"]);
  const rebound = await other.goto(origin.replace("127.0.0.1", "rebind.test") + "/");
  assert.equal(rebound.status(), 421);
  assert.ok(!(await other.content()).includes("app.js"));
  await other.context().close();
  evil.close();
});

test("each sign is in the usual fonts, so that none is an empty box", async () => {
  const signs = new Set(readdirSync(join(here, "src")).filter((name) => /\.(tsx|css)$/.test(name))
    .flatMap((name) => [...readFileSync(join(here, "src", name), "utf8")]).filter((c) => c.codePointAt(0) > 0x2100));
  assert.ok(signs.size > 10);
  assert.deepEqual(await page.evaluate((signs) => {
    const drawn = (c) => {
      const to = Object.assign(document.createElement("canvas"), { width: 40, height: 40 }).getContext("2d");
      to.font = "24px system-ui, sans-serif";
      to.fillText(c, 4, 30);
      return to.getImageData(0, 0, 40, 40).data.join();
    };
    return signs.filter((c) => drawn(c) === drawn("\u{10fffd}"));
  }, [...signs]), []);
});

test("small, dark, light", async () => {
  for (const scheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 390, height: 844 });
    for (const [name, ...parts] of [["stacks", ""], ["resources", "s", "shop", "dev", "resources"], ["graph", "s", "shop", "dev", "graph"], ["history", "s", "shop", "dev", "history"], ["run", "s", "shop", "dev", "live"]]) {
      await to(...parts);
      await page.waitForTimeout(700);
      await page.locator("main h1").first().waitFor();
      const wide = await page.evaluate(() => [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), wide.join("\n") + name + " is too wide at 390 pixels");
      if (name === "resources") assert.deepEqual(await cutTypes(), []);
      await accessible(`${name} at 390 pixels, ${scheme}`);
      if (scheme === "dark") await shot("small-" + name);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.deepEqual(faults, []);
});

test("10,000 resources and 2,000 operations", async () => {
  const parent = "urn:pulumi:large::shop::pulumi:pulumi:Stack::shop-large", types = ["aws:ec2/instance:Instance", "aws:s3/bucket:Bucket", "aws:iam/role:Role", "gcp:x:Y", "azure:z:W"];
  const made = [];
  for (let c = 0; c < 100; c++) {
    const comp = `urn:pulumi:large::shop::my:app:Service::service${c}`;
    made.push({ urn: comp, custom: false, type: "my:app:Service", parent });
    for (let i = 0; i < 99; i++) {
      const type = types[i % types.length], before = made.at(-1).urn;
      made.push({ urn: `urn:pulumi:large::shop::my:app:Service$${type}::thing${c}-${i}`, custom: false, type, parent: comp, inputs: { name: `thing${c}-${i}`, region: "eu-west-1", size: i, tags: { owner: "team", cost: "x".repeat(40) } },
        outputs: {}, dependencies: i > 0 && i % 3 === 0 ? [before] : [] });
    }
  }
  imported("large", made);
  const history = join(state, ".pulumi/history/shop/large");
  mkdirSync(history, { recursive: true });
  for (let i = 0; i < 2000; i++)
    writeFileSync(join(history, `large-${1700000000000000000n + BigInt(i) * 60000000000n}.history.json`), JSON.stringify({ kind: "update", startTime: 1700000000 + i * 60, message: "run " + i, environment: { "git.author": "Ann" }, config: {}, version: 0,
      result: i % 50 === 7 ? "failed" : "succeeded", endTime: 1700000000 + i * 60 + 5 + i % 40, resourceChanges: { update: i % 7, same: 9990 } }));
  const memory = () => { const text = readFileSync(`/proc/${server.pid}/status`, "utf8"); return Math.round(Number(/VmRSS:\s+(\d+)/.exec(text)[1]) / 1024); };
  const cpu = () => { const f = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(" "); return (Number(f[13]) + Number(f[14])) * 10; };
  const figures = {}, before = cpu();
  const fresh = await (await context({ viewport: { width: 1280, height: 800 } })).newPage();
  const client = await fresh.context().newCDPSession(fresh);
  await client.send("Performance.enable");
  const metrics = async () => Object.fromEntries((await client.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value]));
  await fresh.goto(url);
  await fresh.getByRole("heading", { name: /stack/ }).first().waitFor();
  const first = await metrics(), cpuFirst = cpu();
  await fresh.goto(origin + "/#/s/shop/large/resources");
  await fresh.locator(".virtual .row", { hasText: "service0" }).first().waitFor();
  const second = await metrics();
  figures.firstViewPage = `${Math.round((second.TaskDuration - first.TaskDuration) * 1000)} ms of work`;
  figures.firstViewServer = `${cpu() - cpuFirst} ms of CPU`;
  assert.match(await fresh.locator(".filters").innerText(), /10,001 rows/);
  assert.ok(await fresh.locator(".virtual .row").count() < 80, "only rows that can be seen exist");
  await fresh.getByRole("treegrid").focus();
  await fresh.keyboard.press("End");
  await fresh.locator(".virtual .row", { hasText: "thing99-98" }).waitFor();
  await fresh.getByLabel("Filter by name or type").fill("thing42-7");
  await until("the filter", async () => /1\d rows/.test(await fresh.locator(".filters").innerText()));
  await fresh.goto(origin + "/#/s/shop/large/history");
  await fresh.locator(".row.tall").first().waitFor();
  const third = await metrics();
  figures.history = `${Math.round((third.TaskDuration - second.TaskDuration) * 1000)} ms of work for the list, the filter and 2,000 operations`;
  await fresh.screenshot({ path: join(captures, "large-history.png") });
  await fresh.goto(origin + "/#/s/shop/large/graph");
  await fresh.getByRole("application").waitFor();
  await fresh.screenshot({ path: join(captures, "large-folded.png") });
  await fresh.getByLabel("fold components").uncheck();
  await fresh.getByLabel("fold types").uncheck();
  await until("all boxes", async () => /10,\d{3} boxes/.test(await fresh.locator(".filters").innerText()));
  await fresh.waitForTimeout(1000);
  const box = await fresh.getByRole("application").boundingBox();
  const pan = async (name) => {
    await fresh.evaluate(() => { performance.clearMeasures(); window.frames2 = 0; const count = () => { window.frames2++; window.counting = requestAnimationFrame(count); }; count(); });
    const began = Date.now();
    await fresh.mouse.move(box.x + 500, box.y + 300);
    await fresh.mouse.down();
    for (let i = 0; i < 60; i++) await fresh.mouse.move(box.x + 500 - i * 5, box.y + 300 + (i % 10) * 4);
    await fresh.mouse.up();
    const spent = (Date.now() - began) / 1000;
    const [frames, times] = await fresh.evaluate(() => { cancelAnimationFrame(window.counting); return [window.frames2, performance.getEntriesByName("graph-frame").map((m) => m.duration).sort((a, b) => a - b)]; });
    figures[name] = `${times.length} pictures, median ${times[times.length >> 1]?.toFixed(1)} ms, worst ${times.at(-1)?.toFixed(1)} ms; ${Math.round(frames / spent)} frames a second`;
  };
  await pan("panning all of 10,000 boxes");
  await fresh.screenshot({ path: join(captures, "large-graph.png") });
  for (let i = 0; i < 12; i++) await fresh.mouse.wheel(0, -200);
  await pan("panning close by");
  figures.pageHeap = `${Math.round((await metrics()).JSHeapUsedSize / 2 ** 20)} MiB`;
  figures.serverMemory = `${memory()} MiB`;
  figures.serverCPU = `${cpu() - before} ms in all`;
  console.log(JSON.stringify(figures, null, 2));
  writeFileSync(join(captures, "figures.json"), JSON.stringify(figures, null, 2) + "\n");
});
