// Makes the pages of the site out of the repository's own: nothing is written twice. The pages lie in docs/site/pages while
// the site is built, and are made anew each time.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const pages = join(root, "docs", "site", "pages");

/** Where each page of the repository stands on the site, by its path in the repository. */
const places = new Map<string, string>();

/** Where files of the repository that are no pages can be read. */
const source = "https://github.com/yamlhost/yamlhost/blob/main/";

/** Files of a folder and below, as paths of the repository with slashes. */
function below(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((e) => e.name !== "node_modules" && !e.name.startsWith("."))
    .flatMap((e) => (e.isDirectory() ? below(posix.join(folder, e.name)) : [posix.join(folder, e.name)]))
    .sort();
}

/** The name of a language for the colours of a block of code. */
const languages: Record<string, string> = { ".yaml": "yaml", ".json": "json", ".ts": "ts", ".py": "python", ".js": "js" };

/** The playground, when it has been built; it becomes a part of the site. */
export const playground = join(root, "bin", "playground");

/** A link to the playground that carries a program in its fragment. */
function tryIt(program: string): string {
  const fragment = deflateRawSync(program).toString("base64url");
  return `<a href="/playground/index.html#${fragment}" target="_self">Try it in the playground</a>`;
}

/** An example as a page: the comment at the head of its program, and each of its files. */
function examplePage(name: string, files: string[]): string {
  const shown = files.filter((f) => extname(f) in languages && !/\/Pulumi\..+\.yaml$/.test(f) && !f.includes("/objects/") && !f.endsWith(".test.yaml"));
  const parts = [`# Example: ${name}`, ""];
  for (const file of shown) {
    parts.push(`## ${file.slice(`examples/${name}/`.length)}`, "", "```" + languages[extname(file)]);
    const text = readFileSync(join(root, file), "utf8");
    parts.push(text.trimEnd(), "```", "");
    if (shown.length === 1 && existsSync(join(playground, "index.html"))) parts.push(tryIt(text), "");
  }
  return parts.join("\n");
}

/** Makes plain what a line says outside of code: only anchors are HTML, and nothing is an expression of the framework. */
function plain(line: string): string {
  return line
    .split(/(`+[^`]*`+)/)
    .map((part) => (part.startsWith("`") ? part : part.replace(/<(?!a (?:id|href)="|\/a>|https?:)/g, "&lt;").replaceAll("{{", "&#123;&#123;")))
    .join("");
}

/** Rewrites the links of a page so that they lead to pages of the site. */
function relink(text: string, from: string, place: string): string {
  const target = (link: string): string => {
    if (/^[a-z]+:|^#/.test(link)) return link;
    const [path, anchor] = link.split("#");
    let at = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, "");
    if (existsSync(join(root, at)) && statSync(join(root, at)).isDirectory() && places.has(`${at}/README.md`)) at += "/README.md";
    const example = /^examples\/([^/]+)\//.exec(at);
    if (example && !places.has(at)) at = `examples/${example[1]}`;
    const page = places.get(at);
    if (page === undefined) {
      if (!existsSync(join(root, at))) throw new Error(`${from} links to ${link}, which is not there`);
      return source + at;
    }
    return (posix.relative(posix.dirname(place), page) || posix.basename(page)) + (anchor ? `#${anchor}` : "");
  };
  let fenced = false;
  return text
    .split("\n")
    .map((line) => {
      if (line.trimStart().startsWith("```")) fenced = !fenced;
      return fenced || line.startsWith("    ") ? line : plain(line).replace(/\]\(([^()\s]+)\)/g, (_, link) => `](${target(link)})`);
    })
    .join("\n");
}

/** The first heading of a page. */
export function titleOf(text: string): string {
  return (/^# +(.*)$/m.exec(text)?.[1] ?? "").replaceAll("`", "");
}

export interface Page {
  place: string;
  title: string;
}

/** Writes all pages and returns them, in the order of their places. */
export function make(): Page[] {
  const texts = new Map<string, string>();
  const take = (path: string, place: string) => {
    places.set(path, place);
    texts.set(path, readFileSync(join(root, path), "utf8"));
  };
  take("README.md", "index.md");
  for (const name of ["CHANGELOG", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT"]) take(`${name}.md`, `${name.toLowerCase()}.md`);
  for (const path of below("docs").filter((p) => !p.startsWith("docs/site/"))) {
    if (path.endsWith(".md")) take(path, path.slice("docs/".length).replace(/^README\.md$/, "contents.md"));
  }
  take("examples/README.md", "examples/index.md");
  for (const path of below("internal/diag/explain")) take(path, `codes/${posix.basename(path)}`);
  const examples = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((e) => e.isDirectory() && e.name !== "ci");
  for (const { name } of examples) {
    places.set(`examples/${name}`, `examples/${name}.md`);
    texts.set(`examples/${name}`, examplePage(name, below(`examples/${name}`)));
  }
  const codes = [...texts].filter(([path]) => path.startsWith("internal/diag/explain/"));
  places.set("codes", "codes/index.md");
  texts.set("codes", ["# Findings by code", "", "`yamlhost explain CODE` shows the same pages.", "", "| Code | What it says |", "|---|---|"]
    .concat(codes.map(([path, text]) => {
      const code = posix.basename(path, ".md");
      return `| [${code}](internal/diag/explain/${code}.md) | ${titleOf(text).replace(/^Y\d+: /, "")} |`;
    })).join("\n"));

  rmSync(pages, { recursive: true, force: true });
  const made: Page[] = [];
  for (const [path, text] of texts) {
    const place = places.get(path)!;
    const file = join(pages, place);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, relink(text, path, place));
    made.push({ place: relative(pages, file).replaceAll("\\", "/"), title: titleOf(text) });
  }
  return made.sort((a, b) => (a.place < b.place ? -1 : 1));
}
