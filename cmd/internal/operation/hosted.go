package operation

import (
	"bytes"
	"fmt"

	"github.com/yamlhost/yamlhost/cmd/internal/output/report"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// showHosted lets a service that keeps the stack show the operation, too: it gets every event, with secrets
// masked. The user reads where.
func (p *Pipeline) showHosted(shown *shownView, name string) {
	if p.watched == nil {
		return
	}
	facts := p.watched.Facts()
	if !p.options.Json {
		for _, text := range facts.Messages {
			fmt.Fprintln(p.Console.Streams.Err, text)
		}
		fmt.Fprintf(p.Console.Streams.Err, "View live: %s\n", facts.Page)
	}
	o := p.display.viewOptions(name)
	o.ShowSecrets = false
	lines := report.NewLines(eventWriter{p.watched}, o, p.sink.secrets())
	inner := shown.event
	shown.event = func(e engine.Event) {
		inner(e)
		lines.Event(e)
	}
}

// eventWriter passes on lines of events, each of which is written at once.
type eventWriter struct{ watched *backend.Watched }

func (w eventWriter) Write(line []byte) (int, error) {
	w.watched.Event(bytes.Clone(line))
	return len(line), nil
}
