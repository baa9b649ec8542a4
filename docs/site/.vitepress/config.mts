import { existsSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { make, pages, playground, root } from "./pages";

const all = make();
const titles = new Map(all.map((p) => [p.place, p.title]));

const public_ = join(pages, "public");
mkdirSync(public_, { recursive: true });
if (existsSync(join(playground, "index.html"))) cpSync(playground, join(public_, "playground"), { recursive: true, filter: (f) => !f.endsWith(".png") });

const item = (place: string, text?: string) => {
  const title = titles.get(`${place}.md`);
  if (title === undefined) throw new Error(`the site has no page ${place}`);
  return { text: text ?? title, link: `/${place}` };
};
const group = (text: string, items: { text: string; link: string }[], collapsed = false) => ({ text, items, collapsed });
const below = (folder: string) =>
  all.filter((p) => p.place.startsWith(`${folder}/`) && !p.place.endsWith("index.md")).map((p) => item(p.place.replace(/\.md$/, "")));

const guides = ["new", "checking", "editor", "operations", "ci", "secrets", "security", "state", "migrate", "releases"];
const beside = ["dynamic", "transforms", "bundles"];
const inside = ["architecture", "planning", "values", "conformance", "design/decisions", "design/house", "design/journal"];
const known = new Set([
  ...guides, ...beside, ...inside, "index", "tutorial", "contents", "language", "functions", "embedded", "language-host", "glossary",
  "changelog", "contributing", "security", "code_of_conduct",
]);
// A page that nobody put anywhere is a reference.
const others = all.map((p) => p.place.replace(/\.md$/, "")).filter((p) => !p.includes("/") && !known.has(p));

export default defineConfig({
  title: "yamlhost",
  description: "One static binary that checks, plans and applies Pulumi YAML programs",
  srcDir: "pages",
  outDir: join(root, "bin", "site"),
  cacheDir: join(root, "bin", "site-cache"),
  cleanUrls: false,
  lastUpdated: false,
  ignoreDeadLinks: [/^\/playground\//],
  markdown: {
    languageAlias: { check: "yaml" },
    config(md) {
      // Two braces in a page are two braces, and not an expression of Vue.
      for (const rule of ["text", "code_inline"] as const) {
        const plain = md.renderer.rules[rule]!;
        md.renderer.rules[rule] = (...given) => plain(...given).replaceAll("{{", "&#123;&#123;");
      }
      // The first word of a fence is its language; the others tell the tests what to do with it. An indented block is
      // one as well.
      md.core.ruler.push("first-word", (state) => {
        for (const token of state.tokens) {
          if (token.type === "code_block") {
            token.type = "fence";
            token.tag = "code";
            token.markup = "```";
            token.info = "text";
          }
          if (token.type === "fence") {
            const [word] = token.info.trim().split(/\s+/);
            token.info = ["findings", "outputs", "config", "requests"].includes(word) ? "text" : word;
          }
        }
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Tutorial", link: "/tutorial" },
      { text: "Language", link: "/language" },
      { text: "Findings", link: "/codes/" },
      ...(existsSync(join(playground, "index.html")) ? [{ text: "Playground", link: "/playground/index.html", target: "_self" }] : []),
    ],
    sidebar: [
      group("Start", [item("index", "What it is"), item("tutorial", "Tutorial"), { text: "Examples", link: "/examples/" }]),
      group("How do I …", guides.map((p) => item(p))),
      group("The language", [item("language"), item("functions"), item("embedded"), ...beside.map((p) => item(p))]),
      group("Reference", [{ text: "Findings by code", link: "/codes/" }, ...others.map((p) => item(p)), item("language-host"), item("glossary"), item("changelog")]),
      group("Examples", below("examples"), true),
      group("Codes", below("codes"), true),
      group("Working on yamlhost", [item("contributing"), ...inside.map((p) => item(p)), ...below("spec")], true),
    ],
    footer: { message: "Apache License 2.0" },
  },
});
