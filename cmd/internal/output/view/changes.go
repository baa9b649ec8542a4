package view

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// changeLimit bounds how many property changes of one resource are shown without --diff.
const changeLimit = 12

// changeLines describes the properties that a step changes, one line for each leaf; nil if there are none. Values of
// secrets are masked on both sides, and properties of hideDiffs are named without values (L4.27).
func changeLines(s *engine.Step, p palette, m *mask.Masker, o Options) []string {
	old, new := inputsOf(s)
	switch s.Op {
	case engine.OpUpdate, engine.OpReplace, engine.OpRefresh, engine.OpImport:
	case engine.OpCreate:
		if !o.Diff {
			return nil
		}
	default:
		return nil
	}
	hidden := map[string]bool{}
	if s.New != nil {
		for _, path := range s.New.HideDiffs {
			hidden[path] = true
		}
	}
	var lines []string
	shown, left := 0, 0
	c := changeWriter{p, m, o}
	show := func(l leafChange) {
		if shown == changeLimit && !o.Diff {
			left++
			return
		}
		shown++
		change := c.codeChange(s.Type, l)
		if change == nil {
			change = c.change(l, hidden[l.path] || hidden[topLevel(l.path)])
		}
		if forcesReplacement(s, l.path) {
			change[0] += p.paint(purple, " (forces replacement)")
		}
		if place := transformOf(s, l.path); place != "" {
			change[0] += p.paint(dim, " (transform "+place+")")
		}
		lines = append(lines, change...)
	}
	var computed []leafChange
	if s.Op == engine.OpRefresh {
		var drift []leafChange
		drift, computed = refreshChanges(s)
		if o.ShowComputed {
			drift, computed = append(drift, computed...), nil
		}
		if len(drift) == 0 {
			return nil
		}
		for _, l := range drift {
			show(l)
		}
	} else {
		leafChanges("", old, new, show)
	}
	if change := c.madeByOtherCode(old, new); change != nil && s.Op != engine.OpCreate {
		lines = append(lines, change...)
	}
	for _, reason := range reasons(s) {
		lines = append(lines, p.paint(dim, reason))
	}
	if left > 0 {
		lines = append(lines, p.paint(dim, fmt.Sprintf("… and %s more; --diff shows all", diag.Count(left, "change"))))
	}
	if len(computed) > 0 {
		lines = append(lines, p.paint(dim, "and "+computedCount(len(computed))))
	}
	return lines
}

// inputsOf returns the inputs of a step's resource before and after, null without a resource.
func inputsOf(s *engine.Step) (old, new value.Value) {
	if s.Old != nil {
		old = s.Old.Inputs
	}
	if s.New != nil {
		new = s.New.Inputs
	}
	return old, new
}

// changeWriter shows changes of single properties.
type changeWriter struct {
	p    palette
	mask *mask.Masker
	o    Options
}

// change shows how one property changes, in at least one line.
func (c changeWriter) change(l leafChange, hide bool) []string {
	path, before, after := l.path, l.before, l.after
	show := func(v *value.Value) string {
		if hide {
			return "(hidden)"
		}
		return showValue(*v, c.o.ShowSecrets, c.mask)
	}
	switch {
	case l.from != "":
		what := show(after)
		if name := identity(*after); name != "" && !hide {
			what = c.mask.Hide(name)
		}
		return []string{c.p.paint(cyan, "> "+path+": ") + what + c.p.paint(dim, " (moved from "+l.from+")")}
	case before == nil && after == nil: // a difference without values
		return []string{c.p.paint(yellow, "~ "+path)}
	case before == nil:
		return []string{c.p.paint(green, "+ "+path+": "+show(after))}
	case after == nil:
		return []string{c.p.paint(red, "- "+path+": "+show(before))}
	}
	secret := !c.o.ShowSecrets && (before.IsSecret() || after.IsSecret())
	if before.IsSecret() && after.IsSecret() && !hide && secret {
		return []string{c.p.paint(yellow, "~ "+path+": ") + hiddenSecret + c.p.paint(dim, " (changed)")}
	}
	from, isText := before.AsString()
	to, alsoText := after.AsString()
	if isText && alsoText && !hide && !secret {
		if lines := c.textChange(path, from, to); lines != nil {
			return lines
		}
	}
	return c.both(path, show(before), show(after))
}

// both shows the former and the new value in one line.
func (c changeWriter) both(path, before, after string) []string {
	return []string{c.p.paint(yellow, "~ "+path+": ") + before + c.p.paint(dim, " => ") + after}
}

// reasons returns the causes of a replacement other than properties.
func reasons(s *engine.Step) []string {
	if s.Op != engine.OpReplace {
		return nil
	}
	if s.Reason != "" {
		return []string{s.Reason}
	}
	var out []string
	for _, k := range s.Keys {
		switch k {
		case "provider":
			out = append(out, "replaced because its provider changes")
		case "replaceWith":
			out = append(out, "replaced together with a resource named by replaceWith")
		case "deletedWith":
			out = append(out, "replaced because the resource named by deletedWith is")
		case "id":
			out = append(out, "replaced on request")
		}
	}
	return out
}

func forcesReplacement(s *engine.Step, path string) bool {
	if s.Op != engine.OpReplace && s.Op != engine.OpCreateReplacement {
		return false
	}
	if d, ok := s.Detailed[path]; ok {
		return d.Kind.Replaces()
	}
	return len(s.Detailed) == 0 && slices.Contains(s.Keys, topLevel(path)) || detailedBelow(s.Detailed, path)
}

// transformOf returns the file and line of the transform that has set a property; empty if none has.
func transformOf(s *engine.Step, path string) string {
	for set, position := range s.Transformed {
		if set != path && !below(set, path) && !below(path, set) {
			continue
		}
		pos := PositionIn(position)
		return fmt.Sprintf("%s:%d", pos.File, pos.Line)
	}
	return ""
}

// below reports whether a path leads into the value of another path.
func below(path, parent string) bool {
	rest, inside := strings.CutPrefix(path, parent)
	return inside && rest != "" && strings.ContainsAny(rest[:1], ".[")
}

// detailedBelow reports whether a path above or below the given one forces a replacement.
func detailedBelow(detailed map[string]provider.PropertyDiff, path string) bool {
	for p, d := range detailed {
		if d.Kind.Replaces() && (strings.HasPrefix(path, p) || strings.HasPrefix(p, path)) {
			return true
		}
	}
	return false
}

func topLevel(path string) string {
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i]
	}
	return path
}

// leafChange is one leaf that differs. A missing side is nil. For a list element that has moved, from is its former
// path, and its content may have changed as well.
type leafChange struct {
	path          string
	before, after *value.Value
	from          string
}

// leafChanges calls fn for every leaf that differs, in order of paths.
func leafChanges(path string, old, new value.Value, fn func(leafChange)) {
	if value.SameContent(old, new) && old.IsSecret() == new.IsSecret() &&
		(old.IsSecret() || old.ContainsSecret() == new.ContainsSecret()) {
		return
	}
	bothMaps := old.Is(value.KindMap) && new.Is(value.KindMap)
	if path == "" && !bothMaps {
		old, new, bothMaps = old.MapOrEmpty(), new.MapOrEmpty(), true
	}
	if !old.IsSecret() && !new.IsSecret() && bothMaps {
		keys := append(append([]string{}, old.Keys()...), new.Keys()...)
		sort.Strings(keys)
		for i, k := range keys {
			if i > 0 && keys[i-1] == k || path == "" && strings.HasPrefix(k, "__") {
				continue
			}
			before, had := old.Lookup(k)
			after, has := new.Lookup(k)
			step(joinKey(path, k), before, after, had, has, fn)
		}
		return
	}
	if !old.IsSecret() && !new.IsSecret() && old.Is(value.KindList) && new.Is(value.KindList) {
		listChanges(path, old, new, fn)
		return
	}
	fn(leafChange{path: path, before: &old, after: &new})
}

func step(path string, before, after value.Value, had, has bool, fn func(leafChange)) {
	switch {
	case had && has:
		leafChanges(path, before, after, fn)
	case had:
		fn(leafChange{path: path, before: &before})
	default:
		fn(leafChange{path: path, after: &after})
	}
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

// showValue returns a value on one line, cut when long. Unknown values are marked as such; secrets are masked unless
// shown.
func showValue(v value.Value, showSecrets bool, m *mask.Masker) string {
	text := m.Hide(valueText(v, showSecrets)) // before cutting, which would leave the beginning of a secret
	const limit = 100
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + fmt.Sprintf("… (%s)", diag.Count(len(text), "byte"))
	}
	return text
}

func valueText(v value.Value, showSecrets bool) string {
	if v.IsSecret() && !showSecrets {
		return hiddenSecret
	}
	if !v.IsKnown() {
		return "(known after apply)"
	}
	if s, ok := v.AsString(); ok {
		return strconv.Quote(s)
	}
	if items, ok := v.AsList(); ok {
		parts := make([]string, len(items))
		for i, item := range items {
			parts[i] = valueText(item, showSecrets)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if keys := v.Keys(); v.Is(value.KindMap) {
		parts := make([]string, len(keys))
		for i, k := range keys {
			parts[i] = k + ": " + valueText(v.At(i), showSecrets)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if f, ok := v.AsNumber(); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	if b, ok := v.AsBool(); ok {
		return strconv.FormatBool(b)
	}
	if a, ok := v.AsAsset(); ok {
		return "asset(" + contentName(a.Path, a.URI, a.Hash) + ")"
	}
	if a, ok := v.AsArchive(); ok {
		return "archive(" + contentName(a.Path, a.URI, a.Hash) + ")"
	}
	if r, ok := v.AsResource(); ok {
		return string(r.URN)
	}
	return "null"
}

func contentName(path, uri, hash string) string {
	if len(hash) > 7 {
		hash = hash[:7]
	}
	switch {
	case path != "":
		return path + " " + hash
	case uri != "":
		return uri + " " + hash
	}
	return "text " + hash
}

// refreshChanges splits the differences found by a refresh. Drift are those in the provider's own diff, which the next
// update would change back. All others are computed by the provider.
func refreshChanges(s *engine.Step) (drift, computed []leafChange) {
	if s.Old == nil || s.New == nil { // a deleted resource needs no details
		return nil, nil
	}
	named := namedBy(s)
	leafChanges("", s.Old.Outputs, s.New.Outputs, func(l leafChange) {
		if s.Drifted && named.has(l.path) {
			drift = append(drift, l)
		} else {
			computed = append(computed, l)
		}
	})
	if !s.Drifted {
		return nil, computed
	}
	seen := slices.Clone(drift)
	leafChanges("", s.Old.Inputs, s.New.Inputs, func(l leafChange) {
		if named.has(l.path) && !slices.ContainsFunc(seen, func(o leafChange) bool { return related(o.path, l.path) }) {
			drift = append(drift, l)
		}
	})
	if len(drift) == 0 && !(value.SameContent(s.Old.Inputs, s.New.Inputs) && len(computed) == 0) {
		for _, path := range named.paths {
			drift = append(drift, leafChange{path: path})
		}
	}
	return drift, computed
}

// names holds the properties in a provider's diff.
type names struct {
	paths          []string
	inputs         [2]value.Value // restrict whole properties to the parts that inputs set
	insideOfInputs bool
}

// namedBy returns the properties that the diff of a step names. A diff without details names whole properties, or
// nothing: then it means the parts that inputs set.
func namedBy(s *engine.Step) names {
	n := names{paths: slices.Sorted(maps.Keys(s.Detailed))}
	if len(n.paths) > 0 {
		return n
	}
	old, new := inputsOf(s)
	return names{paths: slices.Clone(s.Diffs), insideOfInputs: true, inputs: [2]value.Value{old, new}}
}

func (n names) has(path string) bool {
	if len(n.paths) > 0 && !slices.ContainsFunc(n.paths, func(p string) bool { return related(p, path) }) {
		return false
	}
	if !n.insideOfInputs {
		return true
	}
	p, err := value.ParsePath(path)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(n.inputs[:], func(inputs value.Value) bool {
		_, set := p.Get(inputs)
		return set
	})
}

// related reports whether two property paths are equal or one is a prefix of the other.
func related(a, b string) bool {
	p, err := value.ParsePath(a)
	q, otherErr := value.ParsePath(b)
	if err != nil || otherErr != nil {
		return a == b || below(a, b) || below(b, a)
	}
	return p.Contains(q) || q.Contains(p)
}

// ChangedPaths returns the paths of the properties that a step changes. For a refresh, paths are those that drifted,
// and computed those that only the provider computes.
func ChangedPaths(s *engine.Step) (paths, computed []string) {
	if s.Op == engine.OpRefresh {
		drifted, others := refreshChanges(s)
		return pathsOf(drifted), pathsOf(others)
	}
	old, new := inputsOf(s)
	leafChanges("", old, new, func(l leafChange) { paths = append(paths, l.path) })
	return paths, nil
}

func pathsOf(leaves []leafChange) (paths []string) {
	for _, l := range leaves {
		paths = append(paths, l.path)
	}
	return paths
}

// computedCount returns how many properties only a provider computes.
func computedCount(n int) string {
	if n == 1 {
		return "1 computed property"
	}
	return fmt.Sprintf("%d computed properties", n)
}

// ComputedNote returns a line about changes in n computed properties of a number of resources.
func ComputedNote(n, resources int) string {
	return computedCount(n) + " of " + diag.Count(resources, "resource") + " changed; --show-computed shows them"
}
