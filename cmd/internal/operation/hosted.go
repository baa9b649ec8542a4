package operation

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

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

// requirePolicies returns an error unless the packs that run are all that the organization requires.
func (p *Pipeline) requirePolicies(running []engine.PolicyPack) error {
	names := map[string]bool{}
	for _, pack := range running {
		names[pack.Name] = true
	}
	var missing []string
	for _, required := range p.watched.Facts().Policies {
		if !names[required.Name] {
			missing = append(missing, fmt.Sprintf("%s (version %s)", required.Name, required.Version))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return nothingDone(errors.New("the organization requires policy packs that are not here: " +
		strings.Join(missing, ", ") + "\ngive their folders with --policy-pack, or declare them under policyPacks in the project file"))
}
