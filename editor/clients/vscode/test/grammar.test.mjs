// Colours a program by the grammars of the extension, over those of YAML and JSON that the editor brings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { here } from "./sample.mjs";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const files = {
  "source.yamlhost": join(here, "../syntaxes/yamlhost.tmLanguage.json"),
  "source.yamlhost.json": join(here, "../syntaxes/yamlhost-json.tmLanguage.json"),
};

async function colours(scope, text) {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer).catch(() => {});
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns), createOnigString: (s) => new oniguruma.OnigString(s),
    }),
    loadGrammar: async (name) => {
      const path = files[name] ?? join(here, "../node_modules/tm-grammars/grammars", `${name.replace("source.", "")}.json`);
      try {
        return textmate.parseRawGrammar(readFileSync(path, "utf8"), path);
      } catch {
        return null;
      }
    },
  });
  const grammar = await registry.loadGrammar(scope);
  const found = [];
  let stack = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const token of result.tokens) {
      found.push({ text: line.slice(token.startIndex, token.endIndex), scopes: token.scopes });
    }
  }
  return (word) => {
    const token = found.find((f) => f.text.trim() === word);
    assert.ok(token, `${word} is no token of ${JSON.stringify(found.map((f) => f.text))}`);
    return token.scopes.join(" ");
  };
}

for (const [kind, line] of Object.entries({
  plain: "a: x ${pet.id} y", double: 'a: "x ${pet.id} y"', single: "a: 'x ${pet.id} y'", block: "a: |\n  x ${pet.id} y", flow: "a: {b: \"${pet.id}\"}",
})) {
  test(`an expression in a ${kind} scalar`, async () => {
    const scopes = await colours("source.yamlhost", line);
    assert.match(scopes("${"), /template-expression\.begin/);
    assert.match(scopes("pet"), /variable\.other\.readwrite/);
    assert.match(scopes("id"), /variable\.other\.property/);
    assert.match(scopes("}"), /template-expression\.end/);
  });
}

test("functions, texts inside of expressions, what is escaped, comments", async () => {
  const scopes = await colours("source.yamlhost", 'a:\n  fn::join: [x]\nb: ${upper("q ${name} r") + 1}\nc: $${no}\n# ${not}\nd: ${pulumi.stack}');
  assert.match(scopes("fn::"), /keyword\.other\.function/);
  assert.match(scopes("join"), /support\.function/);
  assert.match(scopes("upper"), /support\.function/);
  assert.match(scopes("name"), /string\.quoted\.double\.yamlhost .*variable\.other\.readwrite/);
  assert.match(scopes("+"), /keyword\.operator/);
  assert.match(scopes("pulumi"), /variable\.language/);
  assert.match(scopes("$$"), /constant\.character\.escape/);
  assert.doesNotMatch(scopes("${not}"), /template-expression/);
});

test("JSON", async () => {
  const scopes = await colours("source.yamlhost.json", '{"a": "x ${pet[\\"k\\"].id}", "fn::upper": "b"}');
  assert.match(scopes("pet"), /variable\.other\.readwrite/);
  assert.match(scopes("fn::"), /keyword\.other\.function/);
});
