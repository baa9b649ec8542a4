package cli

import (
	"io"

	"github.com/yamlhost/yamlhost/internal/printable"
)

// guardStreams sets the streams of the application so that nothing from elsewhere, a name or a message, controls a terminal
// or forges lines of a log. It returns them.
func (a *app) guardStreams(s Streams) Streams {
	a.screen, a.result = s.Err, s.Out
	s.Out = printable.NewWriter(s.Out, func() bool { return a.color(a.streams.OutTerminal) })
	s.Err = printable.NewWriter(s.Err, func() bool { return a.color(a.streams.ErrTerminal) })
	a.streams = s
	return s
}

// data is where a result goes whose bytes another program reads: as it is, unless it goes to a terminal.
func (a *app) data() io.Writer {
	if a.streams.OutTerminal {
		return a.streams.Out
	}
	return a.result
}
