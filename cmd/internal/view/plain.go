package view

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/mask"
)

// plain writes lines that read well in a log: one for each change when it is done, then a report.
type plain struct {
	o      Options
	p      palette
	mask   *mask.Masker
	board  *board
	begun  bool // there is a line already
	closed bool
}

func newPlain(o Options, m *mask.Masker) *plain {
	return &plain{o: o, p: palette{o.Color}, mask: m, board: newBoard()}
}

func (v *plain) Event(e engine.Event) {
	if _, ok := e.(*engine.Prelude); ok && !v.o.SuppressProgress {
		fmt.Fprintf(v.o.Err, "%s %s\n", v.p.paint(bold, v.o.Operation), v.p.paint(dim, "stack "+v.o.Stack))
	}
	r := v.board.event(e)
	switch e := e.(type) {
	case *engine.StepFinished:
		if r != nil && !e.Outputs && !v.o.SuppressProgress && v.shows(r) && (e.Step.Logical() || e.Step.Op == engine.OpRefresh) {
			v.line(r, false)
		}
	case *engine.StepFailed:
		if !v.o.SuppressProgress {
			v.line(r, true)
		}
	case *engine.Message:
		if e.Severity == diag.Info && !e.Debug && !e.Ephemeral && !v.o.SuppressProgress {
			v.write(report{v.o, v.p, v.mask, v.board}.note(e))
		}
	case *engine.Finished:
		v.Close()
	}
}

// shows reports whether a row is worth a line: it changes, or sames or reads are asked for.
func (v *plain) shows(r *row) bool {
	switch r.op {
	case engine.OpSame:
		return v.o.ShowSames
	case engine.OpRead:
		return v.o.ShowReads || v.o.ShowSames
	}
	return !r.isStack() || r.failed
}

func (v *plain) line(r *row, failed bool) {
	style := opStyles[r.op]
	word, color := style.done, style.color
	switch {
	case failed:
		word, color = style.running+" failed", red
	case r.planning:
		word = style.planned
	}
	text := fmt.Sprintf("  %s %s %s", v.p.paint(color, pad(style.sign, 2)), pad(r.urn.Name(), 24), v.p.paint(dim, pad(ShortType(r.urn.Type()), 28)))
	text += " " + v.p.paint(color, word)
	if t := seconds(r.took); t != "" && !r.planning {
		text += v.p.paint(dim, " ("+t+")")
	}
	v.write(strings.TrimRight(v.mask.Hide(text), " "))
}

// write adds a line; an empty one keeps the first from the title.
func (v *plain) write(line string) {
	if !v.begun {
		fmt.Fprintln(v.o.Err)
		v.begun = true
	}
	fmt.Fprintln(v.o.Err, line)
}

func (v *plain) Close() {
	if v.closed {
		return
	}
	v.closed = true
	rep := report{v.o, v.p, v.mask, v.board}
	var changes strings.Builder
	rep.changes(&changes)
	if changes.Len() > 0 {
		fmt.Fprintf(v.o.Err, "\n%s\n%s", v.p.paint(bold, "Changes:"), changes.String())
	}
	fmt.Fprintln(v.o.Err)
	rep.problems(v.o.Err)
	rep.outputs(v.o.Out)
	rep.summary(v.o.Err)
}
