package change

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Kind is the kind of a change. Its text is a contract of JSON documents.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "add"    // After only
	Removed Kind = "delete" // Before only
	Updated Kind = "update"
	Moved   Kind = "move"  // an element of a list in another place, which may have changed as well
	Named   Kind = "named" // a difference that a provider names without values
)

// Property is one property that differs: a leaf of the inputs, or of the outputs that a refresh has read.
type Property struct {
	Path          string
	Kind          Kind
	Before, After value.Value // null on a side that Kind does not have
	From          string      // former path, if Moved

	Replaces  bool   // it forces a replacement
	Secret    bool   // a side is a secret
	Hidden    bool   // the program's hideDiffs names it: its values are not shown (L4.27)
	Computed  bool   // only the provider computes it: no difference to what the program or the inputs set
	Transform string // source position of the transform that has set it; empty if none has

	Causes []Cause // nearest first; none without an Explainer
	At     Place   // of its text in the program; zero if the program does not set it
}

// Set is everything that a step changes, in order of paths; what is only computed comes last.
type Set []Property

// Paths returns the paths that differ, and those of computed properties.
func (s Set) Paths() (paths, computed []string) {
	for i := range s {
		if s[i].Computed {
			computed = append(computed, s[i].Path)
		} else {
			paths = append(paths, s[i].Path)
		}
	}
	return paths, computed
}

// Of returns what a step changes. For a refresh, that is what has drifted, and what the provider computes. A step
// without an object afterwards changes no properties.
func Of(s *engine.Step) Set {
	if s.New == nil {
		return nil
	}
	var set Set
	if s.Op == engine.OpRefresh {
		set = refreshed(s)
	} else {
		old, new := Inputs(s)
		Between(old, new, func(p Property) { set = append(set, p) })
	}
	for i := range set {
		p := &set[i]
		p.Replaces, p.Transform = forces(s, p.Path), transformOf(s, p.Path)
		p.Hidden = slices.Contains(s.New.HideDiffs, p.Path) || slices.Contains(s.New.HideDiffs, topLevel(p.Path))
	}
	return set
}

// Inputs returns the inputs of a step's resource before and after, null without a resource.
func Inputs(s *engine.Step) (old, new value.Value) {
	if s.Old != nil {
		old = s.Old.Inputs
	}
	if s.New != nil {
		new = s.New.Inputs
	}
	return old, new
}

// forces reports whether the change of a property forces the step's replacement.
func forces(s *engine.Step, path string) bool {
	if s.Op != engine.OpReplace && s.Op != engine.OpCreateReplacement {
		return false
	}
	if d, ok := s.Detailed[path]; ok {
		return d.Kind.Replaces()
	}
	return len(s.Detailed) == 0 && slices.Contains(s.Keys, topLevel(path)) || nearForcing(s.Detailed, path)
}

// nearForcing reports whether a path above or below the given one forces a replacement.
func nearForcing(detailed map[string]provider.PropertyDiff, path string) bool {
	for p, d := range detailed {
		if d.Kind.Replaces() && (below(path, p) || below(p, path)) {
			return true
		}
	}
	return false
}

// transformOf returns the source position of the transform that has set a property; empty if none has.
func transformOf(s *engine.Step, path string) string {
	for _, set := range slices.Sorted(maps.Keys(s.Transformed)) {
		if set == path || below(set, path) || below(path, set) {
			return s.Transformed[set]
		}
	}
	return ""
}

// below reports whether a path leads into the value of another path.
func below(path, parent string) bool {
	rest, inside := strings.CutPrefix(path, parent)
	return inside && rest != "" && strings.ContainsAny(rest[:1], ".[")
}

func topLevel(path string) string {
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i]
	}
	return path
}

// Between calls fn for every leaf that differs between two values, in order of paths. A leaf also differs if only one
// side is secret. Whole values that are no maps count as empty maps. Internal keys at the top are left out.
func Between(old, new value.Value, fn func(Property)) {
	if !old.Is(value.KindMap) || !new.Is(value.KindMap) {
		old, new = old.MapOrEmpty(), new.MapOrEmpty()
	}
	compare("", old, new, fn)
}

func compare(path string, old, new value.Value, fn func(Property)) {
	if value.SameContent(old, new) && old.IsSecret() == new.IsSecret() &&
		(old.IsSecret() || old.ContainsSecret() == new.ContainsSecret()) {
		return
	}
	public := !old.IsSecret() && !new.IsSecret()
	switch {
	case public && old.Is(value.KindMap) && new.Is(value.KindMap):
		keys := append(append([]string{}, old.Keys()...), new.Keys()...)
		sort.Strings(keys)
		for _, k := range slices.Compact(keys) {
			if path == "" && strings.HasPrefix(k, "__") {
				continue
			}
			before, had := old.Lookup(k)
			after, has := new.Lookup(k)
			step(joinKey(path, k), before, after, had, has, fn)
		}
	case public && old.Is(value.KindList) && new.Is(value.KindList):
		compareLists(path, old, new, fn)
	default:
		fn(newProperty(path, Updated, old, new))
	}
}

// step compares what two containers have at a path; had and has report which of them have something there.
func step(path string, before, after value.Value, had, has bool, fn func(Property)) {
	switch {
	case had && has:
		compare(path, before, after, fn)
	case had:
		fn(newProperty(path, Removed, before, value.Null))
	default:
		fn(newProperty(path, Added, value.Null, after))
	}
}

func newProperty(path string, kind Kind, before, after value.Value) Property {
	return Property{Path: path, Kind: kind, Before: before, After: after,
		Secret: before.ContainsSecret() || after.ContainsSecret()}
}

func joinKey(path, key string) string {
	if strings.ContainsAny(key, `.["]`) || key == "" {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
