package engine

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

// verdict is what has to happen to a resource that exists.
type verdict struct {
	change              bool // something differs; in place unless replace
	replace             bool
	deleteBeforeReplace bool // the provider's choice; the program's goes over it
	keys, diffs         []string
	detailed            map[string]provider.PropertyDiff
	reason              string
	// unchecked says that the inputs were checked without the old ones already, so that a replacement needs no second
	// check (E4.21).
	unchecked bool
}

// surroundings are the facts about the rest of the operation that decide about one resource.
type surroundings struct {
	replaced func(urn.URN) bool // whether that resource is replaced in this operation
	named    bool               // the user asked for a replacement (E4.104)
	// ownerLeft says that the resource goes with what an earlier operation has replaced and not deleted yet.
	ownerLeft bool
}

// forced finds the reasons for a replacement that no provider is asked about, first hit first (E4.38–E4.41).
func forced(old, goal *state.Resource, s surroundings) (verdict, bool) {
	if triggered(old.ReplacementTrigger, goal.ReplacementTrigger) {
		return verdict{change: true, replace: true, reason: "its replacement trigger changed"}, true
	}
	if s.named {
		return verdict{change: true, replace: true, keys: []string{"id"}, reason: "its replacement was asked for", unchecked: true}, true
	}
	if old.Taint {
		return verdict{change: true, replace: true, keys: []string{"id"}, reason: "it is tainted", unchecked: true}, true
	}
	for _, u := range goal.ReplaceWith {
		if s.replaced(u) {
			return verdict{change: true, replace: true, keys: []string{"replaceWith"},
				reason: "it is replaced along with " + u.Name()}, true
		}
	}
	if goal.DeletedWith != "" && (s.replaced(goal.DeletedWith) || s.ownerLeft) {
		return verdict{change: true, replace: true, keys: []string{"deletedWith"},
			reason: "it is deleted along with " + goal.DeletedWith.Name()}, true
	}
	return verdict{}, false
}

// triggered reports whether a replacement trigger asks for a replacement: it was there, is there, and is or may be another
// (E4.84).
func triggered(old, goal value.Value) bool {
	if old.IsNull() || goal.IsNull() {
		return false
	}
	if old.ContainsUnknown() || goal.ContainsUnknown() {
		return true
	}
	return !value.SameContent(old, goal)
}

// providerReplaced is the verdict for a resource whose provider is not the same any more.
func providerReplaced() verdict {
	return verdict{change: true, replace: true, keys: []string{"provider"}, reason: "its provider is replaced"}
}

// componentVerdict compares a component's inputs (E4.44).
func componentVerdict(old, goal *state.Resource) verdict {
	return verdict{change: !value.SameContent(old.Inputs, goal.Inputs)}
}

// providerVerdict reads a provider's answer. ignore are the stored or wanted ignoreChanges; they matter only where the
// engine has to compare by itself (E4.46–E4.48).
func providerVerdict(r provider.DiffResponse, oldInputs, inputs value.Value, ignore []string) verdict {
	v := verdict{deleteBeforeReplace: r.DeleteBeforeReplace}
	switch r.Changes {
	case provider.DiffUnavailable:
		v.change = true
		return v
	case provider.DiffUnknown:
		// A provider that lists what forces a replacement has an opinion, whatever it says of changes.
		if !r.Replace() {
			v.diffs, v.detailed = inputDiff(oldInputs, inputs, ignore)
			v.change = len(v.diffs) > 0
			if !v.change {
				v.diffs, v.detailed = nil, nil
			}
			return v
		}
	case provider.DiffNone:
		if !r.Replace() {
			return v
		}
	}
	v.change = true
	v.diffs, v.detailed = r.Diffs, r.Detailed
	if v.replace = r.Replace(); v.replace {
		v.keys = replaceKeys(r)
	}
	return v
}

// replaceKeys are the keys that force a replacement: those named, and those whose detailed diff says so.
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

// topKey is the first name of a property path.
func topKey(path string) string {
	p, err := value.ParsePath(path)
	if err != nil || len(p) == 0 || p[0].IsIndex {
		return path
	}
	return p[0].Key
}

// inputDiff compares inputs when a provider leaves that to the engine: changed top-level keys and leaf paths (E4.46).
func inputDiff(olds, news value.Value, ignore []string) ([]string, map[string]provider.PropertyDiff) {
	ignored := parsePaths(ignore)
	var keys []string
	detailed := map[string]provider.PropertyDiff{}
	for _, c := range value.Changes(olds, news) {
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

// replacingOn applies replaceOnChanges to a verdict (E4.69). It does not touch the maps of v.
func replacingOn(v verdict, paths []string, hadInitErrors bool) verdict {
	listed := parsePaths(paths)
	if len(listed) == 0 {
		return v
	}
	contains := func(text string) bool {
		p, err := value.ParsePath(text)
		return err == nil && slices.ContainsFunc(listed, func(l value.Path) bool { return l.Contains(p) })
	}
	force := func(key string) {
		v.replace = true
		if !slices.Contains(v.keys, key) {
			v.keys = append(slices.Clone(v.keys), key)
		}
	}
	if v.change {
		detailed := make(map[string]provider.PropertyDiff, len(v.detailed))
		for _, path := range slices.Sorted(maps.Keys(v.detailed)) {
			p := v.detailed[path]
			if contains(path) {
				p.Kind = p.Kind.AsReplace()
				force(topKey(path))
			}
			detailed[path] = p
		}
		if v.detailed != nil {
			v.detailed = detailed
		}
		for _, key := range v.diffs {
			if contains(key) {
				force(key)
			}
		}
	}
	if hadInitErrors && contains(initErrorKey) {
		v.change = true
		force(initErrorKey)
		if v.reason == "" {
			v.reason = "it was not initialized completely"
		}
	}
	return v
}

// ignoring resets the places that ignoreChanges names to their old inputs (E4.65). failed are the entries for which that is
// not possible.
func ignoring(paths []string, olds, news value.Value) (reset value.Value, failed []string) {
	for _, text := range paths {
		p, err := value.ParsePath(text)
		if err != nil || len(p) == 0 {
			continue
		}
		next, ok := p.Reset(olds, news)
		if !ok {
			failed = append(failed, text)
			continue
		}
		news = next
	}
	return news, failed
}
