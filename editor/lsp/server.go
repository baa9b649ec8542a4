// Package lsp speaks the Language Server Protocol, version 3.18, over package editor. It owns positions, capabilities,
// the order of messages and cancelling, and knows nothing of programs.
package lsp

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

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
	s := &server{options: options, exit: stop}
	s.client.Store(&client{positions: utf16})
	s.documents = &documents{client: &s.client, session: session, versions: map[string]int32{}, closed: s.tokens.forget}
	s.publisher = newPublisher(ctx, conn, s.documents, options.Rest)
	requests := &requests{conn: conn, answers: s.answers(), session: session, running: map[string]func(){}}
	ended := make(chan error, 1)
	go func() { ended <- requests.serve(ctx) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	stop()
	s.publisher.done.Wait()
	requests.done.Wait()
	if c, ok := r.(io.Closer); ok {
		_ = c.Close() // which ends a read that is under way
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// server answers a client.
type server struct {
	*documents
	options Options
	client  atomic.Pointer[client]
	lists   sentLists
	tokens  sentTokens
	exit    func()
}

// initialize notes what the client can do, and says what the server can.
func (s *server) initialize(_ context.Context, params *protocol.InitializeParams) (any, error) {
	known := clientOf(params)
	s.client.Store(known)
	return object{"capabilities": capabilities(known.positions, s.commands()),
		"serverInfo": object{"name": "yamlhost", "version": s.options.Version}}, nil
}
