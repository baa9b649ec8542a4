// What the console and reports show alike: marks of operations, and why something changed.
import { type Because } from "./api";

// Signs say in a letter what colours say too.
const signs: Record<string, string> = {
  create: "+", added: "+", update: "~", changed: "~", delete: "−", removed: "−", replace: "±", "create-replacement": "±",
  "delete-replaced": "−", same: "=", read: "?", refresh: "↻", import: "⇒", succeeded: "✓", failed: "✗", fail: "✗",
  interrupted: "!", skipped: "»", other: "•", running: "▶", protected: "◆", error: "✗", warning: "!", mandatory: "✗", advisory: "!",
};
const tones: Record<string, string> = {
  create: "good", added: "good", succeeded: "good", update: "warm", changed: "warm", replace: "warm", warning: "warm", advisory: "warm",
  "create-replacement": "warm", delete: "bad", removed: "bad", "delete-replaced": "bad", failed: "bad", fail: "bad", error: "bad",
  mandatory: "bad", interrupted: "warm", skipped: "warm", import: "info", read: "info", running: "info", locked: "info",
};
export const toneOf = (word: string) => tones[word] ?? "plain";

// done has the words of summaries for what operations did.
export const done: Record<string, string> = {
  create: "created", update: "updated", delete: "deleted", replace: "replaced", same: "unchanged", import: "imported",
  refresh: "refreshed", "create-replacement": "created replacement", "delete-replaced": "deleted original",
};

// inOrder returns counts by operation in the order of summaries.
export function inOrder(changes: Record<string, number> = {}): [string, number][] {
  const order = ["create", "import", "update", "replace", "delete"], place = (op: string) => order.indexOf(op) < 0 ? order.length : order.indexOf(op);
  return Object.entries(changes).sort(([a], [b]) => place(a) - place(b));
}

// padlock is drawn, as few fonts have a sign for it.
const padlock = <svg viewBox="0 0 10 12"><path fill="none" stroke="currentColor" stroke-width="1.6" d="M2.5 6V3.8a2.5 2.5 0 0 1 5 0V6" /><rect x="1" y="5.5" width="8" height="6" rx="1.2" fill="currentColor" /></svg>;

// Type shows a type, in a narrow column without the package and the module.
export function Type({ of }: { of: string }) {
  const at = of.lastIndexOf(":") + 1;
  return <span class="type dim" title={of}>{at > 0 && <span class="package">{of.slice(0, at)}</span>}{of.slice(at)}</span>;
}

export function Mark({ word, text }: { word: string; text?: string }) {
  return <span class={"mark " + toneOf(word)}><b aria-hidden="true">{word === "locked" ? padlock : signs[word] ?? "•"}</b> {text ?? word}</span>;
}

// Why shows chains of causes, root first: places and what happens there.
export function Why({ chains }: { chains?: Because[][] }) {
  if (!chains || chains.length === 0) return null;
  return <div class="why"><span class="dim">because</span>{chains.map((chain, i) => <ol key={i}>{chain.map((l, k) =>
    <li key={k}>{l.place && <code>{l.place.file}:{l.place.line}</code>} {l.text}</li>)}</ol>)}</div>;
}
