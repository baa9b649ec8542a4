package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/output/change"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/runtime/engine"
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
		for _, row := range c.rows(chain[:len(chain)-1]) {
			lines = append(lines, c.p.paint(dim, "    "+row))
		}
	}
	return lines
}

// rows returns the lines of a chain: a column of places, and what happens there.
func (c changeWriter) rows(chain []change.Hop) []string {
	width := 0
	for _, h := range chain {
		width = max(width, len(h.At.String()))
	}
	rows := make([]string, len(chain))
	for i, h := range chain {
		rows[i] = strings.TrimRight(fill(printable.Text(h.At.String()), width)+"  "+c.hop(h), " ")
	}
	return rows
}

func (c changeWriter) hop(h change.Hop) string {
	if h.Cause != nil {
		bare := *h.Cause
		bare.At = change.Place{}
		return printable.Text(bare.Words())
	}
	name := printable.Text(h.Step.URN.Name())
	plain := c
	plain.p = palette{}
	if h.Property == nil {
		return name + ": " + opStyles[h.Step.Op].planned
	}
	line := plain.change(h.Property)[0]
	if h.Property.Replaces {
		line += " (forces replacement)"
	}
	return name + " " + line
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
	words := opStyles[s.Op].planned
	if s.Op == engine.OpSame {
		words = "unchanged"
	}
	fmt.Fprintf(w, "%s %s\n", r.p.paint(bold, "Why "+printable.Text(s.URN.Name())+": "+words),
		r.p.paint(dim, ShortType(s.Type)))
	c := changeWriter{r.p, r.mask, r.o}
	chains := r.o.Changes.Chains(s)
	if s.Op == engine.OpSame {
		chains = nil
		for _, text := range r.o.Changes.Kept(s) {
			fmt.Fprintf(w, "  %s\n", printable.Text(text))
		}
	} else if len(chains) == 0 {
		text := "no cause is known"
		if s.Reason != "" {
			text = s.Reason
		}
		fmt.Fprintf(w, "  %s\n", printable.Text(text))
	}
	for i, chain := range chains {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for _, row := range c.rows(chain) {
			fmt.Fprintf(w, "  %s\n", row)
		}
	}
	if n := len(chains); n >= 24 {
		fmt.Fprintf(w, "  … the first %s\n", diag.Count(n, "chain"))
	}
}
