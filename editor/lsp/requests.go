package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// The methods that are handled in the order of the messages although they are requests, and the one that ends others.
const (
	initialize = "initialize"
	shutdown   = "shutdown"
	cancel     = "$/cancelRequest"
)

// answers are the methods that the server knows.
func (s *server) answers() map[string]answer {
	return map[string]answer{
		initialize: request(s.Initialize),
		shutdown:   request(s.Shutdown),
		"exit":     notice(s.Exit),

		"textDocument/didOpen":            notice(s.DidOpen),
		"textDocument/didChange":          notice(s.DidChange),
		"textDocument/didSave":            notice(s.DidSave),
		"textDocument/didClose":           notice(s.DidClose),
		"workspace/didChangeWatchedFiles": notice(s.DidChangeWatchedFiles),

		"textDocument/codeAction":                request(s.CodeAction),
		"textDocument/codeLens":                  request(s.CodeLens),
		"textDocument/completion":                request(s.Completion),
		"completionItem/resolve":                 request(s.CompletionResolve),
		"textDocument/definition":                request(s.Definition),
		"textDocument/diagnostic":                request(s.Diagnostic),
		"textDocument/documentHighlight":         request(s.DocumentHighlight),
		"textDocument/documentLink":              request(s.DocumentLink),
		"textDocument/documentSymbol":            request(s.DocumentSymbol),
		"textDocument/foldingRange":              request(s.FoldingRanges),
		"textDocument/formatting":                request(s.Formatting),
		"textDocument/hover":                     request(s.Hover),
		"textDocument/inlayHint":                 request(s.InlayHint),
		"textDocument/linkedEditingRange":        request(s.LinkedEditingRange),
		"textDocument/onTypeFormatting":          request(s.OnTypeFormatting),
		"textDocument/prepareCallHierarchy":      request(s.PrepareCallHierarchy),
		"callHierarchy/incomingCalls":            request(s.IncomingCalls),
		"callHierarchy/outgoingCalls":            request(s.OutgoingCalls),
		"textDocument/prepareRename":             request(s.PrepareRename),
		"textDocument/rangeFormatting":           request(s.RangeFormatting),
		"textDocument/references":                request(s.References),
		"textDocument/rename":                    request(s.Rename),
		"textDocument/selectionRange":            request(s.SelectionRange),
		"textDocument/semanticTokens/full":       request(s.SemanticTokensFull),
		"textDocument/semanticTokens/full/delta": request(s.SemanticTokensFullDelta),
		"textDocument/semanticTokens/range":      request(s.SemanticTokensRange),
		"textDocument/signatureHelp":             request(s.SignatureHelp),
		"textDocument/typeDefinition":            request(s.TypeDefinition),
		"workspace/diagnostic":                   request(s.DiagnosticWorkspace),
		"workspace/executeCommand":               request(s.ExecuteCommand),
		"workspace/symbol":                       request(s.Symbols),
		"workspace/willRenameFiles":              request(s.WillRenameFiles),
	}
}

// answer reads the parameters of a message, and handles it.
type answer func(ctx context.Context, params json.RawMessage) (any, error)

// request is the answer to a request.
func request[P, R any](handle func(context.Context, *P) (R, error)) answer {
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
func notice[P any](handle func(context.Context, *P) error) answer {
	return request(func(ctx context.Context, params *P) (any, error) { return nil, handle(ctx, params) })
}

type momentKey struct{}

// moment is the snapshot that a request is answered from.
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

func newRequests(conn *protocol.Connection, session *editor.Session, answers map[string]answer) *requests {
	return &requests{conn: conn, answers: answers, session: session, running: map[string]func(){}}
}

// wait waits for the requests that are being answered.
func (r *requests) wait() { r.done.Wait() }

// serve handles messages until there are no more, or ctx is done.
func (r *requests) serve(ctx context.Context) error {
	for ctx.Err() == nil {
		m, err := r.conn.Read()
		var bad *protocol.Error
		if errors.As(err, &bad) {
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
