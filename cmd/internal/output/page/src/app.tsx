// The page: its head, and the view that the address names.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "./visible";
import { type Overview, enter, get } from "./api";
import { GraphView } from "./graph";
import { HistoryView } from "./history";
import { LiveView } from "./live";
import { Fault, Locks, ago, count, go, link, useAsk, useRoute } from "./parts";
import { ResourcesView } from "./resources";
import { SearchView, StacksView } from "./stacks";

const tabs = { resources: "Resources", graph: "Graph", history: "History", live: "Runs" } as const;

const keys: [string[], string][] = [
  [["/"], "search"], [["?"], "this help"], [["↑", "↓"], "walk through a list"], [["Enter"], "open what is chosen"],
  [["←", "→"], "fold and unfold in a tree; move the graph"], [["+", "−", "0"], "zoom the graph; show all of it"], [["Esc"], "leave the search, close this"],
];

// Keys answers keys that hold everywhere: / searches, ? helps, and arrows begin to walk through the list of the page.
function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement, writing = /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
      if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
      if (writing) { if (e.key === "Escape") at.blur(); return; }
      const search = document.querySelector<HTMLElement>("main input[type=search]") ?? document.querySelector<HTMLElement>("header input");
      if (e.key === "/") { e.preventDefault(); search?.focus(); }
      else if (e.key === "?") { e.preventDefault(); dialog.current?.showModal(); }
      else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && !at.closest(".virtual, canvas, [role=application], pre, .facts2")) {
        const rows = document.querySelector<HTMLElement>(".virtual");
        const links = [...document.querySelectorAll<HTMLElement>("main .card h2 a, main .hits a")];
        if (rows) rows.focus();
        else if (links.length > 0) links[Math.max(0, Math.min(links.length - 1, links.indexOf(at) + (e.key === "ArrowDown" ? 1 : -1)))]!.focus();
        else return;
        e.preventDefault();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return <>
    <button class="small" aria-label="Keys" title="Keys (?)" onClick={() => dialog.current?.showModal()}>?</button>
    <dialog ref={dialog} aria-label="Keys"><h2>Keys</h2>
      <table class="keys"><tbody>{keys.map(([list, does]) => <tr key={does}><th scope="row">{list.map((k) => <><kbd key={k}>{k}</kbd> </>)}</th><td>{does}</td></tr>)}</tbody></table>
      <form method="dialog"><button>Close</button></form></dialog>
  </>;
}

function App() {
  const route = useRoute();
  const asked = useAsk(() => get<Overview>("overview"), "overview", 3000);
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const [kind = "", project = "", name = "", tab = "resources", ...rest] = route;
  const stack = `${project}/${name}`;
  const view = kind === "s" && name ? stack : kind;
  useEffect(() => { document.title = kind === "s" ? `${stack} · yamlhost` : "yamlhost"; document.getElementById("main")?.focus(); }, [view, tab]);
  const summary = asked.data?.stacks.find((s) => s.project === project && s.stack === name);
  return <>
    <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
    <header>
      <a class="brand" href={link("")}>yamlhost</a>
      <form role="search" onSubmit={(e) => { e.preventDefault(); go("search", String(new FormData(e.currentTarget).get("q") ?? "")); }}>
        <input name="q" type="search" aria-label="Search all stacks" placeholder="Search all stacks: type:bucket name:logs region=eu" value={kind === "search" ? project : undefined} />
      </form>
      <nav aria-label="Pages"><a href={link("")} aria-current={kind === "" ? "page" : undefined}>Stacks</a> <a href={link("live")} aria-current={kind === "live" ? "page" : undefined}>Runs</a></nav>
      <select aria-label="Colours" value={theme} onChange={(e) => setTheme(e.currentTarget.value)}>
        <option value="">Auto</option><option value="light">Light</option><option value="dark">Dark</option>
      </select>
      <Keys />
    </header>
    <main id="main" tabIndex={-1}>
      {asked.gone ? <Fault text={asked.fault} /> : <Fault text={asked.data ? undefined : asked.fault} />}
      {kind === "s" && name ? <>
        <div class="title"><h1>{stack}</h1>
          <p class="dim">{summary && <>{count(summary.resources, "resource")} · changed {ago(summary.updated)}</>}</p></div>
        <Locks locks={summary?.locks} />
        <nav class="tabs" aria-label="Views">{Object.entries(tabs).map(([id, title]) =>
          <a key={id} href={link("s", project, name, id)} aria-current={tab === id ? "page" : undefined}>{title}</a>)}</nav>
        {tab === "resources" && <ResourcesView stack={stack} urn={rest[0]} />}
        {tab === "graph" && <GraphView stack={stack} focus={rest[0]} />}
        {tab === "history" && <HistoryView stack={stack} />}
        {tab === "live" && <LiveView stack={stack} id={rest[0]} preview={asked.data?.project === project} />}
      </> : kind === "search" ? <SearchView words={project} /> : kind === "live" ? <><h1>Runs of this machine</h1><LiveView id={project} preview={false} /></> :
        <StacksView overview={asked.data} />}
    </main>
  </>;
}

const root = document.getElementById("app");
if (root) enter().catch(() => undefined).then(() => render(<App />, root));
