package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// frame is the interval between redraws of a live view during an operation.
const frame = 100 * time.Millisecond

// live draws a tree of resources on a terminal, repeatedly at the same place, and ends with a report.
//
// The view only writes: it never reads the terminal and never changes its mode, so questions and signals are not
// affected.
type live struct {
	*View
	region region
	dirty  bool
	// interrupted is the reason for an interrupt, and now is whether running steps are abandoned. Empty without
	// interrupt.
	interrupted string
	now         bool
}

func newLive(o Options, m *mask.Masker, screen io.Writer) *live {
	v := &live{View: newView(o, m), region: region{screen: screen}}
	v.display = v
	if !o.After {
		fmt.Fprintf(o.Err, "%s\n\n", v.title())
	}
	go v.run(frame)
	return v
}

// size returns the present width and height of the terminal.
func (v *live) size() (width, height int) {
	width, height = v.o.Width, v.o.Height
	if v.o.Size != nil {
		if w, h := v.o.Size(); w > 0 && h > 0 {
			width, height = w, h
		}
	}
	if height <= 0 {
		height = 24
	}
	return width, height
}

func (v *live) event(e engine.Event) {
	v.board.event(e)
	v.dirty = true
}

func (v *live) interrupt(why string, now bool) bool {
	v.interrupted, v.now = why, now
	v.draw()
	return true
}

func (v *live) tick() {
	v.board.spin++
	if v.dirty || slices.ContainsFunc(v.board.order, func(r *row) bool { return r.running > 0 }) {
		v.draw()
	}
}

func (v *live) end() {
	width, _ := v.size()
	v.region.show(nil, width)
	if v.o.After {
		if v.idle() {
			fmt.Fprintln(v.o.Err, v.p.paint(bold, "No changes."))
			return
		}
		fmt.Fprintf(v.o.Err, "%s\n\n", v.title())
	}
	if v.o.Plan && !v.o.OutTerminal { // a file or a program gets the plan, and the terminal does not repeat it
		v.notes(v.o.Err)
		v.problems(v.o.Err)
		v.plan(v.o.Out, func() {})
		v.next(v.o.Err)
		return
	}
	for _, line := range v.final(width) {
		fmt.Fprintln(v.region.screen, line)
	}
	v.changes(v.o.Err)
	v.why(v.o.Err)
	fmt.Fprintln(v.o.Err)
	v.notes(v.o.Err)
	v.problems(v.o.Err)
	v.outputs(v.o.Out)
	v.summary(v.o.Err)
	v.next(v.o.Err)
}

// idle reports whether the operation has changed nothing and has nothing to say.
func (v *live) idle() bool {
	s := v.board.summary
	return s != nil && s.Result == "succeeded" && len(v.board.messages) == 0 &&
		!slices.ContainsFunc(v.board.order, (*row).changes) &&
		!slices.ContainsFunc(v.Outputs(), func(o Output) bool { return o.Sign != " " })
}

// draw replaces the last frame on the screen. The caller holds mu.
func (v *live) draw() {
	v.dirty = false
	width, height := v.size()
	v.region.show(v.lines(width, height), width)
}

// lines returns one frame: as many rows as fit, running and failed ones before finished ones, and a line of progress.
func (v *live) lines(width, height int) []string {
	room := max(1, height-6) // the title, a line between, progress, an interrupt, and the line of the cursor
	rows, left := v.pick(room)
	lines := v.render(rows, width)
	if v.o.After { // the title appears with the first row
		title := v.title()
		if width > 0 {
			title = cutEnd(title, width-1)
		}
		lines = append([]string{title, ""}, lines...)
	}
	if left > 0 {
		lines = append(lines, v.fit(dim, fmt.Sprintf("     … and %s more", diag.Count(left, "resource")), width))
	}
	lines = append(lines, v.fit(dim, v.progress(), width))
	if v.interrupted != "" {
		lines = append(lines, v.fit(red, "     "+v.interruption(), width))
	}
	return lines
}

// interruption returns the line about an interrupt: what it waits for and what a second one does.
func (v *live) interruption() string {
	if v.now {
		return v.interrupted
	}
	running, _ := v.board.counts()
	return fmt.Sprintf("%s: %d running; Ctrl-C again stops at once and may lose them", v.interrupted, running)
}

// pick chooses at most n rows, in the order of the tree: running and failed ones with the components around them, then
// changed ones, then the latest.
func (v *live) pick(n int) (rows []placed, left int) {
	total := v.board.tree.count
	if total <= n {
		v.walk(func(r placed) { rows = append(rows, r) })
		return rows, 0
	}
	n = max(1, n-1) // the line with the number of omitted rows
	keep := make(map[*row]bool, n)
	for _, wanted := range []func(*row) bool{
		func(r *row) bool { return r.running > 0 || r.failed },
		(*row).changes,
		func(*row) bool { return true },
	} {
		for i := len(v.board.order) - 1; i >= 0 && len(keep) < n; i-- {
			if r := v.board.order[i]; wanted(r) {
				keep[r] = true
			}
		}
	}
	v.walk(func(r placed) {
		if keep[r.row] {
			rows = append(rows, r)
		}
	})
	return rows, total - len(rows)
}

// progress returns the progress of the operation: steps done of those known, running, failed, the time so far, and
// the slowest running steps.
func (v *live) progress() string {
	b := v.board
	total := 0
	var slowest *row
	for _, r := range b.order {
		if !r.isStack() && !r.component {
			total++
		}
		if r.running > 0 && !r.isStack() && !r.component && (slowest == nil || r.started.Before(slowest.started)) {
			slowest = r
		}
	}
	running, failed := b.counts()
	parts := []string{fmt.Sprintf("%d of %d done", total-running, total)}
	if running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", running))
	}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	if t := Seconds(b.now().Sub(b.began)); t != "" {
		parts = append(parts, t)
	}
	text := "     " + strings.Join(parts, ", ")
	if slowest != nil {
		if t := Seconds(b.now().Sub(slowest.started)); t != "" {
			text += "; slowest: " + printable.Text(slowest.urn.Name()) + " " + t
		}
	}
	return text
}

// region is the part of a terminal with frames: the lines of the last frame above the cursor. It is not safe for
// concurrent use.
type region struct {
	screen io.Writer
	widths []int // of the lines of the last frame, in cells
}

// show replaces the last frame in one write; nil lines remove it. Each line must be narrower than width.
func (r *region) show(lines []string, width int) {
	var b strings.Builder
	r.back(&b, width)
	r.widths = r.widths[:0]
	for _, line := range lines {
		b.WriteString(line)
		b.WriteString("\x1b[K\n") // clear the rest of the line
		r.widths = append(r.widths, widthOf(line))
	}
	b.WriteString("\x1b[J") // clear the lines below
	fmt.Fprint(r.screen, b.String())
}

// back moves the cursor to the beginning of the last frame. A terminal that has become narrower has wrapped its lines.
func (r *region) back(b *strings.Builder, width int) {
	up := 0
	for _, w := range r.widths {
		up++
		if width > 0 && w > width {
			up += (w - 1) / width
		}
	}
	if up > 0 {
		fmt.Fprintf(b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
}
