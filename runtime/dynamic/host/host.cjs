"use strict";
if (Number(process.versions.node.split(".")[0]) < 18) {
  process.stderr.write("dynamic providers need Node.js 18 or newer, this is " + process.versions.node + "\n");
  process.exit(3);
}
// Runs a dynamic provider. Requests come as lines of JSON on descriptor 3, answers go as lines on descriptor 4, or on
// pipes that the environment names; standard output and standard error are the author's. Requests overlap: each has a
// number, which its answer repeats.
const fs = require("fs");
const path = require("path");
const Module = require("module");
const { AsyncLocalStorage } = require("async_hooks");

const pipes = process.env.YAMLHOST_DYNAMIC_PIPES;
delete process.env.YAMLHOST_DYNAMIC_PIPES;
const requests = pipes ? fs.openSync(pipes + "-requests", "r") : 3;
const answers = pipes ? fs.openSync(pipes + "-answers", "w") : 4;

const calls = new AsyncLocalStorage();
const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const Unknown = Object.freeze({ toString: () => "<unknown>", toJSON: () => unknownText });
const maxAnswer = 64 << 20;

// write does not return before the line is on its way: code that never yields must not hold back what was said before it.
function write(text) {
  const bytes = Buffer.from(text + "\n");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(answers, bytes, at);
    } catch (e) {
      if (e.code !== "EAGAIN") throw e;
    }
  }
}
const send = (message) => write(JSON.stringify(message));

for (const level of ["log", "info", "debug", "warn", "error"]) {
  const format = require("util").format;
  console[level] = (...args) => {
    const severity = { warn: "warning", error: "error", debug: "debug" }[level] || "info";
    const call = calls.getStore();
    for (const line of format(...args).split("\n")) send({ n: call ? call.n : 0, log: line, severity });
  };
}

class Config {
  constructor(project, values) {
    Object.defineProperty(this, "project", { value: project });
    Object.defineProperty(this, "values", { value: values });
  }
  get(key) {
    const full = key.includes(":") ? key : this.project + ":" + key;
    return Object.prototype.hasOwnProperty.call(this.values, full) ? this.values[full] : undefined;
  }
  require(key) {
    const text = this.get(key);
    if (text === undefined) throw new Error(`missing required configuration key "${key}": run yamlhost config set ${key}`);
    return text;
  }
  getNumber(key) { const text = this.get(key); return text === undefined ? undefined : Number(text); }
  getBoolean(key) { const text = this.get(key); return text === undefined ? undefined : text === "true"; }
  getObject(key) { const text = this.get(key); return text === undefined ? undefined : JSON.parse(text); }
  requireNumber(key) { return Number(this.require(key)); }
  requireBoolean(key) { return this.require(key) === "true"; }
  requireObject(key) { return JSON.parse(this.require(key)); }
}

const methods = ["check", "diff", "create", "read", "update", "delete"];
const providers = new Map(); // by the name of the export
let exported, file;

function load(args) {
  file = args.file;
  const name = path.resolve(file);
  const module = new Module(name, null);
  module.filename = name;
  module.paths = Module._nodeModulePaths(path.dirname(name));
  module._compile(args.code, name);
  exported = module.exports;
}

function pick(name) {
  if (name) {
    if (exported[name] === undefined) throw new Error(`${file} exports no ${name}`);
    return exported[name];
  }
  if (exported.default !== undefined) return exported.default;
  if (exported.__esModule) throw new Error(`${file} has no default export: write "export default" before the provider`);
  return exported;
}

async function configure(args) {
  let provider = pick(args.export);
  if (typeof provider === "function") {
    provider = provider.prototype && provider.prototype.constructor === provider ? new provider() : await provider();
  }
  if (provider === null || typeof provider !== "object" || typeof provider.create !== "function") {
    throw new Error(`${file} exports no provider: it needs a method create`);
  }
  if (typeof provider.configure === "function") {
    await provider.configure({ config: new Config(args.project, args.config), project: args.project, stack: args.stack });
  }
  providers.set(args.export || "", provider);
  return { methods: [...methods, "configure"].filter((m) => typeof provider[m] === "function"), others: others(provider),
    preview: provider.preview === true };
}

// others are the names of the provider's functions that no request is for.
function others(provider) {
  const names = new Set();
  for (let at = provider; at && at !== Object.prototype && at !== Function.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const field = Object.getOwnPropertyDescriptor(at, name);
      if (typeof field.value === "function" && name !== "constructor") names.add(name);
    }
  }
  return [...names].filter((name) => !methods.includes(name) && name !== "configure");
}

// known puts the exported object Unknown where the engine does not know a value yet.
function known(v) {
  if (v === unknownText) return Unknown;
  if (Array.isArray(v)) return v.map(known);
  if (v && typeof v === "object") return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, known(x)]));
  return v;
}

async function run(request) {
  const { m, a } = request;
  if (m === "load") return load(a);
  if (m === "configure") return configure(a);
  const p = providers.get(a.export || "");
  const more = a.preview ? [{ preview: true }] : [];
  switch (m) {
    case "check": return p.check(known(a.olds), known(a.news));
    case "diff": return p.diff(a.id, a.olds, known(a.news));
    case "create": return p.create(known(a.inputs), ...more);
    case "update": return p.update(a.id, a.olds, known(a.news), ...more);
    case "read": return p.read(a.id, a.props);
    case "delete": await p.delete(a.id, a.props); return null;
  }
  throw new Error("unknown method " + m);
}

function failure(n, e) {
  const answer = { n, error: e && e.message !== undefined ? String(e.message) : String(e) };
  if (e && typeof e.stack === "string") answer.stack = e.stack;
  if (e && typeof e === "object") {
    if (e.id !== undefined) answer.id = String(e.id);
    if (e.properties !== undefined) answer.properties = e.properties;
    if (Array.isArray(e.reasons)) answer.reasons = e.reasons.map(String);
  }
  return answer;
}

function finish(call, answer) {
  if (call.done) return;
  call.done = true;
  let text;
  try {
    text = JSON.stringify(answer, (k, v) => (typeof v === "bigint" ? Number(v) : v));
    if (Buffer.byteLength(text) > maxAnswer) throw new Error("the answer is larger than 64 MiB");
  } catch (e) {
    text = JSON.stringify({ n: answer.n, error: "the answer is no JSON: " + e.message, bad: true });
  }
  write(text);
}

// A call that would end the process, or that fails behind the back of its promise, fails alone.
const exit = process.exit;
process.exit = (code) => {
  const call = calls.getStore();
  if (!call) exit(code);
  const e = new Error(`the code called process.exit(${code === undefined ? "" : code})`);
  finish(call, failure(call.n, e));
  throw e;
};
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (e) => {
    const call = calls.getStore();
    if (call) return finish(call, failure(call.n, e));
    fs.writeSync(2, String((e && e.stack) || e) + "\n");
    exit(1);
  });
}

function begin(request) {
  const call = { n: request.n, done: false };
  send({ n: request.n, begun: true });
  calls.run(call, async () => {
    try {
      const ok = await run(request);
      finish(call, { n: request.n, ok: ok === undefined ? null : ok });
    } catch (e) {
      finish(call, failure(request.n, e));
    }
  });
}

let rest = [];
const input = fs.createReadStream(null, { fd: requests });
input.on("data", (chunk) => {
  let from = 0;
  for (let at; (at = chunk.indexOf(10, from)) >= 0; from = at + 1) {
    rest.push(chunk.subarray(from, at));
    begin(JSON.parse(Buffer.concat(rest).toString("utf8")));
    rest = [];
  }
  if (from < chunk.length) rest.push(chunk.subarray(from));
});
input.on("end", () => exit(0));
input.on("error", () => exit(0));
