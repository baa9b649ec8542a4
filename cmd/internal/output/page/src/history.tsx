// The history of a stack: its operations, how long they took, what policies found, and the difference between any two
// states.
import { useMemo, useState } from "preact/hooks";
import { type Operation, type Run, type StateDiff, get } from "./api";
import { done, inOrder, toneOf } from "./marks";
import { Changes, Counts, Fault, Mark, Urn, Virtual, count, lasted, moment, rowID, useAsk, useRevision } from "./parts";
import { took } from "./took";

const label = "Operations";

export function HistoryView({ stack }: { stack: string }) {
  const asked = useAsk(() => get<Operation[]>("history", { stack }), "history " + stack);
  const runs = useAsk(() => get<{ runs: Run[] }>("runs", { stack }), "runs " + stack);
  useRevision(stack, undefined, asked.again);
  const [active, setActive] = useState(-1), [from, setFrom] = useState<string>(), [to, setTo] = useState<string>();
  const list = asked.data;
  if (!list) return asked.fault ? <Fault text={asked.fault} /> : <p class="dim">Reading the history…</p>;
  if (list.length === 0) return <p>No operation has ended yet.</p>;
  const choose = (i: number) => { setActive(i); setTo(list[i]!.stamp); setFrom(list[i + 1]?.stamp); };
  const at = (stamp?: string) => list.find((o) => o.stamp === stamp);
  return <>
    <Durations list={list} />
    <Policies runs={runs.data?.runs ?? []} />
    <p><button onClick={() => void download(stack, list)}>Export as HTML</button> <span class="dim">Choose an operation to see what it has changed, or two states with From and To.</span></p>
    <div class={to ? "split detailed" : "split"}>
      <section class="list" aria-label="List of operations">
        <Virtual count={list.length} height={44} label={label} role="treegrid" active={active} onActive={setActive}
          onKey={(k, i) => (k === "Enter" || k === " ") && (choose(i), true)} row={(i) => {
            const o = list[i]!;
            return <div key={o.stamp} id={rowID(label, i)} role="row" aria-rowindex={i + 1} class={"row tall" + (i === active ? " active" : "")} onClick={() => choose(i)}>
              <span role="gridcell" class="name"><Mark word={o.result} text={o.kind} /> <span class="dim">{moment(o.start).slice(0, -4)}<span class="zone"> UTC</span> · {lasted(o)}{o.who && " · " + o.who}</span><br />
                <span class="cut"><Counts changes={o.changes} /> <span class="dim">{o.message}</span></span></span>
              <span role="gridcell" class="pick"><button tabIndex={-1} class="small" aria-pressed={from === o.stamp} onClick={(e) => { e.stopPropagation(); setFrom(o.stamp); setTo(to ?? "0"); }}>From</button>
                <button tabIndex={-1} class="small" aria-pressed={to === o.stamp} onClick={(e) => { e.stopPropagation(); setTo(o.stamp); }}>To</button></span>
            </div>;
          }} />
      </section>
      {to && (from ? <Diff stack={stack} from={from} to={to} title={`${from === "0" ? "now" : moment(at(from)?.end ?? 0)} → ${to === "0" ? "now" : moment(at(to)?.end ?? 0)}`} /> :
        <section class="detail" aria-label="Difference"><p>This is the first operation: everything in it is new. Choose From for another comparison.</p></section>)}
    </div>
  </>;
}

function Diff({ stack, from, to, title }: { stack: string; from: string; to: string; title: string }) {
  const asked = useAsk(() => get<StateDiff>("diff", { stack, from, to }), `diff ${stack} ${from} ${to}`);
  const d = asked.data;
  return <section class="detail" aria-label="Difference">
    <h2>{title}</h2>
    <Fault text={asked.fault} />
    {d && <><p role="status">{count(d.resources.length + (d.left ?? 0), "resource")} differ, {d.same} are the same.{d.left ? ` The first ${d.resources.length} are shown.` : ""}</p>
      <ul class="past">{d.resources.map((r) => <li key={r.urn}><Mark word={r.what} /> <Urn stack={stack} urn={r.urn} /><Changes list={r.changes} /></li>)}</ul></>}
  </section>;
}

const span = (o: Operation) => o.took || (o.end - o.start) * 1000;

// bars draws a bar for each operation, in one path for each colour: there may be thousands.
function bars(list: Operation[]) {
  const shown = list.slice(0, 2000).reverse();
  const longest = Math.max(1, ...shown.map((o) => span(o)));
  const step = 1000 / Math.max(shown.length, 20), paths = { good: "", warm: "", bad: "" };
  shown.forEach((o, i) => {
    const h = Math.max(1.5, span(o) / longest * 76);
    paths[o.result === "succeeded" ? "good" : o.result === "interrupted" ? "warm" : "bad"] += `M${(i * step).toFixed(2)} 80v${-h.toFixed(2)}h${(step * 0.8).toFixed(2)}v${h.toFixed(2)}z`;
  });
  const ended = (word: string) => shown.filter((o) => o.result === word).length, cut = ended("interrupted");
  return { ...paths, longest, title: `How long ${count(shown.length, "operation")} took: at most ${took(longest)}; ${ended("failed")} failed${cut ? `, ${cut} interrupted` : ""}` };
}

function Durations({ list }: { list: Operation[] }) {
  const chart = useMemo(() => bars(list), [list]);
  return <figure><svg viewBox="0 0 1000 84" preserveAspectRatio="none" role="img" aria-label={chart.title}>
    <path class="good" d={chart.good} /><path class="warm" d={chart.warm} /><path class="bad" d={chart.bad} /></svg><figcaption class="dim">{chart.title}, oldest first. Failed ones are marked below.</figcaption></figure>;
}

function Policies({ runs }: { runs: Run[] }) {
  const found = runs.filter((r) => (r.end?.n ?? 0) > 0);
  if (found.length === 0) return null;
  return <details><summary>Policies: {count(found.length, "recorded run")} with findings</summary>
    <ul>{found.map((r) => <li key={r.id}><Mark word="warning" text={count(r.end?.n ?? 0, "finding")} /> in {r.command} <span class="dim">{r.began.slice(0, 19).replace("T", " ")}</span></li>)}</ul></details>;
}

const escape = (s: string) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// download saves the history as a page of its own, without code.
async function download(stack: string, list: Operation[]): Promise<void> {
  const chart = bars(list);
  const rows = list.map((o) => `<tr><td>${moment(o.start)}<td>${escape(o.kind)}<td class="${o.result === "succeeded" ? "" : toneOf(o.result)}">${escape(o.result)}<td>${lasted(o)}<td>${escape(o.who ?? "")}<td>${escape(inOrder(o.changes).map(([op, n]) => `${n} ${done[op] ?? op}`).join(", "))}<td>${escape(o.message ?? "")}`);
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>History of ${escape(stack)}</title>
<style>body{font:15px system-ui;margin:2em;color-scheme:light dark}td,th{padding:.2em .8em;text-align:left;vertical-align:top}svg{width:100%;height:84px}.good{fill:#2f9457}.warm{fill:#b7791f;color:#b7791f}.bad{fill:#c0392b;color:#c0392b}</style>
<h1>History of ${escape(stack)}</h1><p>${escape(chart.title)}</p><svg viewBox="0 0 1000 84" preserveAspectRatio="none"><path class="good" d="${chart.good}"/><path class="warm" d="${chart.warm}"/><path class="bad" d="${chart.bad}"/></svg>
<table><tr><th>Began<th>Operation<th>Result<th>Took<th>Who<th>Changes<th>Message${rows.join("\n")}</table>`;
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  a.download = `history-${stack.replace(/[^\w.-]+/g, "-")}.html`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
