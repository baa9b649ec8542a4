package view

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// rendering turns the rows of a board into lines. It is not safe for concurrent use.
type rendering struct {
	o     Options
	p     palette
	mask  *mask.Masker
	board *board
	spin  int // frame of the spinner
}

func newRendering(o Options, m *mask.Masker) rendering {
	return rendering{o: o, p: palette{o.Color}, mask: m, board: newBoard(o.Stateful...)}
}

// placed is a row with its depth in the tree.
type placed struct {
	*row
	depth int
}

// walk calls fn for every row, parents first; without depth where a list is wanted instead of a tree.
func (v *rendering) walk(fn func(placed)) {
	v.board.tree.walk(func(r *row, depth int) {
		if v.o.Flat {
			depth = 0
		}
		fn(placed{r, depth})
	})
}

// final are the rows of the end: everything that changed or failed, below the components that it belongs to.
func (v *rendering) final(width int) []string {
	var rows []placed
	same := 0
	v.walk(func(r placed) {
		if r.shown(v.o) || !v.o.Flat && r.holdsShown(v.o) {
			rows = append(rows, r)
		} else {
			same++
		}
	})
	lines := v.render(rows, width)
	if same > 0 {
		lines = append(lines, v.fit(dim, fmt.Sprintf("     %s unchanged", diag.Count(same, "resource")), width))
	}
	return lines
}

func (v *rendering) render(rows []placed, width int) []string {
	all := make([]cells, len(rows))
	for i, r := range rows {
		all[i] = v.cells(r.row)
		all[i].depth = r.depth
	}
	if v.o.Flat {
		v.flatten(rows, all)
	}
	c := arrange(all, width)
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = printable.Colored(c.line(r, v.p))
	}
	return lines
}

// flatten gives rows their whole names, and what tells them apart among all.
func (v *rendering) flatten(rows []placed, all []cells) {
	var names siblings
	for _, r := range rows {
		names.add(r.urn.Name())
	}
	for i, r := range rows {
		name := r.urn.Name()
		all[i].name, all[i].from, all[i].to = printable.Text(name), 0, 0
		if all[i].name == name {
			all[i].from, all[i].to, _ = names.telling(name)
		}
	}
}

// fit paints a line that is cut to the terminal's width.
func (v *rendering) fit(style paint, text string, width int) string {
	if width > 0 {
		text = cutEnd(text, width-1)
	}
	return v.p.paint(style, text)
}

var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (v *rendering) cells(r *row) cells {
	style := opStyles[r.op]
	c := cells{sign: style.sign, name: printable.Text(r.label), typ: printable.Text(ShortType(r.urn.Type())),
		color: style.color}
	outcome, words := r.outcome()
	c.status, c.short = words, words
	switch {
	case outcome == Failed:
		c.color, c.short, c.sign = red, "failed", "✗"
	case r.running > 0 && v.board.summary == nil:
		c.status, c.short = style.running, style.running
		c.sign = spinner[v.spin%len(spinner)]
		if t := seconds(v.board.now().Sub(r.started)); t != "" {
			c.status += " " + t
		}
		c.note = firstLine(printable.Text(v.mask.Hide(r.note)))
	case outcome == Interrupted:
		c.color, c.short, c.sign = red, "interrupted", "✗"
	case outcome == Done && r.op != engine.OpSame:
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
	if c.name == r.label { // nothing was made visible
		c.from, c.to, _ = r.group.telling(r.label)
	}
	return c
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
