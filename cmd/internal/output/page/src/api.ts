// Requests to the server, and the shapes of its answers. Values of states are unknown: Value looks at what they are.

export interface Lock { who: string; pid: number; since: string; owner?: string; tool: string }
export interface Operation {
  stamp: string; kind: string; result: string; message?: string; start: number; end: number; took?: number; who?: string; tool?: string;
  changes?: Record<string, number>; origin?: Record<string, string>;
}
export interface Summary {
  project: string; stack: string; resources: number; pending: number; updated?: string; last?: Operation; locks?: Lock[];
  drift?: { at: string; found: number }; error?: string;
}
export interface Overview { backend: string; version: string; project?: string; stacks: Summary[] }
export interface Row { n: string; q: number; p: number; s?: string; d?: number[]; c?: boolean }
export interface Pending { urn: string; kind: string }
export interface Table {
  revision: string; prefix: string; types: string[]; rows: Row[]; order: number[]; locks?: Lock[]; pending?: Pending[]; inFlight?: Pending[];
  running?: string; since?: string; owned: boolean;
}
export interface Link { urn: string; via?: string[] }
export interface Change { path: string; old?: unknown; new?: unknown }
// Because is one link of a chain of causes; the root comes first.
export interface Because { place?: { file: string; line: number }; kind: string; path?: string; text: string }
export interface Detail {
  urn: string; type: string; id?: string; parent?: string; provider?: string; status?: string; created?: string;
  modified?: string; inputs: unknown; outputs: unknown; options?: { name: string; value: string }[]; initErrors?: string[];
  needs?: Link[]; needed?: Link[]; breaks?: string[]; breakCount: number;
  source?: { file: string; line: number; first: number; lines: string[] };
}
export interface ResourcePast { operations: (Omit<Operation, "changes"> & { what: string; changes?: Change[]; because?: Because[][] })[]; looked: number; all: number; more?: boolean }
export interface Setting { key: string; value?: unknown; secret?: boolean }
export interface StateDiff { resources: { urn: string; what: string; changes?: Change[] }[]; same: number; left?: number }
export interface Hits { hits: { stack: string; urn: string; where?: string }[]; more?: boolean; faults?: string[] }
export interface Box { id: string; name: string; detail?: string; kind: string; rows?: number[]; x: number; y: number; w: number; h: number }
export interface Line { from: string; to: string; coarse?: boolean; points: number[] }
export interface Graph { revision: string; boxes: Box[]; lines: Line[]; w: number; h: number }
export interface Event {
  t: number; k: "start" | "done" | "outputs" | "fail" | "log" | "policy" | "end"; u?: string; a?: string; o?: string; x?: string;
  s?: string; p?: string; c?: Record<string, number>; n?: number; d?: number;
}
export interface Run {
  id: string; project: string; stack: string; command: string; planning?: boolean; began: string; pid: number; user?: string;
  host?: string; end?: Event; running: boolean;
}
export interface Critical { run?: string; took: number; legs: { urn: string; took: number; start: number }[]; why?: string }

export class Refused extends Error {
  constructor(readonly status: number, text: string) { super(text); }
}

let token = "";

async function send<T>(path: string, init: RequestInit): Promise<T> {
  const answer = await fetch("/api/" + path, { ...init, headers: { ...init.headers, Authorization: "Bearer " + token } })
    .catch(() => { throw new Refused(0, "yamlhost ui does not answer: it has ended, or it is busy"); });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.ok) return body as T;
  const text = body && typeof body === "object" && "error" in body ? String(body.error) : answer.statusText;
  throw new Refused(answer.status, text);
}

export const get = <T,>(path: string, params: Record<string, string> = {}) =>
  send<T>(path + "?" + new URLSearchParams(params), {});

export const post = <T,>(path: string, body: unknown) =>
  send<T>(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

// enter takes the token out of the link, where nobody who looks at the screen or the history finds it any more. Without
// one in the link, it is what this tab has had, or what another tab with the page gives: a link may be opened in a new one.
export async function enter(): Promise<void> {
  const link = new URLSearchParams(location.hash.slice(1));
  const given = link.get("token"), once = link.get("once");
  if (given || once) history.replaceState(null, "", "/#/");
  if (once) token = (await post<{ token: string }>("enter", { once })).token;
  else token = given ?? sessionStorage.getItem("token") ?? await fromOtherTab();
  sessionStorage.setItem("token", token);
}

const tabs = new BroadcastChannel("yamlhost");
tabs.addEventListener("message", (e) => { if (e.data === "token?" && token) tabs.postMessage({ token }); });

function fromOtherTab(): Promise<string> {
  return new Promise((resolve) => {
    tabs.addEventListener("message", (e) => { if (typeof e.data?.token === "string") resolve(e.data.token); });
    tabs.postMessage("token?");
    setTimeout(() => resolve(""), 300);
  });
}

// Names of URNs, urn:pulumi:<stack>::<project>::<qualified type>::<name>.
export const nameOf = (urn: string) => urn.split("::").slice(3).join("::");
export const typeOf = (urn: string) => (urn.split("::")[2] ?? "").split("$").pop() ?? "";
// shortType is a type as programs write it: aws:s3:Bucket for aws:s3/bucket:Bucket, random:RandomPet without its index,
// and kubernetes:core/v1:Pod as it is.
export const shortType = (type: string) => type === "pulumi:pulumi:Stack" ? "stack" :
  type.replace(/\/([^:/]*):([^:]*)$/, (all, file, name) => file.toLowerCase() === name.toLowerCase() ? ":" + name : all).replace(/:index:/, ":");
export const packageOf = (type: string) => type.startsWith("pulumi:providers:") ? type.slice(17) : type.split(":")[0] ?? "";
