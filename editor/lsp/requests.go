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

// The methods that are handled in the order of the messages although they are requests, and the one that ends others.
const (
	initialize = "initialize"
	shutdown   = "shutdown"
	cancel     = "$/cancelRequest"
)

// answers returns the methods that the server knows.
func (s *server) answers() map[string]answer {
	open := func(handle textAnswer) answer { return request(s.whenOpen(handle)) }
	return map[string]answer{
		initialize: request(s.initialize),
		// The server has nothing to write when it is asked to end.
		shutdown: request(func(context.Context, *protocol.None) (any, error) { return nil, nil }),
		"exit":   notice(func(*protocol.None) { s.exit() }),

		"textDocument/didOpen":            notice(s.didOpen),
		"textDocument/didChange":          notice(s.didChange),
		"textDocument/didSave":            notice(s.filesChanged),
		"textDocument/didClose":           notice(s.didClose),
		"workspace/didChangeWatchedFiles": notice(s.filesChanged),

		"textDocument/codeAction":                open(s.codeActions),
		"textDocument/codeLens":                  request(s.about(codeLenses)),
		"textDocument/completion":                open(s.completion),
		"completionItem/resolve":                 request(s.resolveCompletion),
		"textDocument/definition":                open(definition),
		"textDocument/diagnostic":                request(s.about(diagnostics)),
		"textDocument/documentHighlight":         open(highlights),
		"textDocument/documentLink":              request(s.about(documentLinks)),
		"textDocument/documentSymbol":            request(s.about(documentSymbols)),
		"textDocument/foldingRange":              request(s.about(foldingRanges)),
		"textDocument/formatting":                request(s.about(formatting)),
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

// answer reads the parameters of a message, and handles it.
type answer func(ctx context.Context, params json.RawMessage) (any, error)

// request returns the answer to a request.
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

// notice handles a notification.
func notice[P any](handle func(*P)) answer {
	return request(func(_ context.Context, params *P) (any, error) {
		handle(params)
		return nil, nil
	})
}

// text is the file that a request is about, and what it asks.
type text struct {
	*protocol.TextParams
	snapshot *editor.Snapshot
	path     string
	src      *diag.Source // nil for a file that is not open
	e        encoding
}

func (t text) offset() int { return t.e.offset(t.src, t.Position) }

func (t text) stretch() (start, end int) {
	return t.e.offset(t.src, t.Range.Start), t.e.offset(t.src, t.Range.End)
}

// textAnswer is the answer to a request about a text. An error that is none of the protocol means that there is no
// answer: diagnostics say what is wrong with a program that cannot be read.
type textAnswer func(ctx context.Context, t text) (any, error)

// about handles a request about any file, whenOpen one that has no answer for a file that is not open.
func (s *server) about(handle textAnswer) func(context.Context, *protocol.TextParams) (any, error) {
	return func(ctx context.Context, params *protocol.TextParams) (any, error) {
		t := text{TextParams: params, snapshot: moment(ctx), path: pathOf(params.TextDocument.URI), e: s.encoding()}
		if document := t.snapshot.Text(t.path); document != nil {
			t.src = document.Source()
		}
		result, err := handle(ctx, t)
		if _, told := errors.AsType[*protocol.Error](err); err != nil && !told {
			return nil, ctx.Err()
		}
		return result, err
	}
}

func (s *server) whenOpen(handle textAnswer) func(context.Context, *protocol.TextParams) (any, error) {
	return s.about(func(ctx context.Context, t text) (any, error) {
		if t.src == nil {
			return nil, nil
		}
		return handle(ctx, t)
	})
}

// each returns what fn makes of each item; JSON has an empty list for none.
func each[T, R any](items []T, fn func(T) R) []R {
	list := make([]R, len(items))
	for i, item := range items {
		list[i] = fn(item)
	}
	return list
}

type momentKey struct{}

// moment returns the snapshot that a request is answered from.
func moment(ctx context.Context) *editor.Snapshot {
	snapshot, _ := ctx.Value(momentKey{}).(*editor.Snapshot)
	return snapshot
}

// requests handles notifications one after the other, in the order in which they come, and requests beside them: each
// answers from the snapshot of the moment at which it came, and ends when the editor cancels it.
type requests struct {
	conn    *protocol.Connection
	answers map[string]answer
	session *editor.Session

	done    sync.WaitGroup
	mu      sync.Mutex
	running map[string]func() // what cancels a request, by its ID; guarded by mu
}

// serve handles messages until there are no more, or ctx is done.
func (r *requests) serve(ctx context.Context) error {
	for ctx.Err() == nil {
		m, err := r.conn.Read()
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

// take handles a message, or has it handled.
func (r *requests) take(ctx context.Context, m protocol.Message) {
	answer, known := r.answers[m.Method]
	switch {
	case m.Method == cancel:
		r.cancel(m.Params)
	case m.Method == "": // an answer, though the server asks nothing
	case m.ID == nil && known:
		_, _ = answer(ctx, m.Params) // nobody waits for what is wrong with it
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

// begin answers a request in a goroutine.
func (r *requests) begin(ctx context.Context, m protocol.Message, answer answer) {
	ctx, stop := context.WithCancel(context.WithValue(ctx, momentKey{}, r.session.Snapshot()))
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
