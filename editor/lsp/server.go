// Package lsp speaks the Language Server Protocol, version 3.18, over package editor. It owns positions, capabilities,
// the order of messages and cancelling, and knows nothing of programs. It is the only package that imports the library
// of the protocol.
package lsp

import (
	"context"
	"errors"
	"io"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/parser"
)

// Options are what a server can do besides answering about texts.
type Options struct {
	Version string // of the program
	// Graph draws a program, as SVG; nil where nobody draws.
	Graph func(out io.Writer, p *editor.Program) error
	// Plan is a preview of the stack that is selected, as text, of the project on disk that a file belongs to; nil where
	// nobody plans. It is called only when the client has said that it trusts the workspace, and a person asks for it.
	Plan func(ctx context.Context, path string) (string, error)
	// Programs are the absolute paths of the programs in a folder, at any depth; nil where nobody looks for them.
	Programs func(folder string) []string
	// Rest is called when nothing has changed for a while, beside all else; nil for nothing.
	Rest func()
}

// Serve answers an editor until it says exit, or closes its end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, session *editor.Session, options Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(&pipe{in, out}), jsonrpc2.WithCodec(codec{}))
	s := &server{session: session, client: protocol.ClientDispatcher(conn), options: options, exit: stop}
	s.publisher = newPublisher(ctx, s)
	conn.Go(ctx, s.ordered(ctx, protocol.ServerHandler(s, jsonrpc2.MethodNotFoundHandler)))
	select {
	case <-ctx.Done():
	case <-conn.Done():
	}
	stop()
	s.publisher.wait()
	err := conn.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled) {
		err = nil
	}
	if !s.stopped() && err == nil && ctx.Err() == nil {
		return io.ErrUnexpectedEOF
	}
	return nil
}

type pipe struct {
	io.Reader
	io.Writer
}

func (p *pipe) Close() error {
	if c, ok := p.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// codec reads and writes messages as the protocol's own types want it.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) { return protocol.Marshal(v) }

func (codec) Unmarshal(data []byte, v any) error { return protocol.Unmarshal(data, v) }

type server struct {
	protocol.UnimplementedServer
	session   *editor.Session
	client    protocol.Client
	publisher *publisher
	options   Options
	exit      func()
	tokens    sentTokens
	lists     sentLists

	mu        sync.Mutex
	positions encoding         // guarded by mu, as all that follows
	versions  map[string]int32 // of the texts that are open, by path
	pulls     bool             // the client asks for diagnostics itself
	down      bool             // shutdown has been asked for
	edits     editing          // what the client can do with edits
	folders   []string         // of the workspace
	lazyDocs  bool             // the client asks for the documentation of completions one by one
	trusted   bool             // the client trusts the workspace: the project's code may run when a person asks for it
}

func (s *server) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

type momentKey struct{}

// ordered handles notifications one after the other, in the order in which they come, and requests beside them: each
// answers from the snapshot of the moment at which it came, and ends when the editor cancels it.
//
// Handlers get contexts made of server, not those of the library: the library uses its own again for other requests,
// while what context.WithCancel has started on them may still look at them.
func (s *server) ordered(server context.Context, next jsonrpc2.Handler) jsonrpc2.Handler {
	var mu sync.Mutex
	running := map[jsonrpc2.ID]func(){} // guarded by mu
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		switch {
		case req.Method() == protocol.MethodCancelRequest:
			var params protocol.CancelParams
			if protocol.Unmarshal(req.Params(), &params) != nil {
				return nil, nil
			}
			var id jsonrpc2.ID
			switch asked := params.ID.(type) {
			case protocol.Integer:
				id = jsonrpc2.NewNumberID(int64(asked))
			case protocol.String:
				id = jsonrpc2.NewStringID(string(asked))
			}
			mu.Lock()
			defer mu.Unlock()
			if cancel := running[id]; cancel != nil {
				cancel()
			}
			return nil, nil
		case !req.IsCall(), req.Method() == protocol.MethodInitialize, req.Method() == protocol.MethodShutdown:
			return next(server, req)
		}
		own, cancel := context.WithCancel(context.WithValue(server, momentKey{}, s.session.Snapshot()))
		defer cancel()
		id := req.ID()
		mu.Lock()
		running[id] = cancel
		mu.Unlock()
		jsonrpc2.Async(ctx)
		defer func() {
			mu.Lock()
			delete(running, id)
			mu.Unlock()
		}()
		return next(own, req)
	}
}

func moment(ctx context.Context) *editor.Snapshot {
	snapshot, _ := ctx.Value(momentKey{}).(*editor.Snapshot)
	return snapshot
}

func (s *server) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions = map[string]int32{}
	s.positions = utf16
	s.edits = editingOf(params.Capabilities)
	s.trusted = trusts(params.InitializationOptions)
	s.folders, s.lazyDocs = foldersOf(params), lazyDocsOf(params.Capabilities)
	if general := params.Capabilities.General; general != nil {
		for _, kind := range general.PositionEncodings {
			if kind == protocol.PositionEncodingKindUTF8 {
				s.positions = utf8
			}
		}
	}
	if t := params.Capabilities.TextDocument; t != nil && t.Diagnostic != nil {
		s.pulls = true
	}
	return &protocol.InitializeResult{Capabilities: s.capabilities(),
		ServerInfo: protocol.ServerInfo{Name: "yamlhost", Version: protocol.NewOptional(s.options.Version)}}, nil
}

func (s *server) Initialized(context.Context, *protocol.InitializedParams) error { return nil }

func (s *server) Shutdown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	return nil
}

func (s *server) Exit(context.Context) error {
	s.exit()
	return nil
}

func (s *server) encoding() encoding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.positions
}

func (s *server) DidOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	s.setVersion(path, params.TextDocument.Version)
	s.session.Open(path, params.TextDocument.Text)
	s.publisher.changed(path)
	return nil
}

func (s *server) DidChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	s.setVersion(path, params.TextDocument.Version)
	for _, change := range params.ContentChanges {
		document := s.session.Snapshot().Text(path)
		if document == nil {
			return nil
		}
		switch change := change.(type) {
		case *protocol.TextDocumentContentChangeWholeDocument:
			s.session.Edit(path, parser.Edit{Start: 0, End: len(document.Source().Text()), Text: change.Text})
		case *protocol.TextDocumentContentChangePartial:
			start, end := s.encoding().offsets(document.Source(), change.Range)
			s.session.Edit(path, parser.Edit{Start: start, End: end, Text: change.Text})
		}
	}
	s.publisher.changed(path)
	return nil
}

func (s *server) DidClose(_ context.Context, params *protocol.DidCloseTextDocumentParams) error {
	path := pathOf(params.TextDocument.URI)
	s.mu.Lock()
	delete(s.versions, path)
	s.mu.Unlock()
	s.session.Close(path)
	s.tokens.forget(path)
	s.publisher.closed(path)
	return nil
}

func (s *server) DidSave(context.Context, *protocol.DidSaveTextDocumentParams) error {
	s.session.Refresh()
	s.publisher.changed("")
	return nil
}

func (s *server) DidChangeWatchedFiles(context.Context, *protocol.DidChangeWatchedFilesParams) error {
	s.session.Refresh()
	s.publisher.changed("")
	return nil
}

func (s *server) setVersion(path string, version int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[path] = version
}

func (s *server) versionOf(path string) (int32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, open := s.versions[path]
	return version, open
}
