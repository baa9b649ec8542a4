// The page: its head, and the view that the address names.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Overview, enter, get } from "./api";
import { GraphView } from "./graph";
import { HistoryView } from "./history";
import { LiveView } from "./live";
import { Fault, Locks, ago, count, go, link, useAsk, useRoute } from "./parts";
import { ResourcesView } from "./resources";
import { SearchView, StacksView } from "./stacks";

const tabs = { resources: "Resources", graph: "Graph", history: "History", live: "Runs" } as const;

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
