// Runs of this machine, while they go on and afterwards: a tree with a bar of time for each resource, and what was said.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Event, type Run, Refused, get, nameOf, post, shortType, typeOf } from "./api";
import { Counts, Fault, Mark, Virtual, ago, count, go, link, rowID, useAsk } from "./parts";
import { took } from "./took";

const label = "Resources of the run";

export function LiveView({ stack, id, preview }: { stack?: string; id?: string; preview: boolean }) {
  const asked = useAsk(() => get<{ runs: Run[] }>("runs", stack ? { stack } : {}), "runs " + stack, 1500);
  const runs = asked.data?.runs ?? [];
  const [project = "", name = ""] = stack?.split("/") ?? [];
  const to = (run: string) => stack ? link("s", project, name, "live", run) : link("live", run);
  const chosen = id || runs.find((r) => r.running)?.id || runs[0]?.id;
  return <>
    {preview && stack && <Preview stack={stack} />}
    <Fault text={asked.fault} />
    {asked.data && runs.length === 0 && <p>No run has been recorded yet. Runs of this machine are recorded from now on: <code>yamlhost up</code>, and <code>yamlhost up --ui</code> opens this page by itself.</p>}
    <div class="split runs">
      <nav aria-label="Runs"><ul>{runs.slice(0, 50).map((r) => <li key={r.id}><a href={to(r.id)} aria-current={r.id === chosen ? "true" : undefined}>
        <Mark word={r.running ? "running" : r.end?.s ?? "failed"} text={r.planning ? `${r.command}: plan` : r.command} />
        <span class="dim"> {!stack && `${r.project}/${r.stack} · `}{ago(r.began)}{!r.running && !r.end && " · was cut off"}</span></a></li>)}</ul></nav>
      {chosen && <RunView key={chosen} id={chosen} />}
    </div>
  </>;
}

function Preview({ stack }: { stack: string }) {
  const asked = useAsk(() => get<{ stack: string; running: boolean; output: string; failed: boolean }>("preview"), "preview", 1000);
  const [fault, setFault] = useState<string>();
  const state = asked.data?.stack === stack ? asked.data : undefined;
  const start = () => post("preview", { stack }).then(() => { setFault(undefined); go("s", ...stack.split("/"), "live"); }, (e: unknown) => setFault(e instanceof Refused ? e.message : String(e)));
  return <section aria-label="Preview"><p><button onClick={() => void start()} disabled={asked.data?.running}>Preview</button> <span class="dim">runs <code>yamlhost preview --stack {stack.split("/")[1]}</code>, which runs the program and changes nothing</span></p>
    <Fault text={fault} />
    {state?.running && <p role="status"><Mark word="running" text="A preview is running" /></p>}
    {state && !state.running && state.output && <details open={state.failed}><summary><Mark word={state.failed ? "failed" : "succeeded"} text="What the preview says" /></summary><pre tabIndex={0}>{state.output}</pre></details>}
  </section>;
}

interface Bar { urn: string; parent?: string; op: string; start: number; end?: number; state: "running" | "done" | "failed"; said: Event[] }

// take adds events to what is known of each resource.
function take(bars: Map<string, Bar>, events: Event[]): void {
  for (const e of events) {
    const old = e.u === undefined ? undefined : bars.get(e.u);
    if (e.k === "start" && e.u !== undefined) bars.set(e.u, { said: old?.said ?? [], urn: e.u, parent: e.a, op: e.o ?? "", start: old && old.state === "done" ? old.start : e.t, state: "running" });
    else if (e.k === "done" && old) bars.set(e.u!, { ...old, op: e.o ?? old.op, end: e.t, state: "done" });
    else if (e.k === "outputs" && old) bars.set(e.u!, { ...old, end: e.t });
    else if (e.k === "fail" && old) bars.set(e.u!, { ...old, end: e.t, state: "failed" });
    else if ((e.k === "log" || e.k === "policy") && old) old.said.push(e);
  }
}

// useRun follows a run: it asks for what is new, soon again while it runs.
function useRun(id: string) {
  const [state, set] = useState<{ run?: Run; bars: Map<string, Bar>; said: Event[]; now: number; fault?: string }>({ bars: new Map(), said: [], now: 0 });
  const next = useRef(0);
  useEffect(() => {
    let over = false, timer = 0;
    const bars = new Map<string, Bar>(), said: Event[] = [];
    const ask = async () => {
      let wait = 400;
      try {
        const a = await get<{ now: number; run: Run; lines?: Event[]; next: number }>("run", { id, from: String(next.current) });
        if (over) return;
        const more = a.next > next.current;
        next.current = a.next;
        take(bars, a.lines ?? []);
        said.push(...(a.lines ?? []).filter((e) => e.k === "log" || e.k === "policy"));
        set({ run: a.run, bars: new Map(bars), said: [...said], now: a.now });
        if (!a.run.running && !more) return;
        if (more) wait = 100;
      } catch (e) {
        if (over) return;
        set((old) => ({ ...old, fault: e instanceof Error ? e.message : String(e) }));
        wait = 3000;
      }
      timer = setTimeout(ask, wait);
    };
    next.current = 0;
    void ask();
    return () => { over = true; clearTimeout(timer); };
  }, [id]);
  return state;
}

function RunView({ id }: { id: string }) {
  const { run, bars, said, now, fault } = useRun(id);
  const [longest, setLongest] = useState(false), [active, setActive] = useState(-1), [chosen, setChosen] = useState<string>();
  const span = Math.max(1, run?.end?.t ?? (run ? now - new Date(run.began).getTime() : 1));
  const rows = useMemo(() => {
    const all = [...bars.values()];
    const length = (b: Bar) => (b.end ?? span) - b.start;
    if (longest) return all.filter((b) => b.op !== "same" || b.state !== "done").sort((a, b) => length(b) - length(a)).map((bar) => ({ bar, depth: 0 }));
    const children = new Map<string, Bar[]>();
    for (const b of all) {
      const parent = b.parent && bars.has(b.parent) ? b.parent : "";
      const list = children.get(parent);
      if (list) list.push(b); else children.set(parent, [b]);
    }
    const out: { bar: Bar; depth: number }[] = [], stack = (children.get("") ?? []).map((bar) => ({ bar, depth: 0 })).reverse();
    while (stack.length > 0) {
      const at = stack.pop()!;
      out.push(at);
      for (const bar of (children.get(at.bar.urn) ?? []).slice().reverse()) stack.push({ bar, depth: at.depth + 1 });
    }
    return out;
  }, [bars, longest, longest ? span : 0]);
  if (!run) return <section class="list" aria-label="Run"><Fault text={fault} /></section>;
  const running = [...bars.values()].filter((b) => b.state === "running" && !b.end).length, failed = [...bars.values()].filter((b) => b.state === "failed").length;
  const words = said.filter((e) => chosen === undefined || e.u === chosen);
  return <section class="list" aria-label="Run">
    <p role="status"><Mark word={run.running ? "running" : run.end?.s ?? "failed"} text={run.running ? `${run.planning ? "planning" : run.command}` : run.end?.s ?? "was cut off"} /> {run.project}/{run.stack} · {took(span)} · {count(bars.size, "resource")}{running > 0 && run.running && `, ${running} under way`}{failed > 0 && <>, <Mark word="failed" text={`${failed} failed`} /></>} · by {run.user}@{run.host}, process {run.pid} {run.end && <Counts changes={run.end.c} />}</p>
    <p><label><input type="checkbox" checked={longest} onChange={(e) => setLongest(e.currentTarget.checked)} /> longest first: where the time went</label></p>
    <Virtual count={rows.length} height={30} label={label} role="treegrid" active={active} onActive={setActive}
      onKey={(k, i) => (k === "Enter" || k === " ") && (setChosen(rows[i]?.bar.urn), true)} row={(i) => {
        const { bar, depth } = rows[i]!, end = bar.end ?? span, left = bar.start / span * 100, width = Math.max(0.4, (end - bar.start) / span * 100);
        const state = bar.state === "failed" ? "failed" : bar.end === undefined ? "running" : bar.op;
        return <div key={bar.urn} id={rowID(label, i)} role="row" aria-rowindex={i + 1} aria-level={depth + 1} class={"row gantt" + (i === active ? " active" : "") + (bar.urn === chosen ? " chosen" : "")} onClick={() => { setActive(i); setChosen(bar.urn === chosen ? undefined : bar.urn); }}>
          <span role="gridcell" class="name" style={{ paddingLeft: depth * 14 }} title={shortType(typeOf(bar.urn))}>{nameOf(bar.urn)}</span>
          <span role="gridcell" class="state"><Mark word={state} /></span>
          <span role="gridcell" class="time"><i class={bar.state === "failed" ? "bad" : bar.end === undefined ? "info" : "good"} style={{ left: Math.min(left, 99) + "%", width: width + "%" }} /><span class="over">{took(end - bar.start)}</span></span>
        </div>;
      }} />
    <h2>{chosen ? <>What {nameOf(chosen)} says <button class="small" onClick={() => setChosen(undefined)}>All</button></> : "Messages"}</h2>
    <ul class="log">{words.slice(-400).map((e, i) => <li key={i}><span class="dim">{took(e.t)}</span> {e.s && e.s !== "info" && <Mark word={e.s} text={e.p ? `${e.p} (${e.s})` : e.s} />} {e.u && !chosen && <b>{nameOf(e.u)}</b>} <span class="said">{e.x}</span></li>)}</ul>
    {words.length === 0 && <p class="dim">none</p>}
  </section>;
}
