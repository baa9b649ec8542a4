package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
)

// Beside returns a console for one of the stacks of a command that works on several. Its output goes to out and err,
// its reports to reports. It asks no questions and leaves the log of a CI system to a. It shares the signals of a.
func (a *Console) Beside(out, err io.Writer, reports *report.Set) *Console {
	c := &Console{World: a.World, Global: a.Global, Signals: a.Signals, Texts: a.Texts}
	c.Global.NonInteractive = true
	c.Crashes = &Crashes{Console: a}
	c.GuardStreams(Streams{In: strings.NewReader(""), Out: out, Err: err})
	c.Reports = Reports{Set: reports, world: &c.World, streams: c.Streams, screen: c.Screen}
	return c
}

// Block shows a text of several lines under a heading, in one piece; a CI system that can folds it.
func (a *Console) Block(id, title string, text []byte) {
	out := a.Streams.Err
	if a.Reports.system != "" && !a.Streams.ErrTerminal && a.Screen != nil {
		if group := report.GroupOf(a.Reports.system, id, title, a.Now().Unix()); group.Begin != "" {
			a.blocks.Lock()
			defer a.blocks.Unlock()
			fmt.Fprintln(a.Screen, group.Begin)
			_, _ = out.Write(text)
			if group.End != "" {
				fmt.Fprintln(a.Screen, group.End)
			}
			return
		}
	}
	a.blocks.Lock()
	defer a.blocks.Unlock()
	_, _ = out.Write(append([]byte("── "+title+"\n"), text...)) // standard error has nobody to tell it to
}
