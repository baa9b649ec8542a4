package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/mask"
)

// frame is how often a live view is drawn anew while something is under way.
const frame = 100 * time.Millisecond

// live draws a tree of resources on a terminal, over and over at the same place, and ends with a report. It has one
// goroutine, which Close ends and waits for.
type live struct {
	o      Options
	screen io.Writer // Err as it is, for moving the cursor
	p      palette
	mask   *mask.Masker

	mu     sync.Mutex // guards what follows
	board  *board
	drawn  int // lines on the screen that belong to the tree
	dirty  bool
	spin   int
	closed bool

	stop, stopped chan struct{}
}

func newLive(o Options, m *mask.Masker, screen io.Writer) *live {
	if o.Height <= 0 {
		o.Height = 24
	}
	v := &live{o: o, screen: screen, p: palette{o.Color}, mask: m, board: newBoard(), stop: make(chan struct{}), stopped: make(chan struct{})}
	fmt.Fprintf(o.Err, "%s %s\n\n", v.p.paint(bold, o.Operation), v.p.paint(dim, "stack "+o.Stack))
	go v.run()
	return v
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
			if v.dirty || v.anyRunning() {
				v.draw(false)
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

func (v *live) anyRunning() bool {
	for _, r := range v.board.order {
		if r.running > 0 {
			return true
		}
	}
	return false
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

	v.draw(true)
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

// draw puts the tree on the screen in the place of the last one. While work goes on the tree fits the screen, and what is
// under way or failed comes before what is done; in the end it shows everything that changed.
func (v *live) draw(final bool) {
	v.dirty = false
	lines := v.tree(final)
	var b strings.Builder
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	b.WriteString("\x1b[J") // from here to the end of the screen
	for _, line := range lines {
		b.WriteString(printable.Colored(line))
		b.WriteByte('\n')
	}
	v.drawn = len(lines)
	fmt.Fprint(v.screen, b.String())
}

func (v *live) tree(final bool) []string {
	var rows []*row
	same := 0
	for _, r := range v.board.order {
		switch {
		case final && !r.changes() && !v.o.ShowSames && !(v.o.ShowReads && r.op == engine.OpRead) && !r.isStack():
			same++
		default:
			rows = append(rows, r)
		}
	}
	most := v.o.Height - 6
	if final {
		most = 200
	}
	left := 0
	if len(rows) > most {
		left = len(rows) - most
		rows = mostTelling(rows, most)
	}
	nameWidth := 8
	for _, r := range rows {
		nameWidth = max(nameWidth, 2*r.depth+len([]rune(r.urn.Name())))
	}
	nameWidth = min(nameWidth, 40)
	lines := make([]string, 0, len(rows)+2)
	for _, r := range rows {
		lines = append(lines, v.line(r, nameWidth))
	}
	if left > 0 {
		lines = append(lines, v.p.paint(dim, fmt.Sprintf("     … and %s more", Count(left, "resource"))))
	}
	if same > 0 {
		lines = append(lines, v.p.paint(dim, fmt.Sprintf("     %s unchanged", Count(same, "resource"))))
	}
	return lines
}

// mostTelling picks n rows, keeping their order: what runs or failed, then what changed, then the latest.
func mostTelling(rows []*row, n int) []*row {
	keep := make(map[*row]bool, n)
	for _, wanted := range []func(*row) bool{
		func(r *row) bool { return r.running > 0 || r.failed },
		(*row).changes,
		func(*row) bool { return true },
	} {
		for i := len(rows) - 1; i >= 0 && len(keep) < n; i-- {
			if wanted(rows[i]) {
				keep[rows[i]] = true
			}
		}
	}
	picked := make([]*row, 0, n)
	for _, r := range rows {
		if keep[r] {
			picked = append(picked, r)
		}
	}
	return picked
}

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (v *live) line(r *row, nameWidth int) string {
	style := opStyles[r.op]
	color, word, sign := style.color, style.done, style.sign
	note := ""
	switch {
	case r.failed:
		color, word, sign = red, style.running+" failed", "✗"
	case r.running > 0:
		word = style.running
		sign = spinner[v.spin%len(spinner)]
		if t := seconds(v.board.now().Sub(r.started)); t != "" {
			word += " " + t
		}
		note = r.note
	case r.planning:
		word = style.planned
	case r.op != engine.OpSame:
		if t := seconds(r.took); t != "" {
			word += " in " + t
		}
	}
	if r.gone && r.op != opGone {
		word += ", as it was gone"
	}
	name := strings.Repeat("  ", r.depth) + r.urn.Name()
	typ := ShortType(r.urn.Type())
	if r.isStack() {
		typ = "stack"
	}
	plainWidth := 6 + nameWidth + 2 + max(28, len(typ)) + 1 + len(word)
	if note != "" && (v.o.Width == 0 || plainWidth+10 < v.o.Width) {
		note = " " + firstLine(printable.Text(v.mask.Hide(note)))
		if room := v.o.Width - plainWidth; v.o.Width > 0 && len([]rune(note)) > room {
			note = string([]rune(note)[:max(0, room-1)]) + "…"
		}
	} else {
		note = ""
	}
	return "  " + v.p.paint(color, pad(sign, 3)) + pad(clip(name, nameWidth), nameWidth) + "  " +
		v.p.paint(dim, pad(typ, 28)) + " " + v.p.paint(color, word) + v.p.paint(dim, note)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func clip(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}
