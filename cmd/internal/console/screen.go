package console

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"text/tabwriter"

	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/printable"
)

// GuardStreams sets the streams of the application so that nothing from elsewhere, a name or a message, controls a
// terminal or forges lines of a log. It returns them.
func (a *Console) GuardStreams(s Streams) Streams {
	a.Screen, a.result = s.Err, s.Out
	s.Out = printable.NewWriter(s.Out, func() bool { return a.Color(a.Streams.OutTerminal) })
	s.Err = printable.NewWriter(s.Err, func() bool { return a.Color(a.Streams.ErrTerminal) })
	a.Streams = s
	return s
}

// Data is where a result goes whose bytes another program reads: as it is, unless it goes to a terminal.
func (a *Console) Data() io.Writer {
	if a.Streams.OutTerminal {
		return a.Streams.Out
	}
	return a.result
}

// WriteJSON writes a result for programs.
func (a *Console) WriteJSON(v any) error { return jsontext.Write(a.Streams.Out, v, "    ") }

// Show writes a result: as JSON if that was asked for, else as the table that write fills.
func (a *Console) Show(asJSON bool, result any, write func(table io.Writer)) error {
	if asJSON {
		return a.WriteJSON(result)
	}
	return Table(a.Streams.Out, write)
}

// Table writes a table. write writes its rows, in which a tab ends each cell but the last.
func Table(out io.Writer, write func(table io.Writer)) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	write(table)
	return table.Flush()
}

// Block shows a text of several lines under a heading, in one piece; a CI system that can folds it.
func (a *Console) Block(id, title string, text []byte) {
	a.blocks.Lock()
	defer a.blocks.Unlock()
	if a.Reports.fold(id, title).Begin == "" {
		text = append([]byte("── "+title+"\n"), text...)
	}
	end := a.Reports.LogGroup(id, title)
	_, _ = a.Streams.Err.Write(text) // standard error has nobody to tell it to
	end()
}

// Steady is an output that never fails: a pipe whose reader has gone, or a full disk, must not stop an operation. Once
// a write has failed, nothing more is written, and fault tells why. It is safe for concurrent use.
type Steady struct {
	mu    sync.Mutex // guards what follows
	W     io.Writer
	Fault error
}

// Write writes p unless an earlier write has failed.
func (s *Steady) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Fault == nil {
		_, s.Fault = s.W.Write(p)
	}
	return len(p), nil
}

// Broken returns why the output could not be written; nil if it could. gone says that its reader is gone.
func (s *Steady) Broken() (fault error, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, closed := range []error{syscall.EPIPE, syscall.EBADF, syscall.EIO, os.ErrClosed, io.ErrClosedPipe} {
		gone = gone || errors.Is(s.Fault, closed)
	}
	return s.Fault, gone
}
