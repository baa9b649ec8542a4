package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// planConstraint records a plan during a preview, and constrains an update to a plan. It is safe for concurrent use.
type planConstraint struct {
	life   *lifetime
	report *reporter
	// violated is set by the first violation of the plan.
	violated atomic.Bool

	mu     sync.Mutex  // guards the fields below; bound is immutable
	record *UpdatePlan // nil unless a plan is recorded
	bound  *UpdatePlan // nil unless a plan constrains the operation
	left   map[urn.URN][]Op
}

// newPlanConstraint constrains an operation to the plan in its options, if any, and records a plan in a preview that
// is asked for one.
func newPlanConstraint(o *Options, life *lifetime, report *reporter) *planConstraint {
	p := &planConstraint{life: life, report: report, bound: o.Plan}
	if o.DryRun && o.RecordPlan {
		p.record = &UpdatePlan{Resources: map[urn.URN]*ResourcePlan{}}
	}
	if o.Plan != nil {
		p.left = make(map[urn.URN][]Op, len(o.Plan.Resources))
		for u, r := range o.Plan.Resources {
			p.left[u] = r.Steps
		}
	}
	return p
}

// planned returns the plan of a resource, or nil if no plan constrains it.
func (p *planConstraint) planned(u urn.URN) *ResourcePlan {
	if p.bound == nil {
		return nil
	}
	return p.bound.Resources[u]
}

// of returns the recorded plan of a resource, which it creates if missing. The caller holds mu.
func (p *planConstraint) of(u urn.URN) *ResourcePlan {
	r := p.record.Resources[u]
	if r == nil {
		r = &ResourcePlan{}
		p.record.Resources[u] = r
	}
	return r
}

// decided records a registration's goal and steps, or checks them. It returns an error if they violate the plan. Inputs
// are recorded as a difference from the prior ones (E7.64); unknown planned values match everything.
func (p *planConstraint) decided(s *record, steps []Step) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := value.EmptyMap()
	if old := s.oldState(); old != nil && s.deleted == nil {
		before = old.Inputs
	}
	if p.record != nil {
		g := s.desired
		p.of(g.URN).Seed = s.seed
		p.of(g.URN).Goal = &PlannedGoal{Type: g.Type, Name: g.URN.Name(), Custom: g.Custom,
			Inputs: planDiff(before, g.Inputs), Parent: g.Parent,
			Protect: g.Protect, Dependencies: g.Dependencies, Provider: g.Provider,
			PropertyDependencies: g.PropertyDependencies.Map(),
			DeleteBeforeReplace:  s.reg.Goal.DeleteBeforeReplace, IgnoreChanges: g.IgnoreChanges,
			AdditionalSecretOutputs: g.AdditionalSecretOutputs, Aliases: aliasURNs(s.reg.Goal), ImportID: g.ImportID,
			CustomTimeouts: g.CustomTimeouts}
	}
	if p.bound != nil {
		if err := p.goal(s, before); err != nil {
			return err
		}
	}
	return p.steps(steps)
}

// aliasURNs returns the aliases of a goal that are complete URNs.
func aliasURNs(g *plan.Goal) []urn.URN {
	var urns []urn.URN
	for _, a := range g.Aliases {
		if a.URN != "" {
			urns = append(urns, a.URN)
		}
	}
	return urns
}

// steps records steps, or matches them with the next steps of the plan (E7.67). The caller holds mu.
func (p *planConstraint) steps(steps []Step) error {
	for i := range steps {
		s := &steps[i]
		if p.record != nil {
			r := p.of(s.URN)
			r.Steps = append(r.Steps, s.Op)
		}
		if p.bound == nil {
			continue
		}
		left := p.left[s.URN]
		planned := p.bound.Resources[s.URN]
		switch {
		case planned == nil && s.Op == OpSame:
		case planned == nil:
			return unplanned("the plan has no step for this resource, and this run would %s it", doing(s.Op))
		case len(left) == 0:
			return unplanned("the plan has no further step for this resource, and this run would %s it", doing(s.Op))
		case !allows(left[0], s.Op):
			return unplanned("the plan is to %s this resource, and this run would %s it", doing(left[0]), doing(s.Op))
		default:
			p.left[s.URN] = left[1:]
			if s.Op != left[0] && (s.Op == OpSame || s.Op == OpUpdate) {
				p.left[s.URN] = withoutReplacement(left)
				for _, former := range s.New.Aliases { // its planned deletion is listed under the former URN
					if i := slices.Index(p.left[former], OpDeleteReplaced); i >= 0 {
						p.left[former] = slices.Delete(slices.Clone(p.left[former]), i, i+1)
					}
				}
			}
		}
	}
	return nil
}

// withoutReplacement returns planned steps without the steps of one replacement that turned out to be unnecessary.
// The planned deletion of resources that an earlier operation left behind stays.
func withoutReplacement(planned []Op) []Op {
	left := slices.Clone(planned)
	for _, op := range []Op{OpReplace, OpCreateReplacement, OpDeleteReplaced} {
		if i := slices.Index(left, op); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	if len(left) == len(planned) { // no replacement was planned
		left = left[1:]
	}
	return left
}

// allows reports whether a step is the planned one or a lesser one (E7.67): a resource may turn out to need no change,
// or an update instead of the planned replacement.
func allows(planned, actual Op) bool {
	switch planned {
	case actual:
		return true
	case OpCreate, OpUpdate:
		return actual == OpSame
	case OpReplace, OpCreateReplacement, OpDeleteReplaced:
		return actual == OpUpdate || actual == OpSame
	}
	return false
}

// outputs records registered outputs, or compares them with the planned ones (E7.74).
func (p *planConstraint) outputs(u urn.URN, before, outputs value.Value) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.record != nil {
		if r := p.record.Resources[u]; r != nil && r.Goal != nil {
			r.Goal.Outputs = planDiff(before, outputs)
		}
	}
	planned := p.planned(u)
	if planned == nil || planned.Goal == nil {
		return nil
	}
	if problems := violations(planned.Goal.Outputs, before, outputs); len(problems) > 0 {
		return unplanned("outputs: %s", strings.Join(problems, "; "))
	}
	return nil
}

// taken records or checks the steps that are decided without an examination: those of an import before an update, and
// the final deletions. If one violates the plan, it returns that step and the error.
func (p *planConstraint) taken(steps []Step) (*Step, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range steps {
		if err := p.steps(steps[i : i+1]); err != nil {
			return &steps[i], err
		}
	}
	return nil, nil
}

// goal compares a goal with the planned one (E7.69–E7.71). The caller holds mu.
func (p *planConstraint) goal(s *record, before value.Value) error {
	g := s.desired
	planned := p.bound.Resources[g.URN]
	if planned == nil { // E7.73: only the step OpSame is allowed, which steps checks
		return nil
	}
	want := planned.Goal
	if want == nil { // E7.72
		return unplanned("the plan is to delete this resource, and the program still has it")
	}
	wantFirst, first := choice(want.DeleteBeforeReplace), choice(s.reg.Goal.DeleteBeforeReplace)
	secrets, aliases := g.AdditionalSecretOutputs, aliasURNs(s.reg.Goal)
	for _, option := range []struct {
		name            string
		same            bool
		planned, actual any
	}{
		{"custom", want.Custom == g.Custom, want.Custom, g.Custom},
		{"provider", sameProvider(want.Provider, g.Provider), want.Provider, g.Provider},
		{"parent", want.Parent == g.Parent, want.Parent, g.Parent},
		{"protect", want.Protect == g.Protect, want.Protect, g.Protect},
		{"deleteBeforeReplace", wantFirst == first, wantFirst, first},
		{"importID", want.ImportID == g.ImportID, want.ImportID, g.ImportID},
		{"custom timeouts", want.CustomTimeouts == g.CustomTimeouts, want.CustomTimeouts, g.CustomTimeouts},
		{"ignoreChanges", sameSet(want.IgnoreChanges, g.IgnoreChanges), want.IgnoreChanges, g.IgnoreChanges},
		{"additionalSecretOutputs", sameSet(want.AdditionalSecretOutputs, secrets), want.AdditionalSecretOutputs, secrets},
		{"dependencies", plan.SameURNs(want.Dependencies, g.Dependencies), want.Dependencies, g.Dependencies},
		{"aliases", plan.SameURNs(want.Aliases, aliases), want.Aliases, aliases},
	} {
		if !option.same {
			return unplanned("the option %s: planned %v, actual %v", option.name, option.planned, option.actual)
		}
	}
	if problems := violations(want.Inputs, before, g.Inputs); len(problems) > 0 {
		return unplanned("%s", strings.Join(problems, "; "))
	}
	for key, deps := range want.PropertyDependencies {
		if now, ok := g.PropertyDependencies.Get(key); ok && !plan.SameURNs(deps, now) {
			return unplanned("the option dependencies of %s: planned %v, actual %v", key, deps, now)
		}
	}
	return nil
}

// violations describes the differences between the planned and the actual changes, sorted by property (E7.70, E7.71).
func violations(planned PlanDiff, before, after value.Value) []string {
	var list []string
	actual := planDiff(before, after)
	accepts := func(want, got value.Value) bool { return want.ContainsUnknown() || value.SameContent(want, got) }
	keys := map[string]bool{}
	for _, m := range []map[string]value.Value{planned.Adds, planned.Updates, actual.Adds, actual.Updates} {
		for key := range m {
			keys[key] = true
		}
	}
	for _, key := range slices.Concat(planned.Deletes, actual.Deletes) {
		keys[key] = true
	}
	for key := range keys {
		former, _ := before.Lookup(key)
		got, present := after.Lookup(key)
		wantOp, want := planned.of(key, former)
		gotOp, _ := actual.of(key, former)
		fine := false
		switch wantOp {
		case "+":
			fine = want.ContainsUnknown() || present && accepts(want, got)
		case "~":
			fine = want.ContainsUnknown() || present && gotOp != "+" && accepts(want, got)
		case "-":
			fine = !present
		}
		if !fine {
			list = append(list, fmt.Sprintf("%s: planned %s, actual %s", key, side(wantOp, want), side(gotOp, got)))
		}
	}
	slices.Sort(list)
	return list
}

// side describes the planned or the actual value in a violation.
func side(op string, v value.Value) string {
	if op == "-" || op == "=" && v.IsNull() {
		return "nothing"
	}
	return plan.Printed(v)
}

// unplanned returns an error about a violation of the plan.
func unplanned(format string, args ...any) error {
	return fmt.Errorf("not as planned: "+format, args...)
}

// doing returns the verb for an operation.
func doing(op Op) string {
	switch op {
	case OpSame:
		return "keep"
	case OpCreateReplacement, OpDeleteReplaced, OpReplace:
		return "replace"
	}
	return strings.ReplaceAll(string(op), "-", " ")
}

// sameProvider compares references to providers. The plan may hold UnknownID for a provider that it creates.
func sameProvider(planned, actual string) bool {
	if planned == actual {
		return true
	}
	want, err := urn.ParseReference(planned)
	if err != nil {
		return false
	}
	got, err := urn.ParseReference(actual)
	return err == nil && want.URN == got.URN && want.ID == UnknownID
}

// choice describes an optional boolean; nil is a value of its own.
func choice(b *bool) string {
	if b == nil {
		return "unset"
	}
	return fmt.Sprint(*b)
}

// sameSet compares two lists as sets.
func sameSet(a, b []string) bool {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(x), slices.Compact(y))
}

// violation reports a violation of the plan and ends the operation (E7.76).
func (p *planConstraint) violation(u urn.URN, position string, err error) error {
	return p.violates(operationFailed(u, position, err.Error()))
}

// violates is violation with the message to report.
func (p *planConstraint) violates(m Message) error {
	p.violated.Store(true)
	p.report.message(m)
	p.life.stop()
	return monitor.ErrReported
}

// checkMissing reports the planned steps that were not taken, after an otherwise successful update (E7.75). Planned
// deletions of resources that base, the prior state of the operation, does not contain are ignored.
func (p *planConstraint) checkMissing(base *state.Snapshot) {
	if p.bound == nil || p.report.failed.Load() || p.life.running.Err() != nil {
		return
	}
	known := map[urn.URN]bool{}
	for _, r := range base.Resources {
		known[r.URN] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range slices.Sorted(maps.Keys(p.left)) {
		left := p.left[u]
		if len(left) == 0 || len(left) == 1 && left[0] == OpDelete && !known[u] {
			continue
		}
		p.violated.Store(true)
		p.report.message(operationFailed(u, "", fmt.Sprintf(
			"not as planned: the plan has steps for %s, which the program did not register", u)))
	}
}
