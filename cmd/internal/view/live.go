package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/mask"
)

// frame is how often a live view is drawn anew while something is under way.
const frame = 100 * time.Millisecond

// live draws a tree of resources on a terminal, over and over at the same place, and ends with a report. It has one
// goroutine, which Close ends and waits for.
//
// The view only writes: it never reads the terminal and never changes its mode, so questions and signals work as ever.
type live struct {
	o    Options
	p    palette
	mask *mask.Masker

	mu     sync.Mutex // guards what follows
	region region
	board  *board
	dirty  bool
	spin   int
	closed bool

	stop, stopped chan struct{}
}

func newLive(o Options, m *mask.Masker, screen io.Writer) *live {
	v := &live{o: o, region: region{screen: screen}, p: palette{o.Color}, mask: m, board: newBoard(),
		stop: make(chan struct{}), stopped: make(chan struct{})}
	title := v.p.paint(bold, o.Operation) + " " + v.p.paint(dim, "stack "+o.Stack)
	fmt.Fprintf(o.Err, "%s\n\n", title)
	go v.run()
	return v
}

// size is the terminal's width and height now: people resize it.
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

func (v *live) run() {
	defer close(v.stopped)
	defer v.guard()
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-ticker.C:
			v.mu.Lock()
			v.spin++
			if v.dirty || v.board.running > 0 {
				v.draw()
			}
			v.mu.Unlock()
		}
	}
}

// guard tells of a fault of ours in the goroutine that draws.
func (v *live) guard() {
	if v.o.Crash == nil {
		return
	}
	if fault := recover(); fault != nil {
		v.o.Crash(fault)
	}
}

func (v *live) Event(e engine.Event) {
	v.mu.Lock()
	v.board.event(e)
	v.dirty = true
	v.mu.Unlock()
	if _, ok := e.(*engine.Finished); ok {
		v.Close()
	}
}

func (v *live) Close() {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return
	}
	v.closed = true
	v.mu.Unlock()
	close(v.stop)
	<-v.stopped

	width, _ := v.size()
	v.region.clear(width)
	for _, line := range v.final(width) {
		fmt.Fprintln(v.region.screen, line)
	}
	rep := report{v.o, v.p, v.mask, v.board}
	var changes strings.Builder
	rep.changes(&changes)
	if changes.Len() > 0 {
		fmt.Fprintf(v.o.Err, "\n%s\n%s", v.p.paint(bold, "Changes:"), changes.String())
	}
	fmt.Fprintln(v.o.Err)
	rep.notes(v.o.Err)
	rep.problems(v.o.Err)
	rep.outputs(v.o.Out)
	rep.summary(v.o.Err)
}

// draw puts a frame on the screen in the place of the last one. The caller holds mu.
func (v *live) draw() {
	v.dirty = false
	width, height := v.size()
	v.region.show(v.lines(width, height), width)
}

// lines are one frame: as many rows as fit, those that run or failed before those that are done, and a line of
// progress.
func (v *live) lines(width, height int) []string {
	room := max(1, height-5) // the title, a line between, progress, and the line of the cursor
	rows, left := v.pick(room)
	lines := v.render(rows, width)
	if left > 0 {
		lines = append(lines, v.fit(dim, fmt.Sprintf("     … and %s more", Count(left, "resource")), width))
	}
	return append(lines, v.fit(dim, v.progress(), width))
}

// final are the rows of the end: everything that changed or failed, below the components that it belongs to.
func (v *live) final(width int) []string {
	var rows []placed
	same := 0
	v.board.tree.walk(func(r *row, depth int) {
		if r.shown(v.o) || r.holdsShown(v.o) {
			rows = append(rows, placed{r, depth})
		} else {
			same++
		}
	})
	lines := v.render(rows, width)
	if same > 0 {
		lines = append(lines, v.fit(dim, fmt.Sprintf("     %s unchanged", Count(same, "resource")), width))
	}
	return lines
}

// placed is a row with its depth in the tree.
type placed struct {
	*row
	depth int
}

// pick chooses at most n rows, in the order of the tree: what runs or failed with the components around it, then what
// changed, then the latest.
func (v *live) pick(n int) (rows []placed, left int) {
	total := v.board.tree.count
	if total <= n {
		v.board.tree.walk(func(r *row, depth int) { rows = append(rows, placed{r, depth}) })
		return rows, 0
	}
	n = max(1, n-1) // the line that says how many are left out
	keep := make(map[*row]bool, n)
	take := func(r *row) {
		if len(keep) < n {
			keep[r] = true
		}
	}
	for _, wanted := range []func(*row) bool{
		func(r *row) bool { return r.running > 0 || r.failed },
		(*row).changes,
		func(*row) bool { return true },
	} {
		for i := len(v.board.order) - 1; i >= 0 && len(keep) < n; i-- {
			if r := v.board.order[i]; wanted(r) {
				take(r)
			}
		}
	}
	v.board.tree.walk(func(r *row, depth int) {
		if keep[r] {
			rows = append(rows, placed{r, depth})
		}
	})
	return rows, total - len(rows)
}

func (v *live) render(rows []placed, width int) []string {
	all := make([]cells, len(rows))
	for i, r := range rows {
		all[i] = v.cells(r.row)
		all[i].depth = r.depth
	}
	c := arrange(all, width)
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = printable.Colored(c.line(r, v.p))
	}
	return lines
}

// fit paints a line that is cut to the terminal's width.
func (v *live) fit(style paint, text string, width int) string {
	if width > 0 {
		text = cutEnd(text, width-1)
	}
	return v.p.paint(style, text)
}

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (v *live) cells(r *row) cells {
	style := opStyles[r.op]
	c := cells{sign: style.sign, name: printable.Text(v.mask.Hide(r.label)), typ: printable.Text(ShortType(r.urn.Type())),
		status: style.done, short: style.done, color: style.color}
	switch {
	case r.failed:
		c.color, c.status, c.short, c.sign = red, style.running+" failed", "failed", "✗"
	case r.running > 0:
		c.status, c.short = style.running, style.running
		c.sign = spinner[v.spin%len(spinner)]
		if t := seconds(v.board.now().Sub(r.started)); t != "" {
			c.status += " " + t
		}
		c.note = firstLine(printable.Text(v.mask.Hide(r.note)))
	case r.planning:
		c.status, c.short = style.planned, style.planned
	case r.op != engine.OpSame:
		if t := seconds(r.took); t != "" {
			c.status += " in " + t
		}
	}
	if r.gone && r.op != opGone {
		c.status += ", as it was gone"
	}
	if r.isStack() {
		c.typ = "stack"
	}
	if c.name == r.label { // nothing was hidden or made visible
		c.from, c.to, _ = r.group.telling(r.label)
	}
	return c
}

// progress says how far the operation is: done of what is known, running, failed, the time so far, and the slowest of
// what still runs.
func (v *live) progress() string {
	b := v.board
	var slowest *row
	for _, r := range b.order {
		if r.running > 0 && !r.isStack() && !r.component && (slowest == nil || r.started.Before(slowest.started)) {
			slowest = r
		}
	}
	done := b.tree.count - b.running
	parts := []string{fmt.Sprintf("%d of %d done", done, b.tree.count)}
	if b.running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", b.running))
	}
	if b.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", b.failed))
	}
	if t := seconds(b.now().Sub(b.began)); t != "" {
		parts = append(parts, t)
	}
	text := "     " + strings.Join(parts, ", ")
	if slowest != nil {
		if t := seconds(b.now().Sub(slowest.started)); t != "" {
			text += "; slowest: " + printable.Text(v.mask.Hide(slowest.urn.Name())) + " " + t
		}
	}
	return text
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// region is the part of a terminal that frames are drawn in: the lines above the cursor that the last frame took. It is
// not safe for concurrent use.
type region struct {
	screen io.Writer
	widths []int // of the lines of the last frame, in cells
}

// show replaces the last frame in one write. Each line must be narrower than width.
func (r *region) show(lines []string, width int) {
	var b strings.Builder
	r.back(&b, width)
	r.widths = r.widths[:0]
	for _, line := range lines {
		b.WriteString(line)
		b.WriteString("\x1b[K\n") // what the last frame had behind the line goes
		r.widths = append(r.widths, ansi.StringWidth(line))
	}
	b.WriteString("\x1b[J") // and what it had below
	fmt.Fprint(r.screen, b.String())
}

// clear takes the last frame from the screen.
func (r *region) clear(width int) {
	var b strings.Builder
	r.back(&b, width)
	b.WriteString("\x1b[J")
	r.widths = nil
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
