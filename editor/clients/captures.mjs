// Puts what the clients showed into docs/editor.md: each capture of bin/editor between the lines that name it. Run it after
// test.sh and the test of the playground.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = root + "docs/editor.md";
const noise = /^(\[eglot\]|\[jsonrpc\]|Loading |Created stack|Wrote |\(No changes)/;

writeFileSync(page, readFileSync(page, "utf8").replace(
  /(<!-- capture (\w+) -->\n)[^]*?(<!-- end of capture -->)/g,
  (_, start, name, end) => {
    const lines = readFileSync(`${root}bin/editor/${name}.txt`, "utf8").split("\n").filter((line) => !noise.test(line));
    const shown = lines.join("\n").trim().split("\n").map((line) => (line.trim() ? "    " + line.trimEnd() : "")).join("\n");
    return `${start}\n${shown}\n\n${end}`;
  }));
