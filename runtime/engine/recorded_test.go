package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// What is written when a step begins and when it has succeeded, by kinds of steps.
func TestWhatIsRecordedOfAStep(t *testing.T) {
	const none = state.OperationKind("")
	added := journal.Entry{Add: []journal.Amended{{ID: 9, Resource: resource("a")}}}
	exchanged := journal.Entry{Remove: []journal.ID{1}, Add: added.Add}
	removed := journal.Entry{Remove: []journal.ID{1}}
	left := func(mark func(*state.Resource)) journal.Entry {
		return journal.Entry{Amend: []journal.Amended{{ID: 1, Resource: resource("a", mark)}}}
	}
	doomed := func(r *state.Resource) { r.Delete = true }
	pending := func(r *state.Resource) { r.PendingReplacement = true }
	beside := func(e journal.Entry) journal.Entry { e.Add = added.Add; return e }
	for name, c := range map[string]struct {
		op    Op
		old   *state.Resource
		left  bool // a replacement has left old behind
		begin state.OperationKind
		end   journal.Entry
	}{
		"E6.9 create":                              {OpCreate, nil, false, state.Creating, added},
		"E6.9 create-replacement":                  {OpCreateReplacement, resource("a"), false, state.Creating, beside(left(doomed))},
		"E6.9 create-replacement after a deletion": {OpCreateReplacement, resource("a", pending), false, state.Creating, exchanged},
		"E6.10 update":                             {OpUpdate, resource("a"), false, state.Updating, exchanged},
		"E6.11 delete":                             {OpDelete, resource("a"), false, state.Deleting, removed},
		"E6.11 delete-replaced before a creation":  {OpDeleteReplaced, resource("a"), false, state.Deleting, left(pending)},
		"E6.11 delete-replaced after a creation":   {OpDeleteReplaced, resource("a"), true, state.Deleting, removed},
		"E6.11 discard":                            {OpDiscard, resource("a"), false, state.Deleting, removed},
		"E6.11 discard-replaced":                   {OpDiscardReplaced, resource("a"), true, state.Deleting, removed},
		"E6.12 read":                               {OpRead, nil, false, state.Reading, added},
		"E6.12 read again":                         {OpRead, resource("a"), false, state.Reading, exchanged},
		"E6.12 read-replacement":                   {OpReadReplacement, resource("a"), false, state.Reading, beside(left(doomed))},
		"E6.13 import":                             {OpImport, nil, false, state.Importing, added},
		"E6.13 import-replacement":                 {OpImportReplacement, resource("a"), false, state.Importing, beside(left(doomed))},
		"E6.14 replace":                            {OpReplace, resource("a"), false, none, journal.Entry{}},
		"E6.15 same":                               {OpSame, resource("a"), false, none, exchanged},
		"E6.19 remove-pending-replace":             {OpRemovePendingReplace, resource("a", pending), false, none, removed},
	} {
		t.Run(name, func(t *testing.T) {
			goal := resource("a")
			step := plan.NewStep(c.op, c.old, goal)
			begun, ok := operationOf(&step)
			require.Equal(t, c.begin != none, ok)
			require.Equal(t, c.begin, begun.Kind)
			b := resources.Positions{OldNow: c.old, PendingDelete: c.left, New: 9}
			if c.old != nil {
				b.Old = 1
			}
			require.Equal(t, c.end, success(&step, goal, b))
		})
	}
}

func TestWhatIsRecordedOfRefreshesAndOutputs(t *testing.T) {
	w := newWorld()
	program := registering(monitor.RegisterRequest{Name: "a", Inputs: inputs("v", "1")}, monitor.RegisterRequest{Name: "b", Inputs: inputs("v", "1")})
	w.heard(t, false, program)
	for id := range w.cloud.objects {
		w.cloud.objects[id] = inputs("v", "drifted")
	}
	o, m := w.options(2, false)
	result, err := Refresh(t.Context(), o, nil)
	require.NoError(t, err)
	require.Equal(t, 2, result.Changes[OpUpdate])
	require.Len(t, m.entries, 1, "E6.17: a refresh is written once, when everything is read")

	w.state = result.Snapshot
	w.cloud.objects["a-1"] = inputs("v", "again")
	o, m = w.options(2, false)
	o.Refresh, o.RunProgram = true, true
	_, err = Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
		stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
		if err != nil {
			return err
		}
		return program(ctx, m, stack.URN)
	})
	require.NoError(t, err)
	require.NotEmpty(t, m.entries)
	require.Len(t, m.entries[0].Amend, 1, "E6.18: with the program, each is written at once")
	require.Equal(t, `{"v": "again"}`, m.entries[0].Amend[0].Resource.Outputs.String())

	for name, c := range map[string]struct {
		outputs value.Value
		written bool
	}{"the same": {inputs("x", "1"), false}, "others": {inputs("x", "2"), true}} {
		w := newWorld()
		of := func(outputs value.Value) *memory {
			o, m := w.options(1, false)
			result, err := Update(t.Context(), o, func(ctx context.Context, m monitor.Monitor) error {
				stack, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: urn.RootStackType, Name: "p-dev"})
				if err != nil {
					return err
				}
				return m.RegisterOutputs(ctx, stack.URN, outputs)
			})
			require.NoError(t, err)
			w.state = result.Snapshot
			return m
		}
		of(inputs("x", "1"))
		require.Equal(t, c.written, len(of(c.outputs).entries) > 0, "E6.20: %s", name)
	}
}
