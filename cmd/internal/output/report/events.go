package report

import (
	"io"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// eventLines are the lines of Lines, and after them a line for how the command ended where no operation tells.
type eventLines struct {
	out   io.Writer
	begun bool
}

func newEvents(w io.Writer) streamed { return &eventLines{out: w} }

func (e *eventLines) phase(o view.Options, m *mask.Masker) (func(engine.Event), func() error) {
	e.begun = true
	lines := NewLines(e.out, o, m)
	return lines.Event, func() error { return lines.err }
}

// find does nothing: findings outside of operations are in the next operation, or in finish.
func (e *eventLines) find(diag.Diagnostics) error { return nil }

func (e *eventLines) finish(r *Record) error {
	if e.begun || len(r.Parts) > 0 {
		return nil
	}
	lines := NewLines(e.out, view.Options{}, mask.New())
	if r.Skipped != "" {
		lines.finding(view.Finding{Diagnostic: diag.Diagnostic{Severity: diag.Warning, Summary: r.Skipped}})
		return lines.err
	}
	for _, f := range r.Findings {
		lines.finding(f)
	}
	if r.Command != "check" {
		result := "succeeded"
		if r.Exit.Code != 0 {
			result = "failed"
		}
		lines.Event(&engine.Summary{Result: result, Changes: map[engine.Op]int{}})
		lines.Event(&engine.Finished{})
	}
	return lines.err
}
