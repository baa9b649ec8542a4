package resources

import (
	"cmp"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Registration is a resource that the program has registered or read in this operation, or that is retained because
// an untargeted resource depends on it. Its handler sets the exported fields below Done before it closes Done; others
// read them after that. The table guards the outcome, and Old once the registration is claimed.
type Registration struct {
	URN    urn.URN
	Goal   *plan.Goal // nil for a read
	Parent urn.URN
	Old    *Prior // the prior resource; nil for a new one

	Done   chan struct{} // closed when its steps have ended; its dependants wait for that
	Result monitor.Result
	Step   plan.Step // the logical step of the resource

	t *Table
	outcome
}

// outcome is the changing part of a registration. The table's mutex guards it.
type outcome struct {
	former   urn.URN         // the former URN, if it differs and the prior resource is gone
	state    *state.Resource // the current state; nil if it failed or was skipped
	id       journal.ID
	complete bool // its outputs were registered (E2.59)
	read     bool
	retained bool // not registered by a program so far; retained for a dependant
	vanished bool // a refresh did not find it; it is removed from the state at the end
	gone     bool // a destroy has deleted it after its registration (E7.42)
	unknown  bool // its outputs are unknown in a preview
	children []urn.URN
}

// IsDone reports whether the steps of the registration have ended.
func (r *Registration) IsDone() bool { return Closed(r.Done) }

// Closed reports whether a channel is closed; nothing is ever sent on it.
func Closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// State returns the current state of the resource, nil if it failed or was skipped.
func (r *Registration) State() *state.Resource {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.state
}

// ID returns the journal ID of the current state.
func (r *Registration) ID() journal.ID {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.id
}

// Known reports whether the outputs are final: not in a preview that would change the resource.
func (r *Registration) Known() bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return !r.unknown
}

// Retained reports whether no program has registered the resource so far.
func (r *Registration) Retained() bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.retained
}

// Adopt records that the program has registered or read a retained resource.
func (r *Registration) Adopt(read bool) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.retained, r.read = false, read
}

// Children returns the URNs of the resources registered with this one as their parent.
func (r *Registration) Children() []urn.URN {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return slices.Clone(r.children)
}

// Skip records that a new resource is not created because it is untargeted. It counts as a success; the program gets
// only the URN (E2.37, E4.29).
func (r *Registration) Skip(step plan.Step) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.t.Scope.of.Skip(r.URN)
	r.Step, r.Result, r.unknown = step, monitor.Succeeded, true
}

// Decide records that the steps of the prior resource are decided; vanished reports whether a refresh did not find it.
func (r *Registration) Decide(vanished bool) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.Old.decided = true
	r.vanished = vanished
}

// Refreshed completes a registration whose prior resource was read by a refresh.
func (r *Registration) Refreshed(step plan.Step) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.Step, r.Result, r.unknown = step, monitor.Succeeded, r.vanished
	if r.vanished {
		r.t.Scope.of.Skip(r.URN)
	}
}

// Complete records the registration of outputs, which is possible once (E2.59), and returns the outputs of the prior
// state. ok is false if it is not possible, also for a nil r.
func (r *Registration) Complete() (before value.Value, ok bool) {
	if r == nil {
		return value.Null, false
	}
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if !r.IsDone() || r.read || r.complete {
		return value.Null, false
	}
	r.complete = true
	if r.Old != nil {
		before = r.Old.resource.Outputs
	}
	return before, true
}

// Amend sets the current state, and returns the logical step with it.
func (r *Registration) Amend(now *state.Resource) plan.Step {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.state = now
	step := r.Step
	step.New = now
	return step
}

// Destroyed reports whether the operation has deleted the resource after its registration (E7.42).
func (r *Registration) Destroyed() bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	e := r.t.Prior.of[r.state]
	return r.gone && e != nil && e.now == nil
}

// KeepName records that the resource keeps its former URN, because nothing in scope can depend on its new one (E4.102).
func (r *Registration) KeepName() {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	former := r.Old.resource.URN
	delete(r.t.names.renamed, former)
	r.t.names.kept[former] = r.URN
	r.t.Scope.of.Skip(r.URN)
}

// Amended replaces the prior state by now, the result of a refresh. With vanished, the registration has no prior
// resource any more; plan.Situation.Recreated then has its position.
func (r *Registration) Amended(now *state.Resource, vanished bool) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	p := r.Old
	delete(r.t.Prior.of, p.resource)
	p.resource, p.now = now, now
	r.t.Prior.of[now] = p
	if vanished {
		r.Old = nil
		if now.URN != r.URN {
			r.former = now.URN
		}
	}
}

// Imported turns the current state into a prior resource, and returns it.
func (r *Registration) Imported() *Prior {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.t.Prior.made(r.state, r.id)
}

// DependsOnFailed reports whether a resource depends on one that failed or was skipped (E5.44).
func (t *Table) DependsOnFailed(r *state.Resource) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	bad := false
	r.AllDependencies(func(u urn.URN) {
		if dep := t.current.of[u]; dep != nil && dep.IsDone() && dep.Result != monitor.Succeeded {
			bad = true
		}
	})
	return bad
}

// Current is a resource in the state at the end of a program, for a refresh.
type Current struct {
	State    *state.Resource
	ID       journal.ID
	Read     bool // it must be read: the program has not registered it
	Vanished bool // a refresh did not find it
	reg      *Registration
}

// AtEnd returns all resources at the end of a program, in the order of the new state: registered ones, then the others
// (E7.33).
func (t *Table) AtEnd() []Current {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Current
	for _, reg := range t.current.of {
		if reg.state != nil {
			all = append(all, Current{State: reg.state, ID: reg.id, Vanished: reg.vanished, reg: reg,
				Read: reg.retained && reg.state.Custom && !reg.state.IsProvider()})
		}
	}
	slices.SortFunc(all, func(a, b Current) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range t.Prior.list {
		if e.now != nil {
			all = append(all, Current{State: e.now, ID: e.id, Read: !e.claimed && e.resource.ViewOf == ""})
		}
	}
	return all
}

// Registered returns the resources that the program has registered, in the order of the new state.
func (t *Table) Registered() []*Registration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*Registration
	for _, reg := range t.current.of {
		if reg.Goal != nil && reg.state != nil && !reg.retained {
			all = append(all, reg)
		}
	}
	slices.SortFunc(all, func(a, b *Registration) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.URN, b.URN))
	})
	return all
}

// Replace sets the resource's current state, if the resource was registered.
func (c Current) Replace(now *state.Resource) {
	if c.reg != nil {
		c.reg.t.mu.Lock()
		defer c.reg.t.mu.Unlock()
		c.reg.state = now
	}
}
