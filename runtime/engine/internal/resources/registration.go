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

	Done   chan struct{} // closed when its steps are over; those that need the resource wait for it
	Result monitor.Result
	Step   plan.Step // the logical step that it took

	t *Table
	outcome
}

// outcome is what has become of a registration. The table's mutex guards it.
type outcome struct {
	former   urn.URN         // the former name, if that differs and the prior resource is gone
	state    *state.Resource // the present state; nil when it failed or was skipped
	id       journal.ID
	complete bool // its outputs were registered (E2.59)
	read     bool
	retained bool // no program has registered it so far: something that is left alone depends on it
	vanished bool // a refresh did not find it: it leaves the state at the end
	gone     bool // the operation has deleted it after all (E7.42)
	unknown  bool // its outputs are not known in a preview
	children []urn.URN
}

// IsDone reports whether its steps are over.
func (r *Registration) IsDone() bool { return Closed(r.Done) }

// Closed reports whether a channel that says that something is over is closed.
func Closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// State returns what the resource is now, nil when it failed or was skipped.
func (r *Registration) State() *state.Resource {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.state
}

// ID returns the ID of the present state in the journal.
func (r *Registration) ID() journal.ID {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return r.id
}

// Known reports whether the program may believe what the resource is like: not in a preview that would change it.
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

// Adopt takes note that the program has registered a resource that was retained before, or read it.
func (r *Registration) Adopt(read bool) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.retained, r.read = false, read
}

// Children returns the URNs of the resources registered below it.
func (r *Registration) Children() []urn.URN {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	return slices.Clone(r.children)
}

// Skip records that a new resource is not created because it is out of scope. That is a success; the program gets
// nothing but the URN (E2.37, E4.29).
func (r *Registration) Skip(step plan.Step) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.t.Scope.of.Skip(r.URN)
	r.Step, r.Result, r.unknown = step, monitor.Succeeded, true
}

// Decide takes note that what becomes of the prior resource is decided; vanished says that a refresh did not find
// it.
func (r *Registration) Decide(vanished bool) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.Old.decided = true
	r.vanished = vanished
}

// Refreshed ends a registration whose prior state a refresh has read.
func (r *Registration) Refreshed(step plan.Step) {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.Step, r.Result, r.unknown = step, monitor.Succeeded, r.vanished
	if r.vanished {
		r.t.Scope.of.Skip(r.URN)
	}
}

// Complete takes note that outputs are registered, once (E2.59); before are the ones of the prior state. It reports
// false when that is not possible, also for a nil r.
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

// Amend makes another content the present state, and returns the logical step with it.
func (r *Registration) Amend(now *state.Resource) plan.Step {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.state = now
	step := r.Step
	step.New = now
	return step
}

// Destroyed reports whether the operation has deleted the resource after it was registered (E7.42).
func (r *Registration) Destroyed() bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	e := r.t.Prior.of[r.state]
	return r.gone && e != nil && e.now == nil
}

// KeepName takes note that the resource goes on under the name that it had: nothing in scope can depend on it under its
// new one (E4.102).
func (r *Registration) KeepName() {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	former := r.Old.resource.URN
	delete(r.t.names.renamed, former)
	r.t.names.kept[former] = r.URN
	r.t.Scope.of.Skip(r.URN)
}

// Amended replaces the prior state by now, which a refresh has read. vanished says that the resource was not found:
// then it has no prior state any more, and Recreated of the plan names its position.
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

// Imported makes the present state of the resource its prior one, and returns that.
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

// Current is a resource as it is at the end of a program, for a refresh.
type Current struct {
	State    *state.Resource
	ID       journal.ID
	Read     bool // it has to be read: no program has
	Vanished bool // it was not found
	reg      *Registration
}

// AtEnd returns everything that there is when a program has ended, in the order of the state that the operation makes:
// what was registered, then what was not (E7.33).
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

// Registered returns what the program has registered, in the order of the state that the operation makes.
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

// Replace replaces the resource's state by now, if the resource was registered.
func (c Current) Replace(now *state.Resource) {
	if c.reg != nil {
		c.reg.t.mu.Lock()
		defer c.reg.t.mu.Unlock()
		c.reg.state = now
	}
}
