package engine

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// UpdatePlan holds the steps of a preview. An update constrained by it takes these steps or fewer, or fails (7.7).
type UpdatePlan struct {
	Resources map[urn.URN]*ResourcePlan
}

// ResourcePlan is the plan for one resource.
type ResourcePlan struct {
	Goal  *PlannedGoal // nil for a resource that is only deleted
	Steps []Op
	Seed  []byte // of its automatic names (E7.66)
}

// PlannedGoal is a planned registration, with the inputs as a difference from the prior ones (E7.64).
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

// PlanDiff is a difference between two maps by top-level property.
type PlanDiff struct {
	Adds, Updates map[string]value.Value
	Deletes       []string
}

// of returns the change of a property, which is "+", "~", "-", or "=" for none, and its new value. former is its old
// value.
func (d PlanDiff) of(key string, former value.Value) (change string, now value.Value) {
	if v, ok := d.Adds[key]; ok {
		return "+", v
	}
	if v, ok := d.Updates[key]; ok {
		return "~", v
	}
	if slices.Contains(d.Deletes, key) {
		return "-", value.Null
	}
	return "=", former
}

// planDiff returns the difference between two maps.
func planDiff(before, after value.Value) PlanDiff {
	d := PlanDiff{Adds: map[string]value.Value{}, Updates: map[string]value.Value{}}
	for i, key := range after.Keys() {
		former, ok := before.Lookup(key)
		switch now := after.At(i); {
		case !ok:
			d.Adds[key] = now
		case !value.SameContent(former, now):
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
