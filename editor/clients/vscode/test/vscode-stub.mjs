// A stub of the editor: as much of the module vscode as the client library needs to speak to a server, and what a test looks at.
import { pathToFileURL, fileURLToPath } from "node:url";

class Disposable {
  constructor(dispose) { this.dispose = dispose ?? (() => {}); }
  static from(...all) { return new Disposable(() => all.forEach((d) => d.dispose())); }
}

class EventEmitter {
  listeners = new Set();
  event = (listener, self, disposables) => {
    const bound = self ? listener.bind(self) : listener;
    this.listeners.add(bound);
    const disposable = new Disposable(() => this.listeners.delete(bound));
    disposables?.push(disposable);
    return disposable;
  };
  fire(value) { this.listeners.forEach((l) => l(value)); }
  dispose() { this.listeners.clear(); }
}

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
  isBefore(o) { return this.line < o.line || this.line === o.line && this.character < o.character; }
}

class Range {
  constructor(a, b, c, d) {
    this.start = a instanceof Position ? a : new Position(a, b);
    this.end = a instanceof Position ? b : new Position(c, d);
  }
}

class Uri {
  constructor(href) { this.href = href; const u = new URL(href); this.scheme = u.protocol.slice(0, -1); this.path = u.pathname; this.authority = u.host; this.query = ""; this.fragment = ""; }
  get fsPath() { return fileURLToPath(this.href); }
  toString() { return this.href; }
  with() { return this; }
  static parse(href) { return new Uri(href); }
  static file(path) { return new Uri(pathToFileURL(path).href); }
}

class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}

class CancellationTokenSource {
  emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  cancel() { this.token.isCancellationRequested = true; this.emitter.fire(); }
  dispose() {}
}

class RelativePattern {
  constructor(base, pattern) { Object.assign(this, { base, pattern }); }
}

// named are classes and enumerations that the library only names or makes subclasses of.
const named = ["CallHierarchyItem", "CodeAction", "CodeLens", "CompletionItem", "CompletionItemKind", "CompletionList", "DocumentLink",
  "DocumentSymbol", "InlayHint", "InlayHintKind", "Location", "MarkdownString", "SemanticTokens", "SymbolInformation", "SymbolKind",
  "TypeHierarchyItem", "WorkspaceEdit", "WorkspaceSymbol", "TabInputText", "TabInputNotebook", "TabInputCustom", "TabInputTextDiff",
  "TabInputNotebookDiff", "InlineCompletionItem", "InlineCompletionList"];

function kind(value) { return { value, append: (more) => kind(`${value}.${more}`) }; }

function complete(api) {
  for (const name of named) {
    api[name] ??= class { constructor(...all) { this.all = all; } };
  }
  return api;
}

export function stub({ path, file, program, trusted }) {
  const s = { commands: new Map(), panels: [], documents: [], messages: [], trusted };
  const never = new EventEmitter().event;
  const disposable = () => new Disposable();
  const lines = program.split("\n");
  const document = {
    uri: Uri.file(file), fileName: file, languageId: "yamlhost", version: 1, isClosed: false, isDirty: false, lineCount: lines.length,
    getText: () => program, lineAt: (n) => ({ text: lines[n] }),
  };
  let told;
  let tell = () => {};
  const first = new Promise((resolve) => { tell = resolve; });
  const collection = {
    name: "yamlhost", clear() {}, delete() {}, dispose() {}, forEach() {}, get: () => told, has: () => false,
    set(uri, list) {
      if (String(uri) === String(document.uri) && list?.length) {
        told = list;
        tell(list);
      }
    },
  };
  s.diagnostics = () => first;
  const settings = { path };
  const output = { append() {}, appendLine() {}, clear() {}, show() {}, hide() {}, dispose() {}, replace() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {}, logLevel: 0, onDidChangeLogLevel: never };
  const say = async (text) => { s.messages.push(text); };
  const languages = new Proxy({
    createDiagnosticCollection: () => collection,
    match: (selector, doc) => (Array.isArray(selector) ? selector : [selector]).some((f) => f === doc.languageId || f.language === doc.languageId) ? 10 : 0,
  }, { get: (target, name) => target[name] ?? disposable });
  s.api = complete({
    Disposable, EventEmitter, Position, Range, Uri, Diagnostic, CancellationTokenSource, RelativePattern, languages,
    CancellationError: class extends Error {},
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 }, DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
    ViewColumn: { Beside: -2 }, ProgressLocation: { Notification: 15, Window: 10 }, TextDocumentSaveReason: {}, ConfigurationTarget: {},
    LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
    CodeActionKind: Object.fromEntries(["Empty", "QuickFix", "Refactor", "RefactorExtract", "RefactorInline", "RefactorRewrite", "RefactorMove", "Source", "SourceOrganizeImports", "SourceFixAll", "Notebook"].map((name) => [name, kind(name)])), UIKind: { Desktop: 1 },
    version: "1.100.0",
    env: { language: "en", appName: "stub", clipboard: {}, openExternal: async () => false, isTelemetryEnabled: false, onDidChangeLogLevel: never, logLevel: 0 },
    extensions: { getExtension: () => undefined, all: [], onDidChange: never },
    workspace: new Proxy({
      get isTrusted() { return s.trusted; },
      textDocuments: [document], notebookDocuments: [], workspaceFolders: undefined, name: "stub",
      getConfiguration: (section) => ({ get: (name, otherwise) => (section === "yamlhost" && name in settings ? settings[name] : otherwise), has: () => false, inspect: () => undefined, update: async () => {} }),
      createFileSystemWatcher: () => ({ onDidCreate: never, onDidChange: never, onDidDelete: never, dispose() {} }),
      getWorkspaceFolder: () => undefined, asRelativePath: (p) => p, applyEdit: async () => true,
      registerTextDocumentContentProvider: disposable,
      openTextDocument: async (options) => { s.documents.push(options); return options; },
      fs: {},
    }, { get: (target, name) => (name in target ? target[name] : String(name).startsWith("on") ? never : disposable) }),
    window: new Proxy({
      activeTextEditor: { document, selection: {} }, visibleTextEditors: [{ document }],
      tabGroups: { all: [], onDidChangeTabs: never, onDidChangeTabGroups: never, close: async () => {} },
      createOutputChannel: () => output, createTextEditorDecorationType: disposable,
      showInformationMessage: say, showErrorMessage: say, showWarningMessage: say,
      createWebviewPanel: () => { const panel = { webview: { html: "" }, dispose() {} }; s.panels.push(panel); return panel; },
      showTextDocument: async () => {}, withProgress: (_, task) => task({ report() {} }, new CancellationTokenSource().token),
    }, { get: (target, name) => (name in target ? target[name] : String(name).startsWith("on") ? never : disposable) }),
    commands: { registerCommand: (name, run) => { s.commands.set(name, run); return new Disposable(() => s.commands.delete(name)); }, executeCommand: async () => {} },
    lm: {}, notebooks: {}, debug: {}, tasks: {}, tests: {},
  });
  return s;
}
