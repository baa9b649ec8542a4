package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Requests that are handled in the order of messages, and the notification that cancels a request.
const (
	initialize = "initialize"
	shutdown   = "shutdown"
	cancel     = "$/cancelRequest"
)

// answers returns the handlers of all supported methods.
func (s *server) answers() map[string]answer {
	// Answers that need offsets of the text take open files only; the rest also serve files on disk.
	open := func(handle textAnswer) answer { return request(s.whenOpen(handle)) }
	return map[string]answer{
		initialize: request(s.initialize),
		// The server has no state to save on shutdown.
		shutdown: request(func(context.Context, *protocol.None) (any, error) { return nil, nil }),
		"exit":   notice(func(*protocol.None) { s.exit() }),

		"textDocument/didOpen":            notice(s.didOpen),
		"textDocument/didChange":          notice(s.didChange),
		"textDocument/didSave":            notice(s.filesChanged),
		"textDocument/didClose":           notice(s.didClose),
		"workspace/didChangeWatchedFiles": notice(s.filesChanged),

		"textDocument/codeAction":                open(s.codeActions),
		"textDocument/codeLens":                  request(s.onFile(codeLenses)),
		"textDocument/completion":                open(s.completion),
		"completionItem/resolve":                 request(s.resolveCompletion),
		"textDocument/definition":                open(definition),
		"textDocument/diagnostic":                request(s.onFile(diagnostics)),
		"textDocument/documentHighlight":         open(highlights),
		"textDocument/documentLink":              request(s.onFile(documentLinks)),
		"textDocument/documentSymbol":            request(s.onFile(documentSymbols)),
		"textDocument/foldingRange":              request(s.onFile(foldingRanges)),
		"textDocument/formatting":                request(s.onFile(formatting)),
		"textDocument/hover":                     open(hover),
		"textDocument/inlayHint":                 open(inlayHints),
		"textDocument/linkedEditingRange":        open(linkedRanges),
		"textDocument/onTypeFormatting":          open(onTypeFormatting),
		"textDocument/prepareCallHierarchy":      open(prepareHierarchy),
		"callHierarchy/incomingCalls":            s.calls("from", editor.NeededBy),
		"callHierarchy/outgoingCalls":            s.calls("to", editor.Needs),
		"textDocument/prepareRename":             open(prepareRename),
		"textDocument/rangeFormatting":           open(rangeFormatting),
		"textDocument/references":                open(references),
		"textDocument/rename":                    open(rename),
		"textDocument/selectionRange":            open(selectionRanges),
		"textDocument/semanticTokens/full":       open(s.allTokens),
		"textDocument/semanticTokens/full/delta": open(s.changedTokens),
		"textDocument/semanticTokens/range":      open(someTokens),
		"textDocument/signatureHelp":             open(signatureHelp),
		"textDocument/typeDefinition":            open(typeDefinition),
		"workspace/diagnostic":                   request(s.workspaceDiagnostics),
		"workspace/executeCommand":               request(s.executeCommand),
		"workspace/symbol":                       request(s.workspaceSymbols),
		"workspace/willRenameFiles":              request(s.willRenameFiles),
	}
}

// answer decodes the parameters of a message and handles it.
type answer func(ctx context.Context, params json.RawMessage) (any, error)

// request returns the answer that decodes parameters of type P for a handler.
func request[P any](handle func(context.Context, *P) (any, error)) answer {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		if len(params) > 0 {
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, protocol.Errorf(protocol.InvalidParams, "%v", err)
			}
		}
		return handle(ctx, &p)
	}
}

// notice returns the answer to a notification.
func notice[P any](handle func(*P)) answer {
	return request(func(_ context.Context, params *P) (any, error) {
		handle(params)
		return nil, nil
	})
}

// text is a request about a file, with its parameters.
type text struct {
	*protocol.TextParams
	snapshot *editor.Snapshot
	path     string
	src      *diag.Source // nil if the file is not open
	e        encoding
}

// offset returns the byte offset of the request's position. The file must be open.
func (t text) offset() int { return t.e.offset(t.src, t.Position) }

// selection returns the byte offsets of the request's range. The file must be open.
func (t text) selection() (start, end int) {
	return t.e.offset(t.src, t.Range.Start), t.e.offset(t.src, t.Range.End)
}

// textAnswer handles a request about a text. An error other than *protocol.Error becomes an empty answer, since
// diagnostics report programs that cannot be read.
type textAnswer func(ctx context.Context, t text) (any, error)

// onFile adapts a handler for any file.
func (s *server) onFile(handle textAnswer) func(context.Context, *protocol.TextParams) (any, error) {
	return func(ctx context.Context, params *protocol.TextParams) (any, error) {
		t := text{TextParams: params, snapshot: snapshotOf(ctx), path: pathOf(params.TextDocument.URI), e: s.encoding()}
		if document := t.snapshot.Text(t.path); document != nil {
			t.src = document.Source()
		}
		result, err := handle(ctx, t)
		// Of other errors only a cancellation is an answer; without one, ctx.Err is nil and the answer is empty.
		if _, told := errors.AsType[*protocol.Error](err); err != nil && !told {
			return nil, ctx.Err()
		}
		return result, err
	}
}

// whenOpen adapts a handler for open files. The answer for other files is empty.
func (s *server) whenOpen(handle textAnswer) func(context.Context, *protocol.TextParams) (any, error) {
	return s.onFile(func(ctx context.Context, t text) (any, error) {
		if t.src == nil {
			return nil, nil
		}
		return handle(ctx, t)
	})
}

// each applies fn to each item. The result is not nil, so that it encodes as a JSON list even if it is empty.
func each[T, R any](items []T, fn func(T) R) []R {
	list := make([]R, len(items))
	for i, item := range items {
		list[i] = fn(item)
	}
	return list
}

// snapshotKey is the key of a request's snapshot in its context.
type snapshotKey struct{}

// snapshotOf returns the snapshot for a request, taken when it arrived.
func snapshotOf(ctx context.Context) *editor.Snapshot {
	snapshot, _ := ctx.Value(snapshotKey{}).(*editor.Snapshot)
	return snapshot
}

// requests handles messages. Notifications run one at a time in the order of arrival. Each request runs in a goroutine
// with the snapshot at its arrival, until it is done or the client cancels it. The order matters for notifications
// only: an edit must be applied before the next request is read, so that the snapshot of that request has it.
type requests struct {
	conn    *protocol.Connection
	answers map[string]answer
	session *editor.Session

	done    sync.WaitGroup
	mu      sync.Mutex
	running map[string]func() // cancel functions of running requests, by ID; guarded by mu
}

// serve handles messages until reading or replying fails or ctx is done.
func (r *requests) serve(ctx context.Context) error {
	for ctx.Err() == nil {
		m, err := r.conn.Read()
		// A message that cannot be read has no ID that could be trusted, and the connection goes on.
		if bad, ok := errors.AsType[*protocol.Error](err); ok {
			err = r.conn.Reply(nil, nil, bad)
		} else if err == nil {
			r.take(ctx, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take handles a message, or starts a goroutine that does. initialize is answered at once because everything behind it
// depends on what the client can do.
func (r *requests) take(ctx context.Context, m protocol.Message) {
	answer, known := r.answers[m.Method]
	switch {
	case m.Method == cancel:
		r.cancel(m.Params)
	case m.Method == "": // a reply, but the server sends no requests
	case m.ID == nil && known:
		_, _ = answer(ctx, m.Params) // notifications have no reply for an error
	case m.ID == nil:
	case !known:
		_ = r.conn.Reply(m.ID, nil, protocol.Errorf(protocol.MethodNotFound, "there is no method %s", m.Method))
	case m.Method == initialize || m.Method == shutdown:
		result, err := answer(ctx, m.Params)
		_ = r.conn.Reply(m.ID, result, err)
	default:
		r.begin(ctx, m, answer)
	}
}

// begin answers a request in a goroutine. The snapshot is taken here, in the goroutine that reads messages, and not in
// the new one.
func (r *requests) begin(ctx context.Context, m protocol.Message, answer answer) {
	ctx, stop := context.WithCancel(context.WithValue(ctx, snapshotKey{}, r.session.Snapshot()))
	id := string(m.ID)
	r.mu.Lock()
	r.running[id] = stop
	r.mu.Unlock()
	r.done.Go(func() {
		defer stop()
		result, err := answer(ctx, m.Params)
		r.mu.Lock()
		delete(r.running, id)
		r.mu.Unlock()
		_ = r.conn.Reply(m.ID, result, err)
	})
}

// cancel cancels a request. Its answer is still sent, as the protocol requires one for each.
func (r *requests) cancel(params json.RawMessage) {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &asked) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if stop := r.running[string(asked.ID)]; stop != nil {
		stop()
	}
}
