package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/runtime/state/statetest"
)

var u, resource, on = statetest.URN, statetest.Resource, statetest.On

// E6.24–E6.28, E9.98: the times of creation and modification in the state.
func TestTimes(t *testing.T) {
	w := newWorld()
	run := func(refresh bool, program string) map[string][2]time.Time {
		o, _ := w.options(1, false)
		var result *Result
		var err error
		if refresh {
			result, err = Refresh(t.Context(), o, nil)
		} else {
			result, err = Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
				return runScript(ctx, m,
					program)
			})
		}
		require.NoError(t, err)
		require.False(t, result.Failed)
		w.state = result.Snapshot
		times := map[string][2]time.Time{}
		for _, r := range w.state.Resources {
			var at [2]time.Time
			if r.Created != nil {
				at[0] = *r.Created
			}
			if r.Modified != nil {
				at[1] = *r.Modified
			}
			times[r.URN.Name()] = at
		}
		return times
	}
	w.cloud.objects["x"] = value.MapOf(value.Entry{Key: "v", Value: value.String("1")})
	first := run(false, "res a v=1\ncomp c x=1\nget g id=x v=1\nres b v=1")
	require.Equal(t, first["a"][0], first["a"][1], "E6.24")
	require.False(t, first["a"][0].IsZero(), "E6.24")
	require.True(t, first["g"][0].IsZero(), "E6.27: a read does not make anything")
	second := run(false, "res a v=2\ncomp c x=2\nget g id=x v=1\nres b v=1")
	require.Equal(t, first["a"][0], second["a"][0], "E6.25")
	require.True(t, second["a"][1].After(first["a"][1]), "E6.25")
	require.Equal(t, first["c"], second["c"], "E6.26: an updated component")
	require.Equal(t, first["b"], second["b"], "E6.26: what is the same")
	require.Equal(t, first["g"], second["g"], "E6.27: a read that finds the same")
	require.Equal(t, second, run(true, ""), "E6.28: a refresh that finds the same")
	w.cloud.objects["a-1"] = w.cloud.objects["a-1"].With("v", value.String("9"))
	third := run(true, "")
	require.True(t, third["a"][1].After(second["a"][1]), "E6.28")
	require.Equal(t, second["a"][0], third["a"][0], "E6.28")
	fourth := run(false, "res a repl=1\ncomp c x=2\nget g id=x\nres b v=1")
	require.True(t, fourth["a"][0].After(third["a"][0]), "E6.29: a replacement is made anew")
}

// E6.52: a state with two resources of one URN is refused before anything happens, unless one of them is pending
// delete.
func TestDuplicatesInTheState(t *testing.T) {
	twice := &state.Snapshot{Resources: []*state.Resource{resource("a"), resource("a")}}
	require.ErrorContains(t, noDuplicates(twice), "unexpected duplicate resource")
	w := newWorld()
	o, _ := w.options(1, true)
	o.Base = twice
	_, err := Refresh(t.Context(), o, nil)
	require.Error(t, err)
	require.NoError(t, noDuplicates(&state.Snapshot{Resources: []*state.Resource{resource("a"),
		resource("a", func(r *state.Resource) { r.Delete = true })}}))
}

// E8.5: the steps that count as a change.
func TestHasChanges(t *testing.T) {
	for op, changes := range map[Op]bool{OpSame: false, OpRead: false, OpReadReplacement: false, OpDiscard: false,
		OpCreate: true, OpUpdate: true,
		OpDelete: true, OpReplace: true, OpImport: true} {
		require.Equal(t, changes, (&Result{Changes: map[Op]int{op: 1}}).HasChanges(), op)
	}
}

// E4.9, E9.4: all checks of a resource in one operation have the same seed.
func TestSeedIsTheSameForEachCheck(t *testing.T) {
	w := newWorld()
	seeds := map[string]bool{}
	checks := 0
	w.cloud.checked = func(name string, seed []byte) {
		if name == "a" {
			checks++
			seeds[string(seed)] = true
		}
	}
	run := func(program string) {
		o, _ := w.options(1, false)
		n := byte(0)
		o.Seed = func() []byte { n++; return []byte{n} }
		result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
			return runScript(ctx, m,
				program)
		})
		require.NoError(t, err)
		w.state = result.Snapshot
	}
	run("res a repl=1")
	clear(seeds)
	checks = 0
	run("res a repl=2")
	require.Equal(t, 2, checks, "a replacement is checked twice")
	require.Len(t, seeds, 1)
}

// E6.36–E6.39: no resource refers to a missing one, and empty lists stay unchanged.
func TestRebuildAfterRefresh(t *testing.T) {
	a, b := resource("a"), resource("b", on("a"), func(r *state.Resource) {
		r.Parent, r.DeletedWith = u("a"), u("a")
		r.PropertyDependencies = urn.DependenciesOf(map[string][]urn.URN{"x": {u("a")}, "empty": {}, "later": {u("c")}})
	})
	c := resource("c")
	got := plan.Rebuild([]*state.Resource{a, b, c}, []*state.Resource{nil, b, c})
	require.Nil(t, got[0])
	require.Same(t, c, got[2])
	require.Empty(t, got[1].Parent)
	require.Empty(t, got[1].DeletedWith)
	require.Empty(t, got[1].Dependencies)
	require.Equal(t, map[string][]urn.URN{"empty": {}}, got[1].PropertyDependencies.Map())
	require.Equal(t, u("a"), b.Parent, "the old state is not touched")
}

// E4.80: resources of a missing owner belong to its older object that is pending delete; that moves in front of them,
// unless it depends on a resource that comes later.
func TestOlderOwnersComeFirst(t *testing.T) {
	gone := resource("owner")
	needed, goes := resource("needed"), resource("goes", func(r *state.Resource) { r.DeletedWith = u("owner") })
	older := resource("owner", on("needed"), func(r *state.Resource) { r.Delete, r.ID = true, "older" })
	prior := []*state.Resource{gone, needed, goes, older}
	refreshed := []*state.Resource{nil, needed, goes, older}
	require.Equal(t, []int{0, 1, 3, 2}, plan.OwnersFirst(prior, refreshed))
	rebuilt := plan.Rebuild([]*state.Resource{gone, needed, older, goes}, []*state.Resource{nil, needed, older, goes})
	require.Same(t, goes, rebuilt[3], "it names its owner still")

	require.Nil(t, plan.OwnersFirst(prior, prior), "nothing is gone")
	late := []*state.Resource{gone, goes, needed, older}
	require.Nil(t, plan.OwnersFirst(late, []*state.Resource{nil, goes, needed, older}), "it needs what comes later")
}
