package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// silence is the time without a line after which a log reports what the operation waits for.
const silence = 10 * time.Second

// mostTypeInLog is the width at which the type of a resource is cut in a log.
const mostTypeInLog = 60

// plain writes a log: a line for each change when it is finished, a line for long waits, and at the end the same tree
// and report as on a terminal. Only the tree has the stack and components, which have no steps of their own.
type plain struct {
	*View
	begun bool    // there is a line already
	quiet bool    // there was no line since the last tick
	width columns // of the names and types so far
}

func newPlain(o Options, m *mask.Masker) *plain {
	v := &plain{View: newView(o, m), width: columns{name: 24, typ: 28}}
	v.display = v
	if o.SuppressProgress || o.Silent {
		close(v.stopped)
	} else {
		go v.run(silence)
	}
	return v
}

// tick reports the steps that the operation waits for, after each period of silence.
func (v *plain) tick() {
	if v.quiet {
		v.heartbeat()
	}
	v.quiet = true
}

// heartbeat names the operation that has run for the longest time.
func (v *plain) heartbeat() {
	const most = 3
	var running []*row
	for _, r := range v.board.order {
		if r.running > 0 && !r.isStack() && !r.component {
			running = append(running, r)
		}
	}
	if len(running) == 0 {
		return
	}
	slices.SortStableFunc(running, func(a, b *row) int { return a.started.Compare(b.started) })
	var names []string
	for _, r := range running[:min(most, len(running))] {
		names = append(names, fmt.Sprintf("%s %s %s", opStyles[r.op].running, r.urn.Name(),
			Seconds(v.board.now().Sub(r.started))))
	}
	text := strings.Join(names, ", ")
	if more := len(running) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	v.write("     still " + text)
}

func (v *plain) event(e engine.Event) {
	if _, ok := e.(*engine.Prelude); ok && !v.o.SuppressProgress {
		fmt.Fprintln(v.o.Err, v.title())
	}
	r := v.board.event(e)
	switch e := e.(type) {
	case *engine.StepFinished:
		switch {
		case r == nil || e.Outputs || r.component || v.o.SuppressProgress || v.o.Plan || !v.shows(r):
		case r.op == engine.OpSame: // the tree has it, if it is wanted
		case e.Step.Op == engine.OpReplace && !v.board.done:
		case e.Step.Logical(), v.board.done, e.Step.Op == engine.OpRefresh,
			e.Step.Op == engine.OpDeleteReplaced && v.board.replaced.Deleted(formerURN(e.Step)):
			v.line(r, false)
		}
	case *engine.StepFailed, *engine.ResourceFailed:
		if r != nil && !v.o.SuppressProgress && !v.o.Plan {
			v.line(r, true)
		}
	case *engine.Message:
		if isNote(e) && !e.Debug && !e.Ephemeral && !v.o.SuppressProgress {
			v.write(v.note(e))
		}
	}
}

// shows reports whether a row is worth a tree: it changes, or the options show unchanged or read resources.
func (v *plain) shows(r *row) bool {
	switch r.op {
	case engine.OpSame:
		return v.o.ShowSames
	case engine.OpRead:
		return v.o.ShowReads || v.o.ShowSames
	}
	return true
}

// interrupt leaves it to the caller to write a line.
func (v *plain) interrupt(string, bool) bool { return false }

func (v *plain) line(r *row, failed bool) {
	style := opStyles[r.op]
	sign, word, color := style.sign, style.done, style.color
	switch {
	case failed:
		_, word = r.outcome()
		sign, color = failedSign, red
	case r.left() != "":
		word = string(r.left())
	case r.planning:
		word = style.planned
	}
	// A long name or type also widens the columns of the following lines, within limits.
	typ := cutMiddle(r.shortType(), mostTypeInLog)
	name := r.urn.Name()
	if was := was(r.step); was != "" {
		name += " (was " + was + ")"
	}
	v.width.name = max(v.width.name, min(maxName, widthOf(name)))
	v.width.typ = max(v.width.typ, widthOf(typ))
	text := fmt.Sprintf("  %s %s %s", v.p.paint(color, fill(sign, 2)), fill(name, v.width.name),
		v.p.paint(dim, fill(typ, v.width.typ)))
	text += " " + v.p.paint(color, word)
	if t := Seconds(r.took); t != "" && !r.planning {
		text += v.p.paint(color, " in "+t)
	}
	v.write(strings.TrimRight(text, " "))
}

// write adds a line; an empty line separates the first one from the title.
func (v *plain) write(line string) {
	v.quiet = false
	if !v.begun {
		fmt.Fprintln(v.o.Err)
		v.begun = true
	}
	if v.o.Timestamps {
		line = v.board.now().UTC().Format(time.RFC3339) + line
	}
	fmt.Fprintln(v.o.Err, line)
}

func (v *plain) end() {
	if v.o.Plan {
		v.planned(v.o.Err)
		v.next(v.o.Err)
		return
	}
	if !v.o.SuppressProgress && slices.ContainsFunc(v.board.order, v.shows) {
		fmt.Fprintln(v.o.Err)
		for _, line := range v.final(0) {
			fmt.Fprintln(v.o.Err, line)
		}
	}
	v.changes(v.o.Err)
	v.why(v.o.Err)
	fmt.Fprintln(v.o.Err)
	v.problems(v.o.Err)
	v.outputs(v.o.Out)
	v.summary(v.o.Err)
	v.next(v.o.Err)
}
