package console

import (
	"io"

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
