package change

import (
	"sync"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Book keeps what the steps of one operation change, and why, so that it is determined once for all that show it, and
// only if something does. It is safe for concurrent use. A nil Book keeps nothing.
type Book struct {
	mu        sync.Mutex
	explain   Explainer
	sets      map[entry]Set
	causes    map[entry][]Cause
	steps     map[urn.URN]*engine.Step // the latest step that changes a resource, and every step of a component
	refreshes map[urn.URN]*engine.Step // what a refresh has found
	remedies  map[urn.URN][]*engine.PolicyNote
	failed    map[urn.URN]bool // whose steps have failed
	asked     string           // the name of a resource of which unchanged steps are kept too
}

// entry identifies a step by its operation and its states, which are immutable; the steps of a replacement share them.
type entry struct {
	op       engine.Op
	old, new *state.Resource
}

// Explainer finds the causes of changes. It is called with the book locked, and reads it through Steps.
type Explainer interface {
	// Property returns the causes of one changed property, nearest first, and the place of its text in the program.
	Property(t Steps, s *engine.Step, p *Property) ([]Cause, Place)
	// Place returns the place of a resource in the program; zero for one that the program does not declare.
	Place(s *engine.Step) Place
	// Step returns the causes of a step that are not those of its properties.
	Step(t Steps, s *engine.Step, set Set) []Cause
	// Kept returns what keeps a resource as it is, in sentences.
	Kept(t Steps, s *engine.Step) []string
}

// Reset forgets everything, before another operation. explain may be nil, and then no change has a cause. asked is the
// name of the resource that Asked is about; it may be empty.
func (b *Book) Reset(explain Explainer, asked string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.explain, b.asked = explain, asked
	b.sets, b.causes = map[entry]Set{}, map[entry][]Cause{}
	b.steps, b.refreshes = map[urn.URN]*engine.Step{}, map[urn.URN]*engine.Step{}
	b.remedies, b.failed = map[urn.URN][]*engine.PolicyNote{}, map[urn.URN]bool{}
}

// Event takes part in an operation. It must have an event before those that ask for the changes of its step.
func (b *Book) Event(e engine.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := e.(type) {
	case *engine.StepStarted:
		b.take(e.Step)
	case *engine.StepFinished:
		b.take(e.Step)
	case *engine.StepFailed:
		if b.failed != nil {
			b.failed[e.Step.URN] = true
		}
	case *engine.Message:
		if e.Policy != nil && e.Policy.Remediation {
			b.remedies[e.URN] = append(b.remedies[e.URN], e.Policy)
		}
	}
}

func (b *Book) take(s *engine.Step) {
	if s.Op == engine.OpSame && s.About().Custom && (b.asked == "" || s.URN.Name() != b.asked) {
		return
	}
	switch before := b.steps[s.URN]; {
	case s.Op == engine.OpRefresh:
		b.refreshes[s.URN] = s
	case before != nil && before.Logical() && !s.Logical() && before.Op != engine.OpSame:
	default:
		b.steps[s.URN] = s
	}
}

// Of returns what a step changes, with causes if the book has an Explainer. Callers must not modify the result.
func (b *Book) Of(s *engine.Step) Set {
	if b == nil {
		return Of(s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of(s)
}

func (b *Book) of(s *engine.Step) Set {
	key := entry{s.Op, s.Old, s.New}
	set, known := b.sets[key]
	if known {
		return set
	}
	set = Of(s)
	if b.explain != nil && s.Old != nil {
		for i := range set {
			set[i].Causes, set[i].At = b.explain.Property(Steps{b}, s, &set[i])
		}
	}
	if b.sets == nil {
		b.sets = map[entry]Set{}
	}
	b.sets[key] = set
	return set
}

// Causes returns the causes of a step that are not those of its properties, nearest first.
func (b *Book) Causes(s *engine.Step) []Cause {
	if b == nil || b.explain == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.causesOf(s)
}

func (b *Book) causesOf(s *engine.Step) []Cause {
	key := entry{s.Op, s.Old, s.New}
	causes, known := b.causes[key]
	if !known {
		causes = b.explain.Step(Steps{b}, s, b.of(s))
		b.causes[key] = causes
	}
	return causes
}

// OnlyNew reports whether a resource is created for no other reason than that the program has it.
func (b *Book) OnlyNew(s *engine.Step) bool {
	list := b.Causes(s)
	return len(list) == 1 && list[0].Kind == ByNew
}

// Steps is what an Explainer knows of an operation.
type Steps struct{ b *Book }

// Of returns the step that changes a resource, or the step of a component; nil if there has been none.
func (t Steps) Of(u urn.URN) *engine.Step { return t.b.steps[u] }

// Refreshed returns what a refresh has found about a resource; nil if there has been none.
func (t Steps) Refreshed(u urn.URN) *engine.Step { return t.b.refreshes[u] }

// Remedies returns the changes of policies to the inputs of a resource.
func (t Steps) Remedies(u urn.URN) []*engine.PolicyNote { return t.b.remedies[u] }

// Set returns what a step changes.
func (t Steps) Set(s *engine.Step) Set { return t.b.of(s) }

// Roots returns the causes behind the change of a resource, behind which there are no others, each once and at most 16.
// They lead through the changes of other resources.
func (b *Book) Roots(s *engine.Step) []Cause {
	if b == nil || b.explain == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := rootWalk{b: b, seen: map[urn.URN]bool{}, known: map[rootKey]bool{}}
	w.step(s)
	return w.found
}

const mostRoots = 16

// rootWalk collects roots. seen are the resources whose causes it has.
type rootWalk struct {
	b     *Book
	seen  map[urn.URN]bool
	known map[rootKey]bool
	found []Cause
}

type rootKey struct {
	kind CauseKind
	name string
	at   Place
}

func (w *rootWalk) step(s *engine.Step) {
	if s == nil || w.seen[s.URN] || len(w.found) >= mostRoots {
		return
	}
	w.seen[s.URN] = true
	for _, p := range w.b.of(s) {
		w.causes(p.Causes)
	}
	w.causes(w.b.causesOf(s))
}

func (w *rootWalk) causes(list []Cause) {
	for _, c := range list {
		switch {
		case len(c.By) > 0:
			w.causes(c.By)
		case c.URN != "" && w.b.steps[c.URN] != nil && c.Kind != ByStack:
			w.step(w.b.steps[c.URN])
		default:
			key := rootKey{c.Kind, c.Name, c.At}
			if !w.known[key] && len(w.found) < mostRoots {
				w.known[key] = true
				w.found = append(w.found, c)
			}
		}
	}
}

// Asked returns the step of the resource that was asked for, by its name, or else what a refresh has found of it; nil
// if there has been neither.
func (b *Book) Asked() *engine.Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found *engine.Step
	for _, steps := range []map[urn.URN]*engine.Step{b.steps, b.refreshes} {
		for u, s := range steps {
			if u.Name() == b.asked && (found == nil || u < found.URN) {
				found = s
			}
		}
		if found != nil {
			break
		}
	}
	return found
}

// Kept returns what keeps a resource as it is, in sentences.
func (b *Book) Kept(s *engine.Step) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.explain == nil {
		return nil
	}
	return b.explain.Kept(Steps{b}, s)
}

// Component returns the step of a component by its type and name; nil if there has been none.
func (t Steps) Component(typ, name string) *engine.Step {
	var found *engine.Step
	for u, s := range t.b.steps {
		if u.Type() == typ && u.Name() == name && (found == nil || u < found.URN) {
			found = s
		}
	}
	return found
}
