// Makes the page: one script, one style sheet and one document, packed, and the digests of what they are made of.
// A folder as argument takes them instead of dist.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
const made = await build({
  entryPoints: ["app.tsx", "app.css", "report.tsx"].map((name) => join(here, "src", name)), outdir: out, write: false, bundle: true, minify: true,
  format: "iife", target: "es2022", jsx: "automatic", jsxImportSource: "preact", legalComments: "none",
});
mkdirSync(out, { recursive: true });
const files = new Map(made.outputFiles.map((f) => [f.path.split(/[\\/]/).pop(), f.contents]));
for (const name of ["index.html", "icon.svg"]) files.set(name, readFileSync(join(here, "src", name)));
// The page of reports has script and style sheet inside.
const script = Buffer.from(files.get("report.js")).toString("utf8").trim(), style = Buffer.from(files.get("app.css")).toString("utf8").trim();
files.delete("report.js");
const parts = { style, script, digest: "sha256-" + createHash("sha256").update(script).digest("base64") };
files.set("report.html", Buffer.from(readFileSync(join(here, "src/report.html"), "utf8").replace(/\{\{(style|script|digest)\}\}/g, (_, name) => parts[name])));
for (const [name, content] of files) writeFileSync(join(out, name + ".gz"), gzipSync(content, { level: 9 }));
const sources = [...readdirSync(join(here, "src")).sort().map((name) => "src/" + name), "build.mjs", "package-lock.json"];
const digest = (name) => createHash("sha256").update(readFileSync(join(here, name))).digest("hex");
writeFileSync(join(out, "sources.txt"), sources.map((name) => `${digest(name)}  ${name}\n`).join(""));
for (const [name, content] of files) console.log(`${name}: ${content.length} bytes, ${gzipSync(content, { level: 9 }).length} packed`);
