package apply

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

func resource(name string, edit ...func(*state.Resource)) *state.Resource {
	r := &state.Resource{URN: urn.New("dev", "p", "", "test:index:Res", name), Type: "test:index:Res", Custom: true,
		ID: name}
	for _, e := range edit {
		e(r)
	}
	return r
}

// The journal entries at the beginning and the success of a step, by kind of step.
func TestWhatIsRecordedOfAStep(t *testing.T) {
	const none = state.OperationKind("")
	added := journal.Entry{Add: []journal.Amended{{ID: 9, Resource: resource("a")}}}
	exchanged := journal.Entry{Remove: []journal.ID{1}, Add: added.Add}
	removed := journal.Entry{Remove: []journal.ID{1}}
	left := func(mark func(*state.Resource)) journal.Entry {
		return journal.Entry{Amend: []journal.Amended{{ID: 1, Resource: resource("a", mark)}}}
	}
	pendingDelete := func(r *state.Resource) { r.Delete = true }
	pending := func(r *state.Resource) { r.PendingReplacement = true }
	beside := func(e journal.Entry) journal.Entry { e.Add = added.Add; return e }
	for name, c := range map[string]struct {
		op    plan.Op
		old   *state.Resource
		left  bool // old is pending delete after a replacement
		begin state.OperationKind
		end   journal.Entry
	}{
		"E6.9 create": {plan.OpCreate, nil, false, state.Creating, added},
		"E6.9 create-replacement": {plan.OpCreateReplacement, resource("a"), false, state.Creating,
			beside(left(pendingDelete))},
		"E6.9 create-replacement after a deletion": {plan.OpCreateReplacement, resource("a", pending), false, state.Creating,
			exchanged},
		"E6.10 update": {plan.OpUpdate, resource("a"), false, state.Updating, exchanged},
		"E6.11 delete": {plan.OpDelete, resource("a"), false, state.Deleting, removed},
		"E6.11 delete-replaced before a creation": {plan.OpDeleteReplaced, resource("a"), false, state.Deleting,
			left(pending)},
		"E6.11 delete-replaced after a creation": {plan.OpDeleteReplaced, resource("a"), true, state.Deleting, removed},
		"E6.11 discard":                          {plan.OpDiscard, resource("a"), false, state.Deleting, removed},
		"E6.11 discard-replaced":                 {plan.OpDiscardReplaced, resource("a"), true, state.Deleting, removed},
		"E6.12 read":                             {plan.OpRead, nil, false, state.Reading, added},
		"E6.12 read again":                       {plan.OpRead, resource("a"), false, state.Reading, exchanged},
		"E6.12 read-replacement": {plan.OpReadReplacement, resource("a"), false, state.Reading,
			beside(left(pendingDelete))},
		"E6.13 import": {plan.OpImport, nil, false, state.Importing, added},
		"E6.13 import-replacement": {plan.OpImportReplacement, resource("a"), false, state.Importing,
			beside(left(pendingDelete))},
		"E6.14 replace": {plan.OpReplace, resource("a"), false, none, journal.Entry{}},
		"E6.15 same":    {plan.OpSame, resource("a"), false, none, exchanged},
		"E6.19 remove-pending-replace": {plan.OpRemovePendingReplace, resource("a", pending), false, none,
			removed},
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
