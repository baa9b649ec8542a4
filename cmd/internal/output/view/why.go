package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/schema"
)

// The values of --causes.
const (
	CausesNone  = "none"
	CausesShort = "short" // on the line of the property, where its own text is not the cause
	CausesFull  = "full"  // the chains below each property
)

// mostCauses is how many causes are named on the line of a property.
const mostCauses = 2

// causeWords names the causes of a property in a few words; empty if its own text is the only one.
func causeWords(causes []change.Cause) string {
	var words []string
	seen := map[string]bool{}
	for i := range causes {
		c := causes[i].Nearest()
		if causes[i].Own || c.Kind == change.ByTransform { // which has its own mark
			continue
		}
		if text := c.Words(); !seen[text] {
			seen[text] = true
			words = append(words, text)
		}
	}
	if left := len(words) - mostCauses; left > 0 {
		words = append(words[:mostCauses], fmt.Sprintf("%d more", left))
	}
	return printable.Text(strings.Join(words, "; "))
}

// chainLines shows how the change of a property follows from its roots, a line for each link.
func (c changeWriter) chainLines(s *engine.Step, l *change.Property) (lines []string) {
	for i, chain := range c.o.Changes.ChainsOf(s, l) {
		if len(chain) < 2 {
			continue // its own text
		}
		if i > 0 && len(lines) > 0 {
			lines = append(lines, c.p.paint(dim, "    and"))
		}
		rows, _ := linkRows(c.links(chain[:len(chain)-1]))
		for _, row := range rows {
			lines = append(lines, c.p.paint(dim, "    "+row))
		}
	}
	return lines
}

// linkRows returns the lines of a chain, a column of places and what happens there, and where the second column begins.
func linkRows(chain []change.Link) (rows []string, second int) {
	width := 0
	for _, l := range chain {
		width = max(width, len(l.At()))
	}
	if width > 0 {
		second = width + 2
	}
	rows = make([]string, len(chain))
	for i, l := range chain {
		rows[i] = printable.Text(l.Text)
		if width > 0 {
			rows[i] = fill(printable.Text(l.At()), width) + "  " + rows[i]
		}
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows, second
}

// writeChain writes the lines of a chain. On a terminal of so many columns their second column is broken between words.
func writeChain(w io.Writer, chain []change.Link, width int) {
	rows, second := linkRows(chain)
	for _, row := range rows {
		fmt.Fprintln(w, foldAt("  "+row, width, 2+second))
	}
}

// links returns a chain in words.
func (c changeWriter) links(chain []change.Hop) []change.Link {
	list := make([]change.Link, len(chain))
	for i, h := range chain {
		list[i] = c.link(h)
		if h.At != (change.Place{}) {
			list[i].Place = &h.At
		}
	}
	return list
}

func (c changeWriter) link(h change.Hop) change.Link {
	if h.Cause != nil {
		bare := *h.Cause
		bare.At = change.Place{}
		return change.Link{Kind: bare.Kind, Text: bare.Words()}
	}
	name := h.Step.URN.Name()
	if h.Property == nil {
		words := opStyles[h.Step.Op].planned
		if h.Step.Op == engine.OpRefresh {
			words = refreshWords(h.Step)
		}
		return change.Link{Kind: change.LinkResource, URN: h.Step.URN, Text: name + ": " + words}
	}
	plain := c
	plain.p = palette{}
	line := plain.change(h.Property)[0]
	if h.Property.Replaces {
		line += " (forces replacement)"
	}
	return change.Link{Kind: change.LinkProperty, URN: h.Step.URN, Path: h.Property.Path, Text: name + " " + line}
}

// Bounds of what is kept of the causes of one resource.
const (
	keptChains = 4
	keptLinks  = 12
)

// kept returns the chains of causes that are kept for a step. Of longer chains it returns the end, which has the
// resource. It returns nothing for a resource whose only cause is that the program is new to it.
func (c changeWriter) kept(s *engine.Step) (list [][]change.Link) {
	if c.o.Changes.OnlyNew(s) {
		return nil
	}
	for _, chain := range c.o.Changes.Chains(s, keptChains) {
		list = append(list, c.links(chain[max(0, len(chain)-keptLinks):]))
	}
	return list
}

// Tell returns why the changed resources change, of at most so many, for the history and for plans.
func Tell(o Options, m *mask.Masker, most int) []change.Told {
	c := changeWriter{mask: m, o: o}
	var list []change.Told
	for _, s := range o.Changes.Changed(most) {
		t := change.Told{URN: s.URN, Op: s.Op}
		if s.Op == engine.OpRefresh && s.New == nil {
			t.Op = engine.OpDelete // from the state, because its object was gone
		}
		t.Because = c.kept(s)
		if len(t.Because) > 0 || o.Changes.OnlyNew(s) {
			list = append(list, t)
		}
	}
	return list
}

// WriteTold writes why a resource has changed, as --why does while it is planned. width is the columns of the terminal;
// 0 is no limit.
func WriteTold(w io.Writer, t *change.Told, width int, color bool) {
	p := palette{color}
	words := cmp.Or(opStyles[t.Op].planned, "unchanged")
	if t.Op == engine.OpRefresh {
		words = "changed in the state"
	}
	fmt.Fprintf(w, "%s %s\n", p.paint(bold, "Why "+printable.Text(t.URN.Name())+": "+words),
		p.paint(dim, schema.CollapseToken(t.URN.Type())))
	if t.Op == engine.OpCreate && len(t.Because) == 0 {
		fmt.Fprintln(w, "  new in the program")
	}
	for i, chain := range t.Because {
		if i > 0 {
			fmt.Fprintln(w)
		}
		writeChain(w, chain, width)
	}
}

// refreshWords returns what a refresh has found, in words.
func refreshWords(s *engine.Step) string {
	if s.New == nil {
		return opStyles[opGone].planned
	}
	return "changed in the state"
}

// why returns why the resource of --why changes, or why it does not.
func (r *report) why(w io.Writer) {
	name := r.o.Why
	if name == "" {
		return
	}
	fmt.Fprintln(w)
	s := r.o.Changes.Asked()
	if s == nil {
		fmt.Fprintf(w, "%s\n  no resource of this name has a part in this operation\n",
			r.p.paint(bold, "Why "+printable.Text(name)+":"))
		return
	}
	words, unchanged := opStyles[s.Op].planned, s.Op == engine.OpSame
	if s.Op == engine.OpRefresh {
		words, unchanged = refreshWords(s), s.New != nil && len(r.o.Changes.Of(s)) == 0
	}
	if unchanged {
		words = "unchanged"
	}
	fmt.Fprintf(w, "%s %s\n", r.p.paint(bold, "Why "+printable.Text(s.URN.Name())+": "+words),
		r.p.paint(dim, schema.CollapseToken(s.Type)))
	c := changeWriter{r.p, r.mask, r.o}
	chains := r.o.Changes.Chains(s, change.MostChains)
	if unchanged {
		chains = nil
		for _, text := range r.o.Changes.Kept(s) {
			fmt.Fprintln(w, r.fold("  "+printable.Text(text), 2))
		}
	} else if len(chains) == 0 {
		text := "no cause is known"
		if s.Reason != "" {
			text = s.Reason
		}
		fmt.Fprintln(w, r.fold("  "+printable.Text(text), 2))
	}
	for i, chain := range chains {
		if i > 0 {
			fmt.Fprintln(w)
		}
		links := c.links(chain)
		if root := &links[0]; root.Place != nil && r.o.Commit != nil {
			if text := r.o.Commit(*root.Place); text != "" {
				root.Text += " (" + text + ")"
			}
		}
		writeChain(w, links, r.o.Width)
	}
	if n := len(chains); n >= change.MostChains {
		fmt.Fprintf(w, "  … the first %s\n", diag.Count(n, "chain"))
	}
}
