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
  entryPoints: [join(here, "src/app.tsx"), join(here, "src/app.css")], outdir: out, write: false, bundle: true, minify: true,
  format: "iife", target: "es2022", jsx: "automatic", jsxImportSource: "preact", legalComments: "none",
});
mkdirSync(out, { recursive: true });
const files = new Map(made.outputFiles.map((f) => [f.path.split(/[\\/]/).pop(), f.contents]));
for (const name of ["index.html", "icon.svg"]) files.set(name, readFileSync(join(here, "src", name)));
for (const [name, content] of files) writeFileSync(join(out, name + ".gz"), gzipSync(content, { level: 9 }));
const sources = [...readdirSync(join(here, "src")).sort().map((name) => "src/" + name), "build.mjs", "package-lock.json"];
const digest = (name) => createHash("sha256").update(readFileSync(join(here, name))).digest("hex");
writeFileSync(join(out, "sources.txt"), sources.map((name) => `${digest(name)}  ${name}\n`).join(""));
for (const [name, content] of files) console.log(`${name}: ${content.length} bytes, ${gzipSync(content, { level: 9 }).length} packed`);
