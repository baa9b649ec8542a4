// The resources of a stack, as a tree or a table, and the page of one.
import { Type } from "./marks";
import { useMemo, useRef, useState } from "preact/hooks";
import { type Detail, type ResourcePast, type Setting, type Table, get, packageOf, shortType } from "./api";
import { Changes, Counts, Fault, Mark, Urn, Value, Virtual, Why, ago, count, go, link, moment, rowID, useAsk, useRevision } from "./parts";

const label = "Resources";

export function useTable(stack: string) {
  const asked = useAsk(() => get<Table>("stack", { stack }), "stack " + stack);
  useRevision(stack, asked.data?.revision, asked.again);
  return asked;
}

// Item is a row of the list with its depth in the tree.
interface Item { row: number; depth: number; children: boolean }

function tree(table: Table, closed: Set<number>, keep: (i: number) => boolean, flat: boolean, order: string): Item[] {
  const all = table.rows.map((_, i) => i);
  if (flat) {
    const key = (i: number) => order === "type" ? table.types[table.rows[i]!.q]!.split("$").pop()! : order === "status" ? table.rows[i]!.s ?? "~" : table.rows[i]!.n;
    const keys = order === "state" ? undefined : new Map(all.map((i) => [i, key(i)]));
    const list = all.filter(keep);
    if (keys) list.sort((a, b) => keys.get(a)! < keys.get(b)! ? -1 : keys.get(a)! > keys.get(b)! ? 1 : a - b);
    return list.map((row) => ({ row, depth: 0, children: false }));
  }
  const children = new Map<number, number[]>();
  const wanted = new Set<number>();
  for (const i of all) {
    if (!keep(i)) continue;
    for (let at = i; at >= 0 && !wanted.has(at); at = table.rows[at]!.p) wanted.add(at);
  }
  for (const i of table.order) {
    if (!wanted.has(i)) continue;
    const list = children.get(table.rows[i]!.p);
    if (list) list.push(i); else children.set(table.rows[i]!.p, [i]);
  }
  const out: Item[] = [];
  const stack = (children.get(-1) ?? []).map((row) => ({ row, depth: 0 })).reverse();
  while (stack.length > 0) {
    const { row, depth } = stack.pop()!;
    const inside = children.get(row) ?? [];
    out.push({ row, depth, children: inside.length > 0 });
    if (!closed.has(row)) for (let i = inside.length - 1; i >= 0; i--) stack.push({ row: inside[i]!, depth: depth + 1 });
  }
  return out;
}

export function ResourcesView({ stack, urn }: { stack: string; urn?: string }) {
  const asked = useTable(stack);
  const [filter, setFilter] = useState(""), [type, setType] = useState(""), [pack, setPack] = useState(""), [status, setStatus] = useState("");
  const [flat, setFlat] = useState(false), [order, setOrder] = useState("state"), [closed, setClosed] = useState<Set<number>>(new Set());
  const [active, setActive] = useState(-1);
  const table = asked.data;
  const types = useMemo(() => (table?.types ?? []).map((t) => t.split("$").pop()!), [table]);
  const choices = useMemo(() => ({
    types: [...new Set(types)].sort(), packs: [...new Set(types.map(packageOf))].sort(),
    statuses: [...new Set((table?.rows ?? []).map((r) => r.s ?? ""))].filter(Boolean).sort(),
  }), [table]);
  const items = useMemo(() => {
    if (!table) return [];
    const words = filter.toLowerCase();
    const keep = (i: number) => {
      const r = table.rows[i]!;
      return (!words || r.n.toLowerCase().includes(words) || types[r.q]!.toLowerCase().includes(words)) && (!type || types[r.q] === type) &&
        (!pack || packageOf(types[r.q]!) === pack) && (!status || r.s === status);
    };
    return tree(table, closed, keep, flat, order);
  }, [table, filter, type, pack, status, flat, order, closed]);
  const [project = "", name = ""] = stack.split("/");
  if (!table) return <><Fault text={asked.fault} />{!asked.fault && <p class="dim">Reading the state…</p>}</>;
  const urnOf = (row: number) => table.prefix + table.types[table.rows[row]!.q] + "::" + table.rows[row]!.n;
  const fold = (row: number, close: boolean) => setClosed((old) => { const next = new Set(old); if (close) next.add(row); else next.delete(row); return next; });
  const key = (k: string, i: number) => {
    const item = items[i];
    if (!item) return false;
    if (k === "Enter" || k === " ") go("s", project, name, "resources", urnOf(item.row));
    else if (k === "ArrowRight") fold(item.row, false);
    else if (k === "ArrowLeft") fold(item.row, true);
    else return false;
    return true;
  };
  const top = table.rows.findIndex((r) => table.types[r.q] === rootType);
  return <>
    {!urn && <Facts stack={stack} urn={top < 0 ? undefined : urnOf(top)} revision={table.revision} />}
    <div class={urn ? "split detailed" : "split"}>
    <section class="list" aria-label="List of resources">
      {table.pending?.map((p) => <p key={p.urn} class="notice"><Mark word="warning" text={`Pending: ${p.kind}`} /> {p.urn.split("::").pop()}: an earlier run did not see its end.</p>)}
      {table.running && <p class="notice"><Mark word="running" text={table.running} /> since {ago(table.since)}; in flight: {(table.inFlight ?? []).slice(0, 8).map((p) => p.urn.split("::").pop() + " (" + p.kind + ")").join(", ") || "nothing"}</p>}
      <div class="filters">
        <input type="search" aria-label="Filter by name or type" placeholder="Name or type" onInput={(e) => setFilter(e.currentTarget.value)} />
        <select aria-label="Type" value={type} onChange={(e) => setType(e.currentTarget.value)}><option value="">every type</option>{choices.types.map((t) => <option key={t} value={t}>{shortType(t)}</option>)}</select>
        <select aria-label="Provider" value={pack} onChange={(e) => setPack(e.currentTarget.value)}><option value="">every provider</option>{choices.packs.map((t) => <option key={t}>{t}</option>)}</select>
        <select aria-label="Status" value={status} onChange={(e) => setStatus(e.currentTarget.value)}><option value="">every status</option>{choices.statuses.map((t) => <option key={t}>{t}</option>)}</select>
        <select aria-label="Form" value={flat ? order : "tree"} onChange={(e) => { setFlat(e.currentTarget.value !== "tree"); setOrder(e.currentTarget.value); }}>
          <option value="tree">as a tree</option><option value="state">as a table</option><option value="name">table by name</option><option value="type">table by type</option><option value="status">table by status</option>
        </select>
        <span role="status" class="dim">{count(items.length, "row")}</span>
      </div>
      <Virtual count={items.length} height={30} label={label} role="treegrid" active={active} onActive={setActive} onKey={key} row={(i) => {
        const item = items[i]!, r = table.rows[item.row]!, full = types[r.q]!, address = urnOf(item.row);
        return <div key={i} id={rowID(label, i)} role="row" aria-rowindex={i + 1} aria-level={item.depth + 1} aria-expanded={item.children ? !closed.has(item.row) : undefined}
          class={"row" + (i === active ? " active" : "") + (address === urn ? " chosen" : "")} onClick={() => { setActive(i); go("s", project, name, "resources", address); }}>
          <span role="gridcell" class="name" style={{ paddingLeft: item.depth * 16 }}>
            <span class="fold" aria-hidden="true" onClick={(e) => { e.stopPropagation(); fold(item.row, !closed.has(item.row)); }}>{item.children ? closed.has(item.row) ? "▸" : "▾" : ""}</span>{r.n}</span>
          <span role="gridcell" class="type"><Type of={shortType(full)} /></span>
          <span role="gridcell" class="state">{r.s && <Mark word={r.s === "protected" ? r.s : r.s === "read" ? "same" : "warning"} text={r.s} />}</span>
        </div>;
      }} />
    </section>
    {urn && <Resource key={urn} stack={stack} urn={urn} revision={table.revision} />}
    </div>
  </>;
}

const rootType = "pulumi:pulumi:Stack";

// Facts are what one looks for first: the outputs of a stack, and the configuration of its last operation.
function Facts({ stack, urn, revision }: { stack: string; urn?: string; revision: string }) {
  const asked = useAsk(async () => urn ? get<Detail>("resource", { stack, urn }) : undefined, `outputs ${urn} ${revision}`);
  const settings = useAsk(() => get<Setting[]>("config", { stack }), `config ${stack} ${revision}`);
  const outputs = asked.data?.outputs, some = typeof outputs === "object" && outputs !== null && Object.keys(outputs).length > 0;
  const [project = ""] = stack.split("/"), own = project + ":";
  if (!some && !settings.data?.length) return null;
  return <div class="facts2">
    {some && urn && <section aria-label="Outputs" tabIndex={0}><h2>Outputs</h2><Value value={outputs} where={{ stack, urn, part: "outputs" }} /></section>}
    {settings.data && settings.data.length > 0 && <section aria-label="Configuration" tabIndex={0}><h2>Configuration</h2>
      <dl>{settings.data.map((c) => <div key={c.key}><dt>{c.key.startsWith(own) ? c.key.slice(own.length) : c.key}</dt>
        <dd>{c.secret ? <span class="secret">[secret]</span> : <span class="text">{typeof c.value === "string" ? c.value : JSON.stringify(c.value)}</span>}</dd></div>)}</dl></section>}
  </div>;
}

function Resource({ stack, urn, revision }: { stack: string; urn: string; revision: string }) {
  const asked = useAsk(() => get<Detail>("resource", { stack, urn }), `resource ${urn} ${revision}`);
  const [past, setPast] = useState(false);
  const [project = "", name = ""] = stack.split("/");
  const d = asked.data;
  if (!d) return <section class="detail" aria-label="Resource"><p><a href={link("s", project, name, "resources")}>← All resources</a></p><Fault text={asked.fault} /></section>;
  return <section class="detail" aria-label="Resource">
    <p><a href={link("s", project, name, "resources")}>← All resources</a> · <a href={link("s", project, name, "graph", urn)}>in the graph</a></p>
    <h2>{d.urn.split("::").slice(3).join("::")}</h2>
    <p class="dim">{d.type}</p>
    {d.status && <p><Mark word="warning" text={d.status} /></p>}
    {d.initErrors?.map((e) => <Fault key={e} text={e} />)}
    <dl class="facts">
      <div><dt>URN</dt><dd><code>{d.urn}</code></dd></div>
      {d.id && <div><dt>ID</dt><dd><code>{d.id}</code></dd></div>}
      {d.parent && <div><dt>Parent</dt><dd><Urn stack={stack} urn={d.parent} /></dd></div>}
      {d.provider && <div><dt>Provider</dt><dd><Urn stack={stack} urn={d.provider} /></dd></div>}
      {d.created && <div><dt>Created</dt><dd>{d.created} ({ago(d.created)})</dd></div>}
      {d.modified && <div><dt>Changed</dt><dd>{d.modified} ({ago(d.modified)})</dd></div>}
      {d.options?.map((o) => <div key={o.name + o.value}><dt>{o.name}</dt><dd>{o.value}</dd></div>)}
    </dl>
    {d.source && <><h3>In the program</h3><p class="dim">{d.source.file}:{d.source.line}</p>
      <pre tabIndex={0} aria-label="Text in the program">{d.source.lines.map((l, i) => <div key={i}><span class="dim">{String(d.source!.first + i).padStart(4)} </span>{l}</div>)}</pre></>}
    <h3>Inputs</h3><Value value={d.inputs} where={{ stack, urn, part: "inputs" }} />
    <h3>Outputs</h3><Value value={d.outputs} where={{ stack, urn, part: "outputs" }} />
    <h3>Depends on</h3>
    {d.needs ? <ul>{d.needs.map((l) => <li key={l.urn}><Urn stack={stack} urn={l.urn} />{l.via && <span class="dim"> by {l.via.join(", ")}</span>}</li>)}</ul> : <p class="dim">nothing</p>}
    <h3>Needed by</h3>
    {d.needed ? <ul>{d.needed.map((l) => <li key={l.urn}><Urn stack={stack} urn={l.urn} />{l.via && <span class="dim"> by {l.via.join(", ")}</span>}</li>)}</ul> : <p class="dim">nothing</p>}
    <h3>What would break if it went</h3>
    {d.breakCount > 0 ? <details><summary>{count(d.breakCount, "resource")}</summary><ul>{d.breaks?.map((u) => <li key={u}><Urn stack={stack} urn={u} /></li>)}</ul></details> : <p class="dim">nothing</p>}
    <h3>History</h3>
    {past ? <History stack={stack} urn={urn} revision={revision} /> : <button onClick={() => setPast(true)}>Show what operations have done to it</button>}
  </section>;
}

function History({ stack, urn, revision }: { stack: string; urn: string; revision: string }) {
  const [looks, setLooks] = useState(12), kept = useRef<ResourcePast>();
  const asked = useAsk(() => get<ResourcePast>("changes", { stack, urn, looks: String(looks) }), `changes ${urn} ${revision} ${looks}`);
  if (asked.data) kept.current = asked.data;
  const past = kept.current;
  if (!past) return asked.fault ? <Fault text={asked.fault} /> : <p class="dim">Comparing states…</p>;
  return <>
    <p class="dim" role="status">{past.looked < past.all ? `The states after ${past.looked} of ${count(past.all, "operation")} were compared.` : `All ${count(past.all, "operation")}.`}</p>
    <ul class="past">{past.operations.map((o) => <li key={o.stamp}><Mark word={o.what} /> by {o.kind} <span class="dim">{moment(o.end)}{o.message && " · " + o.message}</span><Changes list={o.changes} /><Why chains={o.because} /></li>)}</ul>
    {past.operations.length === 0 && <Counts />}
    {past.more && <button disabled={!asked.data} onClick={() => setLooks(looks * 3)}>{asked.data ? "Compare earlier states" : "Comparing states…"}</button>}
  </>;
}
