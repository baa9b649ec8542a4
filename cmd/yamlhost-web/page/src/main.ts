import { autocompletion, type CompletionContext } from "@codemirror/autocomplete";
import { yaml } from "@codemirror/lang-yaml";
import { linter, lintGutter, type Diagnostic } from "@codemirror/lint";
import { basicSetup, EditorView } from "codemirror";

interface Finding { from: number; to: number; severity: string; code: string; message: string }
interface Completions { from: number; items: { label: string; insert: string; detail: string }[] }

// Host is what the program puts into the page: each function takes the text and answers with JSON.
type Host = Record<"check" | "graph" | "preview" | "format", (text: string) => Promise<string>> &
  { complete(text: string, at: number): Promise<string> };

declare const Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };
declare global { interface Window { yamlhost?: Host; playground?: EditorView } }

const sample = `name: playground
runtime: yaml
config:
  words: {type: integer, default: 2}
resources:
  pet:
    type: random:RandomPet
    properties:
      length: \${words}
  password:
    type: random:RandomPassword
    properties: {length: 16}
outputs:
  name: \${pet.id}
  shout: \${upper("hello")}
`;

const element = (id: string) => document.getElementById(id)!;
const side = element("side");

async function start(): Promise<Host> {
  const go = new Go();
  const answer = await fetch("yamlhost.wasm.gz");
  const text = answer.body!.pipeThrough(new DecompressionStream("gzip"));
  const code = await new Response(text, { headers: { "Content-Type": "application/wasm" } }).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(code, go.importObject);
  void go.run(instance);
  return window.yamlhost!;
}

// The program stands in the fragment of the link, which browsers do not send to servers.
async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(fragment: string): Promise<string> {
  const bytes = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

async function main(): Promise<void> {
  let text = sample;
  if (location.hash.length > 1) {
    try {
      text = await unpacked(location.hash.slice(1));
    } catch {
      element("status").textContent = "the link holds no program";
    }
  }
  const host = await start();
  let shown = "findings";

  const showFindings = (list: Finding[]) => {
    const items = list.map((f) => {
      const button = document.createElement("button");
      button.className = f.severity;
      button.textContent = `${f.code}: ${f.message}`;
      button.onclick = () => view.dispatch({ selection: { anchor: f.from, head: f.to }, scrollIntoView: true });
      const item = document.createElement("li");
      item.append(button);
      return item;
    });
    const all = document.createElement("ul");
    all.append(...items);
    side.replaceChildren(list.length > 0 ? all : "Nothing is wrong.");
  };

  const show = async () => {
    const program = view.state.doc.toString();
    const wanted = shown;
    const pre = document.createElement("pre");
    try {
      if (shown === "findings") {
        showFindings(JSON.parse(await host.check(program)));
        return;
      }
      const answer: string = JSON.parse(await (shown === "graph" ? host.graph : host.preview)(program));
      if (wanted !== shown) {
        return; // something else was asked for meanwhile
      }
      if (shown === "graph") {
        const picture = new DOMParser().parseFromString(answer, "image/svg+xml");
        side.replaceChildren(document.importNode(picture.documentElement, true));
        return;
      }
      pre.textContent = answer;
    } catch (error) {
      pre.textContent = error instanceof Error ? error.message : String(error);
    }
    side.replaceChildren(pre);
  };

  const lint = linter(async (v): Promise<Diagnostic[]> => {
    const found: Finding[] = JSON.parse(await host.check(v.state.doc.toString()));
    element("status").textContent = found.length === 0 ? "no findings" : `${found.length} finding${found.length > 1 ? "s" : ""}`;
    void show();
    void packed(v.state.doc.toString()).then((fragment) => history.replaceState(null, "", `#${fragment}`));
    const end = v.state.doc.length;
    return found.map((f) => ({
      from: Math.min(f.from, end), to: Math.min(f.to, end), severity: f.severity === "error" || f.severity === "warning" ? f.severity : "info",
      source: f.code, message: f.message,
    }));
  }, { delay: 150 });

  const complete = async (context: CompletionContext) => {
    const found: Completions = JSON.parse(await host.complete(context.state.doc.toString(), context.pos));
    if (!context.explicit && found.from === context.pos && !context.matchBefore(/[.:{]/)) {
      return null;
    }
    return { from: found.from, options: found.items.map((i) => ({ label: i.label, apply: i.insert, detail: i.detail })) };
  };

  const view = new EditorView({
    doc: text, parent: element("editor"),
    extensions: [basicSetup, yaml(), lint, lintGutter(), autocompletion({ override: [complete] })],
  });
  window.playground = view;

  for (const name of ["findings", "graph", "preview"]) {
    element(name).onclick = () => {
      shown = name;
      for (const other of ["findings", "graph", "preview"]) {
        element(other).setAttribute("aria-selected", String(other === name));
      }
      void show();
    };
  }
  element("format").onclick = async () => {
    const formatted: string = JSON.parse(await host.format(view.state.doc.toString()));
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: formatted } });
  };
  element("share").onclick = async () => {
    location.hash = await packed(view.state.doc.toString());
    await navigator.clipboard.writeText(location.href);
  };
}

main().catch((error: unknown) => {
  element("status").textContent = `it does not start: ${error instanceof Error ? error.message : error}`;
});
