package change

import (
	"slices"

	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Hop is one link between the root of a change and the changed resource: a cause, a changed property of a resource, or
// a resource whose change is not that of a property.
type Hop struct {
	At       Place
	Cause    *Cause       // nil for a resource
	Step     *engine.Step // of the resource
	Property *Property    // nil for a resource as a whole
}

// MostChains is how many chains are shown of one resource, and mostHops how long each is.
const (
	MostChains = 24
	mostHops   = 100
)

// Chains returns how the change of a resource follows from its roots, root first; each ends with one of its properties,
// or with the resource. There are at most so many.
func (b *Book) Chains(s *engine.Step, most int) [][]Hop {
	return b.walk(most, func(w *chainWalk) { w.step(s, nil) })
}

// ChainsOf is Chains for one property of a step.
func (b *Book) ChainsOf(s *engine.Step, p *Property) [][]Hop {
	return b.walk(MostChains, func(w *chainWalk) { w.property(s, p, nil) })
}

// walk returns the chains that a walk finds, at most so many; none for a book without causes.
func (b *Book) walk(most int, along func(*chainWalk)) [][]Hop {
	if b == nil || b.explain == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := chainWalk{b: b, most: most}
	along(&w)
	return w.found
}

type chainWalk struct {
	b     *Book
	most  int
	found [][]Hop
}

// before returns a chain with one more hop in front.
func before(h Hop, chain []Hop) []Hop { return append([]Hop{h}, chain...) }

func (w *chainWalk) full(chain []Hop) bool {
	return len(w.found) >= w.most || len(chain) >= mostHops
}

// step adds the chains that lead to a step.
func (w *chainWalk) step(s *engine.Step, chain []Hop) {
	if w.full(chain) || slices.ContainsFunc(chain, func(h Hop) bool { return h.Step != nil && h.Step.URN == s.URN }) {
		return
	}
	set := w.b.of(s)
	forced := slices.ContainsFunc(set, func(p Property) bool { return p.Replaces })
	for i := range set {
		if s.Old != nil && (!forced || set[i].Replaces || chain == nil) {
			w.property(s, &set[i], chain)
		}
	}
	for _, c := range w.b.causesOf(s) {
		w.cause(&c, before(Hop{At: w.b.explain.Place(s), Step: s}, chain))
	}
}

func (w *chainWalk) property(s *engine.Step, p *Property, chain []Hop) {
	chain = before(Hop{At: p.At, Step: s, Property: p}, chain)
	if len(p.Causes) == 0 && !w.full(chain) {
		w.found = append(w.found, chain)
	}
	for i := range p.Causes {
		w.cause(&p.Causes[i], chain)
	}
}

// cause adds the chains that lead to a cause.
func (w *chainWalk) cause(c *Cause, chain []Hop) {
	if w.full(chain) {
		return
	}
	switch s := w.b.steps[c.URN]; {
	case len(c.By) > 0:
		for i := range c.By {
			w.cause(&c.By[i], before(Hop{At: c.At, Cause: c}, chain))
		}
	case s != nil && c.Kind != ByStack:
		count := len(w.found)
		w.step(s, chain)
		if len(w.found) == count && !w.full(chain) {
			w.found = append(w.found, before(Hop{At: c.At, Cause: c}, chain))
		}
	case c.Kind == ByLiteral && (c.Own || len(chain) > 0 && chain[0].Cause != nil && chain[0].At == c.At):
		w.found = append(w.found, chain) // the hop behind it has its place
	default:
		w.found = append(w.found, before(Hop{At: c.At, Cause: c}, chain))
	}
}

// Nearest returns the cause to name in a few words: what lies between is left out, up to another resource or the root.
func (c *Cause) Nearest() Cause {
	near, at := *c, c
	for len(at.By) > 0 {
		next := &at.By[0]
		if next.Kind == ByLiteral { // the text of a variable, say
			near.At, near.Possible = next.At, near.Possible || next.Possible
		} else {
			near = *next
			near.Possible = near.Possible || c.Possible
		}
		at = next
	}
	near.By = nil
	return near
}
