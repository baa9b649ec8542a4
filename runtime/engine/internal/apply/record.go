package apply

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// operationOf returns the pending operation that is journaled before a step; ok is false for steps that are only
// journaled at their end (E6.9–E6.19).
func operationOf(s *plan.Step) (op state.Operation, ok bool) {
	op = state.Operation{Resource: s.New}
	switch s.Op {
	case plan.OpCreate, plan.OpCreateReplacement:
		op.Kind = state.Creating
	case plan.OpUpdate:
		op.Kind = state.Updating
	case plan.OpDelete, plan.OpDeleteReplaced, plan.OpDiscard, plan.OpDiscardReplaced:
		op = state.Operation{Resource: s.Old, Kind: state.Deleting}
	case plan.OpRead, plan.OpReadReplacement:
		op.Kind = state.Reading
	case plan.OpImport, plan.OpImportReplacement:
		op.Kind = state.Importing
	case plan.OpSame, plan.OpReplace, plan.OpRefresh, plan.OpRemovePendingReplace:
	}
	return op, op.Kind != ""
}

// success returns the journal entry for the success of a step, without its number (E6.9–E6.19).
func success(s *plan.Step, result *state.Resource, pos resources.Positions) journal.Entry {
	var e journal.Entry
	// A new resource goes to the end, unless a position was reserved for it; then it takes that position.
	add := func() {
		if records := []journal.Amended{{ID: pos.New, Resource: result}}; s.Position != 0 {
			e.Amend = records
		} else {
			e.Add = records
		}
	}
	remove := func() {
		if pos.Old != 0 && pos.Old != s.Position {
			e.Remove = []journal.ID{pos.Old}
		}
	}
	// A resource that a replacement deletes later stays in its position, marked as a pending delete.
	leave := func(mark func(*state.Resource)) {
		left := pos.OldNow.Clone()
		mark(left)
		e.Amend = []journal.Amended{{ID: pos.Old, Resource: left}}
	}
	switch s.Op {
	case plan.OpCreate, plan.OpImport:
		if s.Over != 0 && s.Over != s.Position {
			e.Remove = []journal.ID{s.Over}
		}
		add()
	case plan.OpUpdate, plan.OpSame, plan.OpRead:
		remove()
		add()
	case plan.OpCreateReplacement, plan.OpReadReplacement, plan.OpImportReplacement:
		if pos.OldNow.PendingReplacement {
			remove()
		} else {
			leave(func(r *state.Resource) { r.Delete = true }) // E4.57
		}
		add()
	case plan.OpDelete, plan.OpDiscard, plan.OpDiscardReplaced, plan.OpRemovePendingReplace:
		remove()
	case plan.OpDeleteReplaced:
		if pos.PendingDelete {
			remove()
		} else {
			leave(func(r *state.Resource) { r.PendingReplacement = true }) // E5.23
		}
	case plan.OpReplace, plan.OpRefresh:
	}
	return e
}

// MateriallySame reports whether two states differ in nothing that must be written before the operation ends (E6.15).
// It ignores timestamps and source positions, among others: these are written together with the next entry.
func MateriallySame(a, b *state.Resource) bool {
	return a.URN == b.URN && a.Type == b.Type && a.Custom == b.Custom && a.CustomTimeouts == b.CustomTimeouts &&
		a.RetainOnDelete == b.RetainOnDelete && a.Provider == b.Provider && a.Parent == b.Parent &&
		a.DeletedWith == b.DeletedWith && slices.Equal(a.ReplaceWith, b.ReplaceWith) && a.Protect == b.Protect &&
		a.ID == b.ID && a.ExtensionRef == b.ExtensionRef && plan.SameURNs(a.Dependencies, b.Dependencies) &&
		a.PropertyDependencies.Equal(b.PropertyDependencies, plan.SameURNs) &&
		maps.EqualFunc(a.ResourceHooks, b.ResourceHooks, func(x, y []string) bool { return slices.Equal(x, y) }) &&
		value.Equal(a.Inputs, b.Inputs) && value.Equal(a.Outputs, b.Outputs) &&
		value.Equal(a.ReplacementTrigger, b.ReplacementTrigger)
}
