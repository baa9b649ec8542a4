package resources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/runtime/state/statetest"
)

var u, resource, on = statetest.URN, statetest.Resource, statetest.On

func table(t *testing.T, base ...*state.Resource) *Table {
	t.Helper()
	scope, err := plan.NewScope(plan.ScopeOptions{Base: base})
	require.NoError(t, err)
	return NewTable("dev", "p", base, scope)
}

func goal(name string, aliases ...string) *plan.Goal {
	r := monitor.RegisterRequest{Type: "test:index:Res", Name: name, Custom: true}
	for _, a := range aliases {
		r.Aliases = append(r.Aliases, monitor.Alias{Name: a})
	}
	return &plan.Goal{RegisterRequest: r}
}

// E4.2, E4.15: a prior resource is claimed once, under its own URN or through an alias.
func TestNamesAreTakenOnce(t *testing.T) {
	for name, c := range map[string]struct {
		first, second *plan.Goal
		says          string
	}{
		"twice":                      {goal("a"), goal("a"), "try giving it a unique name"},
		"one alias for two":          {goal("x", "a"), goal("y", "a"), "conflicting with resource"},
		"an alias of what is there":  {goal("a"), goal("x", "a"), "that resource is registered as well"},
		"the name that another left": {goal("x", "a"), goal("a"), "a resource with that name is registered as well"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := table(t, resource("a"))
			_, problem := tab.Claim(c.first)
			require.Nil(t, problem)
			_, problem = tab.Claim(c.second)
			require.NotNil(t, problem)
			require.Equal(t, diag.DuplicateURN, problem.Code)
			require.Contains(t, problem.Text, c.says)
		})
	}
}

// E4.13, E4.16: a resource that is found through an alias has its new URN from then on.
func TestRenaming(t *testing.T) {
	tab := table(t, resource("a"), resource("b", on("a")))
	reg, problem := tab.Claim(goal("x", "a"))
	require.Nil(t, problem)
	require.Equal(t, u("a"), reg.Old.Resource().URN)
	require.Equal(t, u("a"), tab.Former(u("x")))
	require.True(t, tab.Known(u("a")))
	require.Equal(t, []urn.URN{u("x")}, tab.Renamed([]*state.Resource{resource("b", on("a"))})[0].Dependencies)
	reg.KeepName() // out of scope
	require.Equal(t, []urn.URN{u("a")}, tab.Renamed([]*state.Resource{resource("b", on("a"))})[0].Dependencies)
	require.True(t, tab.Scope.Skipped(u("x")))
	_, problem = tab.Claim(goal("a"))
	require.NotNil(t, problem, "it is still called so")
}

// E4.95: a resource pending delete is not the prior resource of a registration.
func TestPendingDeletesAreNotFound(t *testing.T) {
	tab := table(t, resource("a", func(r *state.Resource) { r.Delete = true }))
	reg, problem := tab.Claim(goal("a"))
	require.Nil(t, problem)
	require.Nil(t, reg.Old.Resource())
	require.True(t, tab.Prior.Present(u("a")))
}

// E4.108: the prerequisites of a retained resource come in the order of the state; unfinished ones are waited for, and
// deleted ones are relocated.
func TestPrerequisitesComeInOrder(t *testing.T) {
	base := []*state.Resource{resource("a"), resource("b", on("a")), resource("c", on("b")), resource("d", on("c"))}
	tab := table(t, base...)
	held, problem := tab.Claim(goal("a"))
	require.Nil(t, problem)
	tab.Marks.Mark(nil, []plan.Step{plan.NewStep(plan.OpDeleteReplaced, base[2], nil)}) // deleted for another resource
	next := journal.ID(100)
	p := tab.Prerequisites(base[3])
	defer p.End()
	newID := func() journal.ID { next++; return next }

	m := p.Next(newID)
	require.Equal(t, (<-chan struct{})(held.Done), m.Wait, "a is being handled")
	held.Result = monitor.Succeeded
	close(held.Done)
	m = p.Next(newID)
	require.Equal(t, u("b"), m.Retain.URN, "b stays as it is")
	require.True(t, m.Retain.Retained())
	m.Retain.Result = monitor.Succeeded
	close(m.Retain.Done)
	m = p.Next(newID)
	require.NotNil(t, m.Wait, "c is being deleted")
	tab.Marks.EndCascades([]plan.Step{plan.NewStep(plan.OpDeleteReplaced, base[2], nil)})
	m = p.Next(newID)
	require.Equal(t, []journal.ID{3}, m.Entry.Remove)
	require.Equal(t, journal.ID(101), m.Entry.Add[0].ID)
	m.Moved()
	require.Nil(t, p.Next(newID))
}

// E4.41, E4.58: later decisions see the effects of steps on other resources.
func TestMark(t *testing.T) {
	base := []*state.Resource{resource("a"), resource("b", on("a"))}
	tab := table(t, base...)
	reg, _ := tab.Claim(goal("a"))
	require.Equal(t, []*state.Resource{base[1]}, reg.Old.Behind())
	tab.Marks.Mark(reg.Old, plan.Steps(plan.Situation{Old: base[0], Goal: base[0], Diff: plan.Diff{Replace: true},
		DeleteFirst: true, Dependents: []plan.Dependent{{Resource: base[1]}}}))
	require.Equal(t, []urn.URN{u("a"), u("b")}, tab.Marks.Replaced(u("a"), u("b"), u("c")))
	require.True(t, tab.Marks.Deleting(u("a")))
	require.True(t, tab.Prior.Decided(base[1]))
	require.Empty(t, reg.Old.Behind())

	tab = table(t, base...)
	reg, _ = tab.Claim(goal("a"))
	tab.Marks.Mark(reg.Old, plan.Steps(plan.Situation{Old: base[0], Goal: base[0], Diff: plan.Diff{Replace: true}}))
	require.False(t, tab.Marks.Deleting(u("a")), "what is created first is there until the end")
}
