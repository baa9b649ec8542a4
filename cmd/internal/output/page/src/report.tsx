// The report of one command as a page with its data inside: rows that open, and the drawing. What needs no script is in
// the document already.
import { render } from "preact";
import { useMemo, useState } from "preact/hooks";
import "./visible";
import { type Because } from "./api";
import { Mark, Type, Why } from "./marks";

// Resource is a resource in the order of the tree; members are short because there may be thousands.
interface Resource {
  n: string; t: number; w: string; o: string; d?: number; h?: boolean; c?: string[]; y?: Because[][]; k?: string; p?: string;
}
interface Data { types: string[]; resources: Resource[] }

const data = JSON.parse(document.getElementById("data")!.textContent!) as Data;
const order = ["failed", "skipped", "replace", "delete", "update", "create", "import", "read", "other", "same"];
const quiet = new Set(["same", "read"]), eager = new Set(["failed", "replace", "delete"]);
const page = 1000; // rows that are made at once

const tone: Record<string, string> = { "+": "good", "-": "bad", "~": "warm" };

function Detail({ r }: { r: Resource }) {
  return <div class="opened">
    {r.p && <p class="dim">{r.p}</p>}
    {r.c && <pre tabIndex={0} aria-label={"Changes of " + r.n}>{r.c.map((line, i) => <div key={i} class={tone[line.trimStart()[0] ?? ""]}>{line}</div>)}</pre>}
    <Why chains={r.y} />
  </div>;
}

function Row({ r }: { r: Resource }) {
  const opens = Boolean(r.c ?? r.y ?? r.p);
  const cells = <>
    <span class="name" style={{ paddingLeft: (r.d ?? 0) * 16 }}><span class="fold" aria-hidden="true" />{r.h ? <b>{r.n}</b> : r.n}</span>
    <Type of={data.types[r.t]!} />
    <span class="state"><Mark word={r.o} text={r.w} /></span>
    <span class="took dim">{r.k}</span>
  </>;
  if (!opens) return <li class="row still">{cells}</li>;
  return <li><details open={eager.has(r.o)}><summary class="row">{cells}</summary><Detail r={r} /></details></li>;
}

function Rows() {
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const r of data.resources) found.set(r.o, (found.get(r.o) ?? 0) + 1);
    return found;
  }, []);
  const kinds = order.filter((o) => counts.has(o));
  const [active, setActive] = useState(() => new Set(kinds.some((o) => !quiet.has(o)) ? kinds.filter((o) => !quiet.has(o)) : kinds));
  const [words, setWords] = useState(""), [most, setMost] = useState(page);
  const shown = useMemo(() => {
    const asked = words.toLowerCase().split(/\s+/).filter(Boolean), keep = new Set<number>(), path: number[] = [];
    data.resources.forEach((r, i) => { // a resource brings the headings above it
      path.length = r.d ?? 0;
      path[r.d ?? 0] = i;
      const text = [r.n, data.types[r.t], r.w, ...r.c ?? []].join(" ").toLowerCase();
      if (active.has(r.o) && asked.every((w) => text.includes(w))) for (const p of path) if (p !== undefined) keep.add(p);
    });
    return [...keep].sort((a, b) => a - b);
  }, [active, words]);
  const toggle = (o: string) => { const next = new Set(active); if (!next.delete(o)) next.add(o); setActive(next); };
  return <>
    <div class="filters">
      <input type="search" aria-label="Filter by name, type or property" placeholder="Name, type or property" onInput={(e) => setWords(e.currentTarget.value)} />
      {kinds.map((o) => <button key={o} class="kind" aria-pressed={active.has(o)} onClick={() => toggle(o)}><Mark word={o} text={`${counts.get(o)!.toLocaleString("en")} ${o === "same" ? "unchanged" : o}`} /></button>)}
      <span role="status" class="dim">{shown.length.toLocaleString("en")} of {data.resources.length.toLocaleString("en")}</span>
    </div>
    <ul class="tree" aria-label="Resources">{shown.slice(0, most).map((i) => <Row key={i} r={data.resources[i]!} />)}</ul>
    {shown.length > most && <p><button onClick={() => setMost(most + page)}>Show {Math.min(page, shown.length - most).toLocaleString("en")} more</button></p>}
  </>;
}

const rows = document.getElementById("rows");
if (rows) render(<Rows />, rows);

// The drawing has a style sheet of its own.
const drawing = document.getElementById("drawing"), drawn = document.getElementById("drawn") as HTMLTemplateElement | null;
if (drawing && drawn) {
  const fit = document.createElement("style");
  fit.textContent = "svg { max-width: 100%; height: auto; display: block; }";
  drawing.attachShadow({ mode: "open" }).append(drawn.content, fit);
}
