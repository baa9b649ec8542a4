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
)

// Options are the abilities of a server besides answers about texts.
type Options struct {
	Version string // of the program
	// Graph draws a program as SVG; nil for no drawings.
	Graph func(out io.Writer, p *editor.Program) error
	// Plan is a preview of the stack that is selected, as text, of the project on disk that a file belongs to; nil where
	// no previews. It is called only when the client has said that it trusts the workspace, and a person asks for it.
	Plan func(ctx context.Context, path string) (string, error)
	// Programs are the absolute paths of the programs in a folder, at any depth; nil for none.
	Programs func(folder string) []string
	// Rest is called in a goroutine when nothing has changed for a while; nil for no call.
	Rest func()
}

// Serve answers an editor until it says exit, or closes its end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, session *editor.Session, options Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn := jsonrpc2.NewConn(jsonrpc2.NewStream(&pipe{in, out}), jsonrpc2.WithCodec(codec{}))
	s := newServer(session, options, stop)
	s.publisher = newPublisher(ctx, protocol.ClientDispatcher(conn), s.documents, options.Rest)
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

// server answers a client. Each of its parts answers some methods, and owns what it needs for that; here are the
// beginning and the end.
type server struct {
	unanswered
	*documents
	lookups
	rewriter
	completer
	colorer
	reporter
	commander

	exit func()
	mu   sync.Mutex
	down bool // shutdown has been asked for; guarded by mu
}

// unanswered are the methods that no part answers.
type unanswered struct{ protocol.UnimplementedServer }

// newServer makes the parts of a server.
func newServer(session *editor.Session, options Options, exit func()) *server {
	known := &settings{positions: utf16}
	s := &server{documents: &documents{settings: known, session: session, versions: map[string]int32{}},
		lookups: lookups{known}, completer: completer{settings: known}, colorer: colorer{settings: known},
		commander: commander{settings: known, options: options}, exit: exit}
	s.rewriter = rewriter{known, s.documents}
	s.reporter = reporter{known, s.documents, options.Programs}
	s.documents.closed = s.colorer.sent.forget
	return s
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
// Handlers get contexts derived from server, not the library's own. The library reuses its contexts for other
// requests, while goroutines that context.WithCancel has started may still read them.
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
	s.documents.begin(params)
	return &protocol.InitializeResult{Capabilities: capabilities(s.documents.encoding(), s.commands()),
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
