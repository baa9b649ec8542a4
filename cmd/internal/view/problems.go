package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/value/urn"
)

// problems shows every warning and error once, grouped by resource, errors last, where a reader of a log looks first.
func (r report) problems(w io.Writer) {
	var shown diag.Diagnostics
	for _, errors := range []bool{false, true} {
		for _, m := range r.grouped(errors) {
			shown.Add(r.message(w, m))
		}
	}
	if text := diag.Advice(shown); text != "" {
		fmt.Fprintf(w, "%s\n\n", r.p.paint(dim, text))
	}
	s := r.board.summary
	if s == nil || len(s.Skipped) == 0 {
		return
	}
	names := make([]string, len(s.Skipped))
	for i, u := range s.Skipped {
		names[i] = u.Name()
	}
	const most = 10
	text := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		text += ", …"
	}
	cause := "earlier errors"
	if s.Result == "canceled" {
		cause = "the interrupt"
	}
	fmt.Fprintf(w, "%s skipped because of %s: %s\n\n", diag.Count(len(names), "resource"), cause, text)
}

// grouped returns the errors or the warnings, each once. All messages of a resource stand at the position of its
// first one.
func (r report) grouped(errors bool) []*engine.Message {
	type said struct {
		urn                    urn.URN
		code, text, at, within string
	}
	known := make(map[said]bool)
	place := make(map[urn.URN]int)
	var list []*engine.Message
	for i, m := range r.board.messages {
		if m.Severity == diag.Info || isError(m) != errors || isVerdict(m) {
			continue
		}
		key := said{m.URN, string(m.Code), strings.TrimSpace(m.Text), m.Position, m.Property}
		if known[key] {
			continue
		}
		known[key] = true
		if _, had := place[m.URN]; !had || m.URN == "" {
			place[m.URN] = i
		}
		list = append(list, m)
	}
	first := func(i int, m *engine.Message) int {
		if m.URN == "" {
			return i
		}
		return place[m.URN]
	}
	order := make(map[*engine.Message]int, len(list))
	for i, m := range r.board.messages {
		order[m] = first(i, m)
	}
	slices.SortStableFunc(list, func(a, b *engine.Message) int { return order[a] - order[b] })
	return list
}
