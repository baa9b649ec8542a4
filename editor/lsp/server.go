// Package lsp speaks the Language Server Protocol, version 3.18, over package editor. It owns positions, capabilities,
// the order of messages and cancelling, and knows nothing of programs.
package lsp

import (
	"context"
	"errors"
	"io"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
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
func Serve(ctx context.Context, r io.Reader, out io.Writer, session *editor.Session, options Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn := protocol.NewConnection(r, out)
	s := newServer(session, options, stop)
	s.publisher = newPublisher(ctx, conn, s.documents, options.Rest)
	requests := newRequests(conn, session, s.answers())
	ended := make(chan error, 1)
	go func() { ended <- requests.serve(ctx) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	stop()
	s.publisher.wait()
	requests.wait()
	if c, ok := r.(io.Closer); ok {
		_ = c.Close() // which ends a read that is under way
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// server answers a client. Each of its parts answers some methods, and owns what it needs for that; here are the
// beginning and the end.
type server struct {
	*documents
	lookups
	rewriter
	completer
	colorer
	reporter
	commander

	exit func()
}

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

// Initialize notes what the client can do, and says what the server can.
func (s *server) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	s.documents.begin(params)
	return &protocol.InitializeResult{Capabilities: capabilities(s.documents.encoding(), s.commands()),
		ServerInfo: protocol.ServerInfo{Name: "yamlhost", Version: s.options.Version}}, nil
}

// Shutdown is asked for before Exit; the server has nothing to write by then.
func (s *server) Shutdown(context.Context, *protocol.None) (any, error) {
	return nil, nil
}

// Exit ends the server.
func (s *server) Exit(context.Context, *protocol.None) error {
	s.exit()
	return nil
}
