package plan

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Diff is the decision how to change an existing resource.
type Diff struct {
	Change              bool // there is a difference; updated in place unless Replace is set
	Replace             bool
	DeleteBeforeReplace bool     // the provider's choice; the program's takes precedence
	Keys                []string // the properties that force the replacement
	Diffs               []string // changed keys
	Detailed            map[string]provider.PropertyDiff
	Stable              []string // outputs that an update does not change (E5.54)
	Reason              string
	// Unchecked reports whether the inputs were already checked without the prior inputs, so that a replacement needs
	// no second check (E4.21).
	Unchecked bool
}

// Surroundings are facts about other resources and the options that may force a replacement.
type Surroundings struct {
	Replaced []urn.URN // resources that this one refers to and that this operation replaces
	Named    bool      // the user requested the replacement (E4.104)
	// OwnerLeft reports whether the resource is deletedWith an owner whose old object, replaced by an earlier
	// operation, is not deleted yet.
	OwnerLeft bool
}

// Forced returns the diff of a resource that must be replaced independently of its provider; the first matching rule
// decides (E4.38–E4.41). goal has the options of the program, old those of the state. For a resource that the program
// has not registered yet, the caller passes the prior state twice.
func Forced(old, goal *state.Resource, s Surroundings) (Diff, bool) {
	if triggered(old.ReplacementTrigger, goal.ReplacementTrigger) {
		return Diff{Change: true, Replace: true, Reason: "its replacement trigger changed"}, true
	}
	if s.Named {
		return Diff{Change: true, Replace: true, Keys: []string{"id"}, Reason: "its replacement was asked for",
			Unchecked: true}, true
	}
	if old.Taint {
		return Diff{Change: true, Replace: true, Keys: []string{"id"}, Reason: "it is tainted", Unchecked: true}, true
	}
	for _, u := range goal.ReplaceWith {
		if slices.Contains(s.Replaced, u) {
			return Diff{Change: true, Replace: true, Keys: []string{"replaceWith"},
				Reason: "it is replaced along with " + u.Name()}, true
		}
	}
	if goal.DeletedWith != "" && (slices.Contains(s.Replaced, goal.DeletedWith) || s.OwnerLeft) {
		return Diff{Change: true, Replace: true, Keys: []string{"deletedWith"},
			Reason: "it is deleted along with " + goal.DeletedWith.Name()}, true
	}
	return Diff{}, false
}

// triggered reports whether a replacement trigger has changed or may have changed (E4.84). Adding or removing a trigger
// replaces nothing: there is no earlier value to compare with.
func triggered(old, goal value.Value) bool {
	if old.IsNull() || goal.IsNull() {
		return false
	}
	if old.ContainsUnknown() || goal.ContainsUnknown() {
		return true
	}
	return !value.SameContent(old, goal)
}

// ProviderReplaced returns the diff of a resource whose provider is replaced.
func ProviderReplaced() Diff {
	return Diff{Change: true, Replace: true, Keys: []string{"provider"}, Reason: "its provider is replaced"}
}

// ComponentDiff returns the diff of a component, which follows from its inputs (E4.44).
func ComponentDiff(old *state.Resource, inputs value.Value) Diff {
	return Diff{Change: !value.SameContent(old.Inputs, inputs)}
}

// ProviderDiff converts a provider's answer to Diff. Providers report changes in three ways: by Changes, by lists of
// keys, and by a detailed diff. If they disagree, a key that forces a replacement takes precedence. ignore holds
// ignoreChanges; it is used only if the engine compares the inputs itself (E4.46–E4.48).
func ProviderDiff(r provider.DiffResponse, oldInputs, inputs value.Value, ignore []string) Diff {
	v := Diff{DeleteBeforeReplace: r.DeleteBeforeReplace, Stable: stable(r)}
	switch r.Changes {
	case provider.DiffUnavailable:
		v.Change = true
		return v
	case provider.DiffUnknown:
		// Keys that force a replacement count even if the provider reports no opinion about changes.
		if !r.Replace() {
			v.Diffs, v.Detailed = inputDiff(oldInputs, inputs, ignore)
			v.Change = len(v.Diffs) > 0
			if !v.Change {
				v.Diffs, v.Detailed = nil, nil
			}
			return v
		}
	case provider.DiffNone:
		if !r.Replace() { // "no change" together with keys that force a replacement means a replacement
			return v
		}
	}
	v.Change = true
	v.Diffs, v.Detailed = r.Diffs, r.Detailed
	if v.Replace = r.Replace(); v.Replace {
		v.Keys = replaceKeys(r)
	}
	return v
}

// stable returns the outputs that the provider calls stable and does not list as changed.
func stable(r provider.DiffResponse) []string {
	changed := map[string]bool{}
	for _, key := range r.Diffs {
		changed[topKey(key)] = true
	}
	for path := range r.Detailed {
		changed[topKey(path)] = true
	}
	return slices.DeleteFunc(slices.Clone(r.Stables), func(key string) bool { return changed[key] })
}

// replaceKeys returns the keys that force a replacement: those in Replaces, and those with a replacing kind in the
// detailed diff.
func replaceKeys(r provider.DiffResponse) []string {
	keys := slices.Clone(r.Replaces)
	var more []string
	for path, p := range r.Detailed {
		if p.Kind.Replaces() {
			if key := topKey(path); !slices.Contains(keys, key) && !slices.Contains(keys, path) &&
				!slices.Contains(more, key) {
				more = append(more, key)
			}
		}
	}
	slices.Sort(more)
	return append(keys, more...)
}

// topKey returns the first name of a property path.
func topKey(path string) string {
	p, err := value.ParsePath(path)
	if err != nil || len(p) == 0 || p[0].IsIndex {
		return path
	}
	return p[0].Key
}

// inputDiff returns the changed top-level keys and leaf paths when the engine compares inputs itself (E4.46).
func inputDiff(prior, news value.Value, ignore []string) ([]string, map[string]provider.PropertyDiff) {
	ignored := parsePaths(ignore)
	var keys []string
	detailed := map[string]provider.PropertyDiff{}
	for _, c := range value.Changes(prior, news) {
		if slices.ContainsFunc(ignored, func(p value.Path) bool { return p.Contains(c.Path) }) || len(c.Path) == 0 {
			continue
		}
		detailed[c.Path.String()] = provider.PropertyDiff{Kind: provider.DiffKindOf(c.Kind), InputDiff: true}
		if key := c.Path[0].Key; len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	return keys, detailed
}

// parsePaths parses property paths, and skips invalid ones (E4.65).
func parsePaths(texts []string) []value.Path {
	paths := make([]value.Path, 0, len(texts))
	for _, text := range texts {
		if p, err := value.ParsePath(text); err == nil && len(p) > 0 {
			paths = append(paths, p)
		}
	}
	return paths
}

// initErrorKey is the path in replaceOnChanges that stands for errors of an earlier initialization (E4.69).
const initErrorKey = "#initerror"

// ReplaceOn applies replaceOnChanges to a diff (E4.69): a change at or below one of the paths forces a replacement. It
// copies the maps and lists of v before it changes them, because events share them.
func (v Diff) ReplaceOn(paths []string, hadInitErrors bool) Diff {
	listed := parsePaths(paths)
	if len(listed) == 0 {
		return v
	}
	contains := func(text string) bool {
		p, err := value.ParsePath(text)
		return err == nil && slices.ContainsFunc(listed, func(l value.Path) bool { return l.Contains(p) })
	}
	force := func(key string) {
		v.Replace = true
		if !slices.Contains(v.Keys, key) {
			v.Keys = append(slices.Clone(v.Keys), key)
		}
	}
	if v.Change {
		detailed := make(map[string]provider.PropertyDiff, len(v.Detailed))
		for _, path := range slices.Sorted(maps.Keys(v.Detailed)) {
			p := v.Detailed[path]
			if contains(path) {
				p.Kind = p.Kind.AsReplace()
				force(topKey(path))
			}
			detailed[path] = p
		}
		if v.Detailed != nil {
			v.Detailed = detailed
		}
		for _, key := range v.Diffs {
			if contains(key) {
				force(key)
			}
		}
	}
	if hadInitErrors && contains(initErrorKey) {
		v.Change = true
		force(initErrorKey)
		if v.Reason == "" {
			v.Reason = "it was not initialized completely"
		}
	}
	return v
}

// Ignoring resets the properties at the paths of ignoreChanges to their prior values (E4.65). failed holds the paths
// for which that is impossible in a part.
func Ignoring(paths []string, prior, news value.Value) (reset value.Value, failed []string) {
	for _, text := range paths {
		p, err := value.ParsePath(text)
		if err != nil || len(p) == 0 {
			continue
		}
		var whole bool
		if news, whole = p.Reset(prior, news); !whole {
			failed = append(failed, text)
		}
	}
	return news, failed
}
