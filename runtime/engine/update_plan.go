package engine

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// UpdatePlan is the list of steps that a preview found. An update with such a plan takes those steps or fewer, or
// refuses (7.7).
type UpdatePlan struct {
	Resources map[urn.URN]*ResourcePlan
}

// ResourcePlan is the plan for one resource.
type ResourcePlan struct {
	Goal  *PlannedGoal // nil for one that is only deleted
	Steps []Op
	Seed  []byte // of its automatic names (E7.66)
}

// PlannedGoal is the registration in the plan, with the inputs as a difference from the former ones (E7.64).
type PlannedGoal struct {
	Type, Name              string
	Custom                  bool
	Inputs, Outputs         PlanDiff
	Parent                  urn.URN
	Protect                 bool
	Dependencies            []urn.URN
	Provider                string
	PropertyDependencies    map[string][]urn.URN
	DeleteBeforeReplace     *bool
	IgnoreChanges           []string
	AdditionalSecretOutputs []string
	Aliases                 []urn.URN
	ImportID                string
	CustomTimeouts          state.Timeouts
}

// PlanDiff is a difference by top-level property.
type PlanDiff struct {
	Adds, Updates map[string]value.Value
	Deletes       []string
}

// of returns what becomes of a property: "+", "~", "-", or "=" for one that stays, and its value; was is the former
// one.
func (d PlanDiff) of(key string, was value.Value) (change string, now value.Value) {
	if v, ok := d.Adds[key]; ok {
		return "+", v
	}
	if v, ok := d.Updates[key]; ok {
		return "~", v
	}
	if slices.Contains(d.Deletes, key) {
		return "-", value.Null
	}
	return "=", was
}

// planDiff compares maps by their properties.
func planDiff(before, after value.Value) PlanDiff {
	d := PlanDiff{Adds: map[string]value.Value{}, Updates: map[string]value.Value{}}
	for i, key := range after.Keys() {
		was, ok := before.Lookup(key)
		switch now := after.At(i); {
		case !ok:
			d.Adds[key] = now
		case !value.SameContent(was, now):
			d.Updates[key] = now
		}
	}
	for _, key := range before.Keys() {
		if !after.Has(key) {
			d.Deletes = append(d.Deletes, key)
		}
	}
	return d
}
