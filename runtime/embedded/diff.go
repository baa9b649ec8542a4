package embedded

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// Diff compares the inputs property by property. The detailed diff has the innermost changed paths.
func (c configured) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	k, def, err := c.lookup(r.Type)
	if err != nil {
		return provider.DiffResponse{}, err
	}
	before, after := k.sides(def, r)
	response := provider.DiffResponse{Changes: provider.DiffNone, Detailed: map[string]provider.PropertyDiff{}}
	for _, property := range def.Inputs.Properties() {
		name := property.Name
		was, _ := before.Lookup(name)
		becomes, _ := after.Lookup(name)
		changes := value.Changes(was, becomes)
		if len(changes) == 0 || becomes.IsNull() && slices.Contains(k.computed, name) {
			continue
		}
		response.Changes = provider.DiffSome
		response.Diffs = append(response.Diffs, name)
		replace := property.ReplaceOn
		if k.replaces != nil {
			replace = k.replaces(name, was, becomes)
		}
		if replace {
			response.Replaces = append(response.Replaces, name)
		}
		inputDiff := r.OldInputs.Has(name) || r.News.Has(name)
		for _, change := range changes {
			diff := provider.PropertyDiff{Kind: provider.DiffKindOf(change.Kind), InputDiff: inputDiff}
			if replace {
				diff.Kind = diff.Kind.AsReplace()
			}
			response.Detailed[append(value.PathOf(name), change.Path...).String()] = diff
		}
	}
	if k.stale != nil {
		if name := k.stale(after, r.OldOutputs.DeepWithoutDeps().MapOrEmpty()); name != "" {
			response.Changes = provider.DiffSome
			response.Diffs = appendNew(response.Diffs, name)
			response.Replaces = appendNew(response.Replaces, name)
			response.Detailed[name] = provider.PropertyDiff{Kind: provider.DiffUpdate.AsReplace()}
		}
	}
	return response, nil
}

// sides returns the values to compare: the old outputs or old inputs, and the new inputs. Both have defaults, so that
// an explicit default, or a state without a new property, is not a change.
func (k kind) sides(def *schema.Resource, r provider.DiffRequest) (before, after value.Value) {
	before = r.OldInputs
	if k.byOutputs && r.OldOutputs.Len() > 0 || !before.Is(value.KindMap) {
		before = value.EmptyMap()
		for _, property := range def.Inputs.Properties() {
			if v, ok := r.OldOutputs.Lookup(property.Name); ok && !v.IsNull() {
				before = before.With(property.Name, v)
			}
		}
	}
	return k.complete(before), k.complete(r.News)
}
