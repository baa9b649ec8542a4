// What several views are made of: lists that hold any number of rows, values, changes, times.
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Change, type Lock, type Operation, Refused, enter, get, nameOf, post, shortType, typeOf } from "./api";
import { Mark, done, inOrder } from "./marks";
import { took } from "./took";

export { Mark, Why } from "./marks";

// link makes an address of the page. Each part is encoded, whatever it is.
export const link = (...parts: string[]) => "#/" + parts.map(encodeURIComponent).join("/");
export const go = (...parts: string[]) => { location.hash = link(...parts); };

export function useRoute(): string[] {
  const read = () => location.hash.slice(2).split("/").map((part) => { try { return decodeURIComponent(part); } catch { return ""; } });
  const [route, set] = useState(read);
  useEffect(() => {
    // A link with a token that is opened where the page is already begins anew, and its token leaves the address.
    const changed = () => /^#(token|once)=/.test(location.hash) ? void enter().catch(() => undefined).then(() => location.reload()) : set(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

export interface Asked<T> { data?: T; fault?: string; gone?: boolean; again: () => void }

// useAsk asks the server, again every so many milliseconds while the page is visible; 0 means once. An answer that comes
// late, after the question has changed, is dropped.
export function useAsk<T>(ask: () => Promise<T>, key: string, every = 0): Asked<T> {
  const [state, set] = useState<{ key: string; data?: T; fault?: string; gone?: boolean }>({ key });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let over = false, timer = 0;
    const once = async () => {
      let next = every;
      if (!document.hidden || every === 0) {
        try {
          const data = await ask();
          if (!over) set({ key, data });
        } catch (fault) {
          const status = fault instanceof Refused ? fault.status : 0;
          if (!over) set((old) => ({ key, data: status === 404 ? undefined : old.key === key ? old.data : undefined, fault: String(fault instanceof Error ? fault.message : fault), gone: status === 0 || status === 401 }));
          if (status >= 500) next ||= 2000; // it may be better in a moment
        }
      }
      if (!over && next > 0) timer = setTimeout(once, next);
    };
    void once();
    return () => { over = true; clearTimeout(timer); };
  }, [key, turn, every]);
  const current = state.key === key ? state : { key };
  return { ...current, again: () => setTurn((n) => n + 1) };
}

export function Fault({ text }: { text?: string }) {
  return text ? <p class="fault" role="alert"><b aria-hidden="true">✗</b> {text}</p> : null;
}

const plural = (n: number, word: string) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
export const count = plural;

export function ago(time: number | string | undefined): string {
  if (time === undefined) return "never";
  const seconds = (Date.now() - new Date(time).getTime()) / 1000;
  for (const [size, word] of [[86400, "day"], [3600, "hour"], [60, "minute"]] as const)
    if (seconds >= size) return plural(Math.floor(seconds / size), word) + " ago";
  return "just now";
}

// lasted is the duration of an operation. Of some only whole seconds are known.
export const lasted = (o: Operation) => o.took || o.end > o.start ? took(o.took || (o.end - o.start) * 1000) : "<1s";

export const moment = (seconds: number) => new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";

export function Counts({ changes }: { changes?: Record<string, number> }) {
  const list = inOrder(changes).filter(([op, n]) => n > 0 && op !== "same");
  if (list.length === 0) return <span class="dim">no changes</span>;
  return <>{list.map(([op, n]) => <Fragment key={op}><Mark word={op} text={`${n} ${done[op] ?? op}`} /> </Fragment>)}</>;
}

export function Locks({ locks }: { locks?: Lock[] }) {
  return <>{(locks ?? []).map((l) => <p key={l.who + l.pid} class="notice"><Mark word="locked" text="Locked" /> by {l.who},
    process {l.pid}, {l.tool}, since {ago(l.since)}{l.owner ? ` (${l.owner})` : ""}.</p>)}</>;
}

// Virtual shows a long list: only rows that can be seen exist. Arrow keys move, Enter and the other keys go to onKey.
export function Virtual(p: {
  count: number; height: number; label: string; role: "treegrid" | "grid" | "list"; active: number; onActive: (i: number) => void;
  onKey?: (key: string, i: number) => boolean; row: (i: number) => ComponentChildren; head?: ComponentChildren; columns?: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const look = () => box.current && setView({ top: box.current.scrollTop, height: box.current.clientHeight });
    look();
    const watch = new ResizeObserver(look);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const last = useRef(-1);
  useEffect(() => {
    if (last.current === p.active || p.active < 0 || !box.current) return;
    last.current = p.active;
    const y = p.active * p.height, b = box.current;
    if (y < b.scrollTop) b.scrollTop = y;
    else if (y + p.height > b.scrollTop + b.clientHeight - 30) b.scrollTop = y + p.height - b.clientHeight + 30;
  }, [p.active]);
  const first = Math.max(0, Math.floor(view.top / p.height) - 8);
  const end = Math.min(p.count, Math.ceil((view.top + view.height) / p.height) + 8);
  const move: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -p.count, End: p.count };
  const key = (e: KeyboardEvent) => {
    if (e.target !== box.current) return;
    const by = move[e.key];
    if (by !== undefined && p.count > 0) p.onActive(Math.max(0, Math.min(p.count - 1, p.active + by)));
    else if (p.active < 0 || !p.onKey?.(e.key, p.active)) return;
    e.preventDefault();
  };
  const rows = [];
  for (let i = first; i < end; i++) rows.push(p.row(i));
  return <div class="virtual" style={{ "--all": p.count * p.height + 4 + "px" }} ref={box} tabIndex={0} role={p.role} aria-label={p.label} aria-rowcount={p.role === "list" ? undefined : p.count}
    aria-activedescendant={p.active >= first && p.active < end ? p.label.replace(/\W/g, "") + p.active : undefined}
    onScroll={() => box.current && setView({ top: box.current.scrollTop, height: box.current.clientHeight })} onKeyDown={key}>
    {p.head}
    <div class="all" role="presentation" style={{ height: p.count * p.height }}>
      <div class="some" role="presentation" style={{ transform: `translateY(${first * p.height}px)` }}>{rows}</div>
    </div>
  </div>;
}
export const rowID = (label: string, i: number) => label.replace(/\W/g, "") + i;

const signature = "4dabf18193072939515e22adb298388d", secretMark = "1b47061264138c4ac30d75fd1eb44270";
type Plain = Record<string, unknown>;
const isPlain = (v: unknown): v is Plain => typeof v === "object" && v !== null && !Array.isArray(v);

// Where says which value of which resource is shown, to ask for a secret in it.
export interface Where { stack: string; urn: string; part: "inputs" | "outputs" }

// Value shows a value of a state as text. It never makes markup of it.
export function Value({ value, where, path = [] }: { value: unknown; where: Where; path?: (string | number)[] }) {
  const [open, setOpen] = useState(path.length < 2);
  if (value === null || value === undefined) return <span class="dim">null</span>;
  if (typeof value === "string") return <span class="text">{value === "" ? <span class="dim">""</span> : value}</span>;
  if (typeof value !== "object") return <span class="number">{String(value)}</span>;
  if (isPlain(value) && value[signature] === secretMark) return <Secret where={where} path={path} />;
  const entries = Array.isArray(value) ? value.map((v, i) => [i, v] as const) : Object.entries(value);
  if (entries.length === 0) return <span class="dim">{Array.isArray(value) ? "[]" : "{}"}</span>;
  const most = 500;
  return <>
    {path.length > 0 && <button class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "▾" : "▸"} {count(entries.length, Array.isArray(value) ? "item" : "key")}</button>}
    {open && <dl>{entries.slice(0, most).map(([k, v]) => <div key={k}><dt>{k}</dt><dd><Value value={v} where={where} path={[...path, k]} /></dd></div>)}
      {entries.length > most && <div><dt>…</dt><dd class="dim">{entries.length - most} more</dd></div>}</dl>}
  </>;
}

// Secret asks for the passphrase and shows the secret until it is hidden again. Neither is kept anywhere.
function Secret({ where, path }: { where: Where; path: (string | number)[] }) {
  const [shown, setShown] = useState<string>();
  const [fault, setFault] = useState<string>();
  const dialog = useRef<HTMLDialogElement>(null), field = useRef<HTMLInputElement>(null);
  const ask = async (e: SubmitEvent) => {
    e.preventDefault();
    try {
      const answer = await post<{ value: unknown }>("reveal", { ...where, path, passphrase: field.current?.value ?? "" });
      setShown(typeof answer.value === "string" ? answer.value : JSON.stringify(answer.value, null, 1));
      dialog.current?.close();
    } catch (e) { setFault(e instanceof Error ? e.message : String(e)); }
    if (field.current) field.current.value = "";
  };
  if (shown !== undefined) return <><span class="text revealed">{shown}</span> <button class="small" onClick={() => setShown(undefined)}>Hide</button></>;
  const name = path.join(".") || where.part;
  return <>
    <span class="secret">[secret]</span> <button class="small" onClick={() => { setFault(undefined); dialog.current?.showModal(); }} aria-label={"Show the secret " + name}>Show</button>
    <dialog ref={dialog} aria-label="Show a secret"><form onSubmit={ask}>
      <h2>Show the secret {name}</h2>
      <label>Passphrase of the stack<input type="password" ref={field} autocomplete="off" /></label>
      <p class="dim">For a stack whose key a service keeps, leave it empty.</p>
      <Fault text={fault} />
      <p><button type="submit">Show it</button> <button type="button" onClick={() => dialog.current?.close()}>Cancel</button></p>
    </form></dialog>
  </>;
}

const text = (v: unknown) => typeof v === "string" ? v : JSON.stringify(v);

export function Changes({ list }: { list?: Change[] }) {
  if (!list || list.length === 0) return null;
  return <ul class="changes">{list.map((c) => {
    const hidden = c.old === "[secret]" && c.new === "[secret]";
    return <li key={c.path}><code>{c.path}</code>
      {hidden ? <> a secret has changed</> : <>
        {c.old !== undefined && <del><span class="sr">was </span>{text(c.old)}</del>}
        {c.new !== undefined && <ins><span class="sr">is </span>{text(c.new)}</ins>}</>}
    </li>;
  })}</ul>;
}

export function Urn({ stack, urn }: { stack: string; urn: string }) {
  const [project = "", name = ""] = stack.split("/");
  return <a href={link("s", project, name, "resources", urn)} title={urn}>{nameOf(urn)} <span class="dim">{shortType(typeOf(urn))}</span></a>;
}

// useRevision asks whether a stack has changed, and calls back when it has. known is the revision of what is shown; without
// it, the first answer counts.
export function useRevision(stack: string, known: string | undefined, changed: () => void): void {
  const asked = useAsk(() => get<{ revision: string }>("revision", { stack }), "revision " + stack, 2000);
  const shown = useRef<{ stack: string; revision?: string }>({ stack });
  const revision = asked.data?.revision;
  useEffect(() => {
    if (shown.current.stack !== stack) shown.current = { stack };
    if (revision === undefined) return;
    const before = known ?? shown.current.revision;
    shown.current.revision = revision;
    if (before !== undefined && before !== revision) changed();
  }, [revision, stack]);
}
