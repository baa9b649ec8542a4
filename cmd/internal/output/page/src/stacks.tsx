// The stacks of the backend, and the search over all of them.
import { useEffect, useState } from "preact/hooks";
import { type Hits, type Overview, type Summary, get } from "./api";
import { Counts, Fault, Mark, Urn, ago, count, link, moment, useAsk } from "./parts";

// Waiting is there until the backend answers; soon it says that this takes unusually long.
function Waiting() {
  const [long, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 5000);
    return () => clearTimeout(timer);
  }, []);
  return <p class="dim" role="status">{long ? "The backend has not answered yet. Its stacks appear here when it does." : "Reading the backend…"}</p>;
}

// stateOf is the state of a stack at a glance, as a word, a sign and a colour. The least rank needs attention first.
function stateOf(s: Summary): { rank: number; word: string; sign: string; tone: string } {
  if (s.error) return { rank: 0, word: "unreadable", sign: "✗", tone: "bad" };
  if (s.last?.result === "failed") return { rank: 0, word: "failed", sign: "✗", tone: "bad" };
  if (s.pending > 0 || s.last?.result === "interrupted") return { rank: 1, word: "interrupted", sign: "!", tone: "warm" };
  if (s.locks?.length) return { rank: 1, word: "in use", sign: "▶", tone: "info" };
  if ((s.drift?.found ?? 0) > 0) return { rank: 1, word: "drifted", sign: "!", tone: "warm" };
  return s.last ? { rank: 2, word: "up to date", sign: "✓", tone: "good" } : { rank: 2, word: "new", sign: "○", tone: "plain" };
}

// byNeed sorts failed stacks first, and then those that have changed last.
const changedAt = (s: Summary) => s.last ? s.last.end * 1000 : s.updated ? new Date(s.updated).getTime() : 0;
const byNeed = (a: Summary, b: Summary) => Number(stateOf(b).rank === 0) - Number(stateOf(a).rank === 0) || changedAt(b) - changedAt(a);

export function StacksView({ overview }: { overview?: Overview }) {
  const [filter, setFilter] = useState("");
  if (!overview) return <Waiting />;
  const stacks = overview.stacks.filter((s) => `${s.project}/${s.stack}`.toLowerCase().includes(filter.toLowerCase())).sort(byNeed);
  return <>
    <div class="title"><h1>{count(overview.stacks.length, "stack")}</h1><p class="dim">{overview.backend}</p></div>
    {overview.stacks.length > 8 && <input type="search" aria-label="Filter stacks" placeholder="Filter" onInput={(e) => setFilter(e.currentTarget.value)} />}
    {overview.stacks.length === 0 && <p>There is no stack yet: <code>yamlhost up</code> makes one.</p>}
    <ul class="cards">{stacks.map((s) => <li key={s.project + "/" + s.stack} class={"card " + stateOf(s).tone}>
      <span class={"state " + stateOf(s).tone} title={stateOf(s).word}><span aria-hidden="true">{stateOf(s).sign}</span><span class="sr">{stateOf(s).word}: </span></span>
      <h2><a href={link("s", s.project, s.stack)}><span class="dim">{s.project}/</span>{s.stack}</a></h2>
      <p>{count(s.resources, "resource")}{s.pending > 0 && <> · <Mark word="warning" text={count(s.pending, "pending operation")} /></>}</p>
      {s.locks?.map((l) => <p key={l.who + l.pid}><Mark word="locked" text={`locked by ${l.who}`} /> <span class="dim">{ago(l.since)}</span></p>)}
      {s.last ? <p title={moment(s.last.end)}><Mark word={s.last.result} text={s.last.kind} /> {ago(s.last.end * 1000)}{s.last.who && ` by ${s.last.who}`} · <Counts changes={s.last.changes} /></p> : <p class="dim">no operation yet</p>}
      {s.last?.message && <p class="dim cut">{s.last.message}</p>}
      {s.drift && <p><Mark word={s.drift.found > 0 ? "warning" : "same"} text={s.drift.found > 0 ? `${count(s.drift.found, "resource")} drifted` : "no drift"} /> <span class="dim">looked {ago(s.drift.at)}</span></p>}
      <Fault text={s.error} />
    </li>)}</ul>
  </>;
}

export function SearchView({ words }: { words: string }) {
  const asked = useAsk(() => get<Hits>("search", { q: words }), "search " + words);
  const hits = asked.data;
  return <>
    <h1>Search</h1>
    <p class="dim">Words are looked for in names, types, IDs and properties; <code>type:</code>, <code>name:</code>, <code>id:</code> and <code>stack:</code> narrow, <code>property=value</code> finds a property.</p>
    <Fault text={asked.fault} />
    {hits?.faults?.map((f) => <Fault key={f} text={f} />)}
    <p role="status">{hits ? hits.more ? `The first ${hits.hits.length} resources` : count(hits.hits.length, "resource") : "Searching…"}</p>
    <ul class="hits">{hits?.hits.map((h) => <li key={h.stack + h.urn}><Urn stack={h.stack} urn={h.urn} /> <span class="dim">in {h.stack}</span>
      {h.where && <code class="cut">{h.where}</code>}</li>)}</ul>
  </>;
}
