// A project in a folder of its own, and the program that the tests start.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
export const binary = resolve(process.env.YAMLHOST_BINARY ?? join(here, "../../../../bin/yamlhost"));

export const text = `name: sample
runtime: yaml
config:
  size: {type: integer, default: 2}
variables:
  twice: \${size * 2}
resources:
  pet:
    type: random:RandomPet
    properties:
      length: \${twice}
  next:
    type: random:RandomPet
    properties:
      prefix: \${pet.id}
outputs:
  name: \${next.id}
  joined:
    fn::join: ["-", [a, b]]
`;

export function project(t, program = text) {
  const folder = mkdtempSync(join(tmpdir(), "yamlhost-editor-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["project", "home", "state"]) {
    mkdirSync(join(folder, name));
  }
  const path = join(folder, "project", "Pulumi.yaml");
  writeFileSync(path, text);
  const env = {
    PATH: process.env.PATH, HOME: join(folder, "home"), PULUMI_HOME: join(folder, "home", ".pulumi"),
    PULUMI_BACKEND_URL: pathToFileURL(join(folder, "state")).href, PULUMI_CONFIG_PASSPHRASE: "test",
  };
  execFileSync(binary, ["stack", "init", "dev"], { cwd: join(folder, "project"), env, stdio: "pipe" });
  writeFileSync(path, program);
  return { folder: join(folder, "project"), path, uri: pathToFileURL(path).href, env };
}

// position is where the nth occurrence of a word begins, moved by some columns.
export function position(program, word, { nth = 0, by = 0 } = {}) {
  let at = -1;
  for (let i = 0; i <= nth; i++) {
    at = program.indexOf(word, at + 1);
    if (at < 0) {
      throw new Error(`${word} is not in the program`);
    }
  }
  const before = program.slice(0, at).split("\n");
  return { line: before.length - 1, character: before[before.length - 1].length + by };
}

// applied is a text with edits made.
export function applied(program, edits) {
  const starts = [0];
  for (let i = 0; i < program.length; i++) {
    if (program[i] === "\n") {
      starts.push(i + 1);
    }
  }
  const offset = ({ line, character }) => starts[line] + character;
  const sorted = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  return sorted.reduce((s, e) => s.slice(0, offset(e.range.start)) + e.newText + s.slice(offset(e.range.end)), program);
}

// show keeps what a client showed, where somebody wants it.
export function show(text) {
  if (process.env.YAMLHOST_CAPTURE) {
    appendFileSync(process.env.YAMLHOST_CAPTURE, text + "\n");
  }
}

// at is a place as people write it.
export const placed = (range) => `${range.start.line + 1}:${range.start.character + 1}`;
