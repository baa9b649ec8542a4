// What the console and reports show alike: marks of operations, and why something changed.
import { type Because } from "./api";

// Signs say in a letter what colours say too.
const signs: Record<string, string> = {
  create: "+", added: "+", update: "~", changed: "~", delete: "−", removed: "−", replace: "±", "create-replacement": "±",
  "delete-replaced": "−", same: "=", read: "?", refresh: "↻", import: "⇒", succeeded: "✓", failed: "✗", fail: "✗",
  canceled: "✗", skipped: "»", other: "•", running: "▶", locked: "⚿", protected: "◆", error: "✗", warning: "!", mandatory: "✗", advisory: "!",
};
const tones: Record<string, string> = {
  create: "good", added: "good", succeeded: "good", update: "warm", changed: "warm", replace: "warm", warning: "warm", advisory: "warm",
  "create-replacement": "warm", delete: "bad", removed: "bad", "delete-replaced": "bad", failed: "bad", fail: "bad", error: "bad",
  mandatory: "bad", canceled: "bad", skipped: "warm", import: "info", read: "info", running: "info", locked: "info",
};
// done has the words of summaries for what operations did.
export const done: Record<string, string> = {
  create: "created", update: "updated", delete: "deleted", replace: "replaced", same: "unchanged", import: "imported",
  refresh: "refreshed", "create-replacement": "created replacement", "delete-replaced": "deleted original",
};

export function Mark({ word, text }: { word: string; text?: string }) {
  const tone = tones[word] ?? (text === undefined ? "plain" : "plain");
  return <span class={"mark " + tone}><b aria-hidden="true">{signs[word] ?? "•"}</b> {text ?? word}</span>;
}

// Why shows chains of causes, root first: places and what happens there.
export function Why({ chains }: { chains?: Because[][] }) {
  if (!chains || chains.length === 0) return null;
  return <div class="why"><span class="dim">because</span>{chains.map((chain, i) => <ol key={i}>{chain.map((l, k) =>
    <li key={k}>{l.place && <code>{l.place.file}:{l.place.line}</code>} {l.text}</li>)}</ol>)}</div>;
}
