// The graph of a stack on a canvas. The server lays it out, by the code that draws all pictures.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Box, type Critical, type Detail, type Graph, type Table, get, post } from "./api";
import { Fault, count, link, useAsk } from "./parts";
import { useTable } from "./resources";
import { took } from "./took";
import { visible } from "./visible";

interface View { x: number; y: number; scale: number }
interface Marks { chosen?: string; path: Set<string>; needs: Set<string>; breaks: Set<string>; found: Set<string> }

// palette reads the colours of the style sheet as they are now, light or dark.
const palette = () => {
  const style = getComputedStyle(document.documentElement);
  return (name: string) => style.getPropertyValue(name).trim();
};

// Painter draws a graph. It keeps what does not change while one moves around: the extent of each line.
class Painter {
  private readonly extents: Float32Array;
  private readonly boxes: Map<string, Box>;
  constructor(private readonly graph: Graph) {
    this.boxes = new Map(graph.boxes.map((b) => [b.id, b]));
    this.extents = new Float32Array(graph.lines.length * 4);
    graph.lines.forEach((l, n) => {
      let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      for (let i = 0; i < l.points.length; i += 2) {
        left = Math.min(left, l.points[i]!); right = Math.max(right, l.points[i]!);
        top = Math.min(top, l.points[i + 1]!); bottom = Math.max(bottom, l.points[i + 1]!);
      }
      this.extents.set([left, top, right, bottom], n * 4);
    });
  }

  at(x: number, y: number): Box | undefined {
    return this.graph.boxes.findLast((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h && (b.kind !== "frame" || y < b.y + 30));
  }

  box(id?: string): Box | undefined { return id === undefined ? undefined : this.boxes.get(id); }

  draw(c: CanvasRenderingContext2D, v: View, w: number, h: number, m: Marks): void {
    const ratio = devicePixelRatio, colour = palette();
    const fills: Record<string, string> = { resource: colour("--box"), component: colour("--box2"), folded: colour("--box2") };
    const ink = colour("--ink"), dim = colour("--dim"), line = colour("--boxline"), accent = colour("--accent"), frame = colour("--frame"), grey = colour("--line");
    const bad = colour("--bad"), good = colour("--good"), warm = colour("--warm");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    c.setTransform(ratio * v.scale, 0, 0, ratio * v.scale, ratio * v.x, ratio * v.y);
    const left = -v.x / v.scale, top = -v.y / v.scale, right = left + w / v.scale, bottom = top + h / v.scale;
    const inside = (b: Box) => b.x < right && b.x + b.w > left && b.y < bottom && b.y + b.h > top;
    const far = v.scale < 0.35;
    for (const b of this.graph.boxes) {
      if (b.kind !== "frame" || !inside(b)) continue;
      c.fillStyle = frame; c.strokeStyle = grey; c.lineWidth = 1 / v.scale;
      c.beginPath(); c.roundRect(b.x, b.y, b.w, b.h, 8); c.fill(); c.stroke();
      if (!far) { c.fillStyle = dim; c.font = "12px system-ui"; c.fillText(clip(visible(`▾ ${b.name} ${b.detail ?? ""}`), b.w / 7), b.x + 10, b.y + 19); }
    }
    const plain = new Path2D(), marked = new Path2D();
    const step = far && this.graph.lines.length > 4000 ? Math.ceil(this.graph.lines.length / 4000) : 1;
    this.graph.lines.forEach((l, n) => {
      const e = this.extents, hot = m.path.has(l.from) && m.path.has(l.to) || m.chosen !== undefined && (l.from === m.chosen || l.to === m.chosen);
      if (!hot && n % step !== 0 || e[n * 4]! > right || e[n * 4 + 1]! > bottom || e[n * 4 + 2]! < left || e[n * 4 + 3]! < top) return;
      const p = l.points, to = hot ? marked : plain;
      to.moveTo(p[0]!, p[1]!);
      if (far && !hot) to.lineTo(p[p.length - 2]!, p[p.length - 1]!);
      else if (l.coarse) for (let i = 2; i < p.length; i += 2) to.lineTo(p[i]!, p[i + 1]!);
      else for (let i = 2; i + 5 < p.length; i += 6) to.bezierCurveTo(p[i]!, p[i + 1]!, p[i + 2]!, p[i + 3]!, p[i + 4]!, p[i + 5]!);
    });
    c.strokeStyle = grey; c.lineWidth = Math.max(1, 0.6 / v.scale); c.stroke(plain);
    c.strokeStyle = accent; c.lineWidth = Math.max(2.5, 2 / v.scale); c.stroke(marked);
    for (const b of this.graph.boxes) {
      if (b.kind === "frame" || !inside(b)) continue;
      c.fillStyle = fills[b.kind] ?? fills.resource!;
      if (far) { c.fillRect(b.x, b.y, b.w, b.h); } else { c.beginPath(); c.roundRect(b.x, b.y, b.w, b.h, 5); c.fill(); c.strokeStyle = line; c.lineWidth = 1; c.stroke(); }
      if (b.kind === "folded" && !far) { c.strokeStyle = line; c.strokeRect(b.x + 3, b.y + 3, b.w, b.h); }
      const tone = b.id === m.chosen ? accent : m.breaks.has(b.id) ? bad : m.needs.has(b.id) ? good : m.found.has(b.id) ? warm : m.path.has(b.id) ? accent : "";
      if (tone) {
        c.strokeStyle = tone; c.lineWidth = Math.max(3, 3 / v.scale);
        c.setLineDash(m.breaks.has(b.id) ? [6, 3] : m.needs.has(b.id) ? [2, 3] : []);
        c.strokeRect(b.x - 2, b.y - 2, b.w + 4, b.h + 4); c.setLineDash([]);
      }
      if (far) continue;
      c.fillStyle = ink; c.font = "13px system-ui"; c.fillText(clip(visible(b.name), b.w / 7.6), b.x + 10, b.y + (b.detail ? 17 : 20));
      if (b.detail) { c.fillStyle = dim; c.font = "11px system-ui"; c.fillText(clip(visible(b.detail), b.w / 6.2), b.x + 10, b.y + 33); }
    }
  }
}

const clip = (s: string, letters: number) => s.length > letters ? s.slice(0, Math.max(1, Math.floor(letters * 0.6))) + "…" + s.slice(-Math.floor(letters * 0.35)) : s;

const urnsOf = (table: Table | undefined) => {
  const rows = new Map<string, number>();
  table?.rows.forEach((r, i) => rows.set(table.prefix + table.types[r.q] + "::" + r.n, i));
  return rows;
};

export function GraphView({ stack, focus }: { stack: string; focus?: string }) {
  const table = useTable(stack).data;
  const small = (table?.rows.length ?? 0) < 80;
  const [fold, setFold] = useState<{ components: boolean; types: boolean }>();
  const folding = fold ?? { components: !small, types: !small };
  const [open, setOpen] = useState<string[]>([]), [search, setSearch] = useState(""), [critical, setCritical] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const asked = useAsk(() => table ? post<Graph>("graph", { stack, ...folding, open }) : Promise.resolve(undefined), JSON.stringify([stack, folding, open, table?.revision]));
  const path = useAsk(() => critical ? get<Critical>("critical", { stack }) : Promise.resolve(undefined), `critical ${stack} ${critical} ${table?.revision}`);
  const graph = asked.data, painter = useMemo(() => graph && new Painter(graph), [graph]);
  const rows = useMemo(() => urnsOf(table), [table]);
  const holder = useMemo(() => { const map = new Map<number, string>(); graph?.boxes.forEach((b) => b.rows?.forEach((r) => map.set(r, b.id))); return map; }, [graph]);
  const box = painter?.box(chosen);
  const urn = box && box.kind !== "folded" && box.rows?.length === 1 && table ? table.prefix + table.types[table.rows[box.rows[0]!]!.q] + "::" + table.rows[box.rows[0]!]!.n : undefined;
  const detail = useAsk(() => urn ? get<Detail>("resource", { stack, urn }) : Promise.resolve(undefined), "graph resource " + urn);
  const holders = (urns?: string[]) => new Set((urns ?? []).map((u) => holder.get(rows.get(u) ?? -1)).filter((id) => id !== undefined));
  const marks: Marks = useMemo(() => ({
    chosen, path: holders(path.data?.legs.map((l) => l.urn)), needs: holders(detail.data?.needs?.map((l) => l.urn)), breaks: holders(detail.data?.breaks),
    found: new Set(search.length > 1 && table ? [...holder].filter(([r]) => `${table.rows[r]!.n} ${table.types[table.rows[r]!.q]}`.toLowerCase().includes(search.toLowerCase())).map(([, id]) => id) : []),
  }), [chosen, path.data, detail.data, search, holder]);
  useEffect(() => { if (focus && holder.size > 0) setChosen(holder.get(rows.get(focus) ?? -1)); }, [focus, holder]);
  const [project = "", name = ""] = stack.split("/");
  const unfold = (b: Box) => { setOpen([...open, b.id]); setChosen(undefined); };
  return <>
    <div class="filters">
      <input type="search" aria-label="Find in the graph" placeholder="Find" onInput={(e) => setSearch(e.currentTarget.value)} />
      <label><input type="checkbox" checked={folding.components} onChange={(e) => { setOpen([]); setFold({ ...folding, components: e.currentTarget.checked }); }} /> fold components</label>
      <label><input type="checkbox" checked={folding.types} onChange={(e) => { setOpen([]); setFold({ ...folding, types: e.currentTarget.checked }); }} /> fold types</label>
      <label><input type="checkbox" checked={critical} onChange={(e) => setCritical(e.currentTarget.checked)} /> critical path of the last run</label>
      <span role="status" class="dim">{graph ? count(graph.boxes.length, "box").replace(/x(e?)s$/, "xes") : "Laying out…"}{search.length > 1 && ` · ${marks.found.size} found`}</span>
    </div>
    <Fault text={asked.fault} />
    {critical && path.data && <p role="status">{path.data.why ?? <>{took(path.data.took)}: {path.data.legs.map((l) => l.urn.split("::").pop() + " " + took(l.took)).join(" → ")}</>}</p>}
    <div class="split detailed wide">
      {painter && graph && <Canvas painter={painter} graph={graph} marks={marks} onChoose={(b) => setChosen(b?.id)} onOpen={(b) => b.kind === "folded" && unfold(b)} />}
      <section class="detail" aria-label="Chosen box">
        {box ? <><h2>{box.name}</h2><p class="dim">{box.detail}</p>
          {box.kind === "folded" && <p><button onClick={() => unfold(box)}>Unfold {count(box.rows?.length ?? 0, "resource")}</button></p>}
          {urn && <p><a href={link("s", project, name, "resources", urn)}>Open the resource</a></p>}
          {detail.data && <><p><span class="key needs" /> depends on {detail.data.needs?.length ?? 0}</p><p><span class="key breaks" /> {count(detail.data.breakCount, "resource")} would break if it went</p></>}
        </> : <p class="dim">Choose a box with a click, or with Enter the one in the middle. Arrow keys move the picture, + and − zoom, 0 shows all. Everything in it is also in <a href={link("s", project, name)}>the list of resources</a>.</p>}
      </section>
    </div>
  </>;
}

function Canvas({ painter, graph, marks, onChoose, onOpen }: { painter: Painter; graph: Graph; marks: Marks; onChoose: (b?: Box) => void; onOpen: (b: Box) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null), view = useRef<View>({ x: 0, y: 0, scale: 1 }), frame = useRef(0), last = useRef(marks);
  last.current = marks;
  const paint = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const e = canvas.current, c = e?.getContext("2d");
      if (!e || !c) return;
      const w = e.clientWidth, h = e.clientHeight;
      if (e.width !== Math.round(w * devicePixelRatio) || e.height !== Math.round(h * devicePixelRatio)) { e.width = Math.round(w * devicePixelRatio); e.height = Math.round(h * devicePixelRatio); }
      const began = performance.now();
      painter.draw(c, view.current, w, h, last.current);
      performance.measure("graph-frame", { start: began, end: performance.now() });
    });
  };
  const all = () => {
    const e = canvas.current!;
    const scale = Math.min(1, e.clientWidth / graph.w, e.clientHeight / graph.h);
    view.current = { scale, x: (e.clientWidth - graph.w * scale) / 2, y: (e.clientHeight - graph.h * scale) / 2 };
    paint();
  };
  useEffect(all, [painter]);
  useEffect(() => {
    const b = painter.box(marks.chosen), e = canvas.current;
    if (b && e) {
      const v = view.current, x = (b.x + b.w / 2) * v.scale + v.x, y = (b.y + b.h / 2) * v.scale + v.y;
      if (x < 0 || y < 0 || x > e.clientWidth || y > e.clientHeight) { v.scale = Math.max(v.scale, 0.6); v.x = e.clientWidth / 2 - (b.x + b.w / 2) * v.scale; v.y = e.clientHeight / 2 - (b.y + b.h / 2) * v.scale; }
    }
    paint();
  }, [marks]);
  useEffect(() => {
    const watch = new ResizeObserver(paint), scheme = matchMedia("(prefers-color-scheme: dark)");
    watch.observe(canvas.current!);
    scheme.addEventListener("change", paint);
    const theme = new MutationObserver(paint);
    theme.observe(document.documentElement, { attributes: true });
    return () => { watch.disconnect(); theme.disconnect(); scheme.removeEventListener("change", paint); cancelAnimationFrame(frame.current); };
  }, [painter]);
  const zoom = (by: number, x: number, y: number) => {
    const v = view.current, scale = Math.max(0.01, Math.min(4, v.scale * by)), real = scale / v.scale;
    view.current = { scale, x: x - (x - v.x) * real, y: y - (y - v.y) * real };
    paint();
  };
  const under = (x: number, y: number) => painter.at((x - view.current.x) / view.current.scale, (y - view.current.y) / view.current.scale);
  const drag = useRef<Map<number, { x: number; y: number }>>(new Map()), moved = useRef(false);
  const keys = (e: KeyboardEvent) => {
    const c = canvas.current!, v = view.current, w = c.clientWidth, h = c.clientHeight, step = 80;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => { v.x += step; }, ArrowRight: () => { v.x -= step; }, ArrowUp: () => { v.y += step; }, ArrowDown: () => { v.y -= step; },
      "+": () => zoom(1.3, w / 2, h / 2), "=": () => zoom(1.3, w / 2, h / 2), "-": () => zoom(1 / 1.3, w / 2, h / 2), "0": all,
      Enter: () => { const near = nearest(graph, (w / 2 - v.x) / v.scale, (h / 2 - v.y) / v.scale); if (near) onChoose(near); },
    };
    const move = moves[e.key];
    if (!move) return;
    e.preventDefault(); move(); paint();
  };
  return <canvas ref={canvas} tabIndex={0} role="application" aria-label={`Graph of ${graph.boxes.length} boxes: arrow keys move, plus and minus zoom, Enter chooses the box in the middle`}
    onWheel={(e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY); }} onKeyDown={keys}
    onPointerDown={(e) => { canvas.current!.setPointerCapture(e.pointerId); drag.current.set(e.pointerId, { x: e.offsetX, y: e.offsetY }); moved.current = false; }}
    onPointerMove={(e) => {
      const before = drag.current.get(e.pointerId);
      if (!before) return;
      const others = [...drag.current].filter(([id]) => id !== e.pointerId).map(([, p]) => p), v = view.current, other = others[0];
      if (other) zoom(Math.hypot(e.offsetX - other.x, e.offsetY - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y)), other.x, other.y);
      else { v.x += e.offsetX - before.x; v.y += e.offsetY - before.y; }
      if (Math.abs(e.offsetX - before.x) + Math.abs(e.offsetY - before.y) > 2) moved.current = true;
      drag.current.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      paint();
    }}
    onPointerUp={(e) => { drag.current.delete(e.pointerId); if (!moved.current) onChoose(under(e.offsetX, e.offsetY)); }}
    onPointerCancel={(e) => drag.current.delete(e.pointerId)}
    onDblClick={(e) => { const b = under(e.offsetX, e.offsetY); if (b) onOpen(b); }} />;
}

function nearest(graph: Graph, x: number, y: number): Box | undefined {
  let best: Box | undefined, least = Infinity;
  for (const b of graph.boxes) {
    const d = Math.hypot(b.x + b.w / 2 - x, b.y + b.h / 2 - y);
    if (b.kind !== "frame" && d < least) { best = b; least = d; }
  }
  return best;
}
