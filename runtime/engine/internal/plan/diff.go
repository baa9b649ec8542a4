package plan

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Diff is the decision about a resource that exists.
type Diff struct {
	Change              bool // something differs; in place unless Replace
	Replace             bool
	DeleteBeforeReplace bool     // the provider's choice; the program's goes over it
	Keys                []string // what forces the replacement
	Diffs               []string // changed keys
	Detailed            map[string]provider.PropertyDiff
	Stable              []string // outputs that an update leaves as they are (E5.54)
	Reason              string
	// Unchecked reports whether the inputs were checked without the old ones already, so that a replacement needs no
	// second check (E4.21).
	Unchecked bool
}

// Surroundings are the facts about the rest of the operation that may force the replacement of one resource.
type Surroundings struct {
	Replaced []urn.URN // resources that this one names and that this operation replaces
	Named    bool      // the user asked for the replacement (E4.104)
	// OwnerLeft reports whether the resource goes with an owner that an earlier operation has replaced and not deleted
	// yet.
	OwnerLeft bool
}

// Forced finds the reasons for a replacement that need no call to a provider; the first rule that matches decides
// (E4.38–E4.41). goal has the options of the program, old has the options of the state. For a resource that the
// program has not registered yet, the caller passes the same resource twice: the answer then follows from the state
// alone.
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

// triggered reports whether a replacement trigger asks for a replacement: it was there, is there, and is or may be
// another (E4.84). To add or remove a trigger replaces nothing: there is no earlier value to differ from.
func triggered(old, goal value.Value) bool {
	if old.IsNull() || goal.IsNull() {
		return false
	}
	if old.ContainsUnknown() || goal.ContainsUnknown() {
		return true
	}
	return !value.SameContent(old, goal)
}

// ProviderReplaced returns the diff of a resource whose provider is not the same any more.
func ProviderReplaced() Diff {
	return Diff{Change: true, Replace: true, Keys: []string{"provider"}, Reason: "its provider is replaced"}
}

// ComponentDiff compares a component's inputs (E4.44).
func ComponentDiff(old *state.Resource, inputs value.Value) Diff {
	return Diff{Change: !value.SameContent(old.Inputs, inputs)}
}

// ProviderDiff reads a provider's answer. Providers may say what changes in three ways: by Changes, by lists of keys,
// and by a detailed diff. Where they disagree, a key that forces a replacement counts most. ignore are the stored or
// wanted ignoreChanges; they matter only where the engine has to compare by itself (E4.46–E4.48).
func ProviderDiff(r provider.DiffResponse, oldInputs, inputs value.Value, ignore []string) Diff {
	v := Diff{DeleteBeforeReplace: r.DeleteBeforeReplace, Stable: stable(r)}
	switch r.Changes {
	case provider.DiffUnavailable:
		v.Change = true
		return v
	case provider.DiffUnknown:
		// A provider that lists what forces a replacement has an opinion, whatever it says of changes.
		if !r.Replace() {
			v.Diffs, v.Detailed = inputDiff(oldInputs, inputs, ignore)
			v.Change = len(v.Diffs) > 0
			if !v.Change {
				v.Diffs, v.Detailed = nil, nil
			}
			return v
		}
	case provider.DiffNone:
		if !r.Replace() { // a provider that says "no change" and names a replacement is taken at the latter
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

// stable returns the outputs that a provider says an update leaves as they are, without those that it says change.
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

// replaceKeys returns the keys that force a replacement: those named, and those with a replacement in the detailed
// diff.
func replaceKeys(r provider.DiffResponse) []string {
	keys := slices.Clone(r.Replaces)
	var more []string
	for path, p := range r.Detailed {
		if p.Kind.Replaces() {
			if key := topKey(path); !slices.Contains(keys, key) && !slices.Contains(keys, path) && !slices.Contains(more, key) {
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

// inputDiff compares inputs when a provider leaves that to the engine: changed top-level keys and leaf paths (E4.46).
func inputDiff(prior, news value.Value, ignore []string) ([]string, map[string]provider.PropertyDiff) {
	ignored := parsePaths(ignore)
	var keys []string
	detailed := map[string]provider.PropertyDiff{}
	for _, c := range value.Changes(prior, news) {
		if slices.ContainsFunc(ignored, func(p value.Path) bool { return p.Contains(c.Path) }) || len(c.Path) == 0 {
			continue
		}
		kind := provider.DiffUpdate
		switch c.Kind {
		case value.Added:
			kind = provider.DiffAdd
		case value.Removed:
			kind = provider.DiffDelete
		}
		detailed[c.Path.String()] = provider.PropertyDiff{Kind: kind, InputDiff: true}
		if key := c.Path[0].Key; len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	return keys, detailed
}

// parsePaths reads property paths and leaves out what is none (E4.65).
func parsePaths(texts []string) []value.Path {
	paths := make([]value.Path, 0, len(texts))
	for _, text := range texts {
		if p, err := value.ParsePath(text); err == nil && len(p) > 0 {
			paths = append(paths, p)
		}
	}
	return paths
}

// initErrorKey is the name under which replaceOnChanges speaks of errors of an earlier initialization (E4.69).
const initErrorKey = "#initerror"

// ReplaceOn returns the diff after replaceOnChanges (E4.69): a change at one of the paths, or below it, forces a
// replacement. The maps and lists of v are shared with events, so that they are copied before they change.
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

// Ignoring resets the places that ignoreChanges names to their old inputs (E4.65). failed are the entries for which
// that is not possible.
func Ignoring(paths []string, prior, news value.Value) (reset value.Value, failed []string) {
	for _, text := range paths {
		p, err := value.ParsePath(text)
		if err != nil || len(p) == 0 {
			continue
		}
		next, ok := p.Reset(prior, news)
		if !ok {
			failed = append(failed, text)
			continue
		}
		news = next
	}
	return news, failed
}
