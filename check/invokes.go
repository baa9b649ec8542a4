package check

import (
	"slices"
	"strings"
)

// Invokes are the calls of provider functions in the program and in its components, one of each function, by token.
func (p *Program) Invokes() []*Invoke {
	byToken := make(map[string]*Invoke)
	add := func(body *record) {
		if body.outcome == nil {
			return
		}
		for _, call := range body.outcome.calls {
			if call == nil {
				continue
			}
			if inv := call.Invoke; inv != nil && (byToken[inv.Token] == nil || byToken[inv.Token].Schema == nil) {
				byToken[inv.Token] = inv
			}
		}
	}
	for _, r := range p.records.each() {
		add(r)
	}
	all := make([]*Invoke, 0, len(byToken))
	for _, inv := range byToken {
		all = append(all, inv)
	}
	slices.SortFunc(all, func(a, b *Invoke) int { return strings.Compare(a.Token, b.Token) })
	return all
}
