package view

import (
	"fmt"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// refreshChanges divides the differences that a refresh has found. Drift are those that the provider's own diff names:
// the next update would change them back. All others are computed by the provider.
func refreshChanges(s *engine.Step) (drift, computed []leafChange) {
	if s.Old == nil || s.New == nil { // that it is gone says it all
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

// names are the properties that a provider's diff names.
type names struct {
	paths          []string
	inputs         [2]value.Value // narrow names of whole properties to the parts that inputs set
	insideOfInputs bool
}

// namedBy returns the properties that the diff of a step names. A diff without details names whole properties, or
// nothing: then the parts that inputs set are meant.
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

// related reports whether one of two property paths is the other one or leads into it.
func related(a, b string) bool {
	p, err := value.ParsePath(a)
	q, otherErr := value.ParsePath(b)
	if err != nil || otherErr != nil {
		return a == b || below(a, b) || below(b, a)
	}
	return p.Contains(q) || q.Contains(p)
}

// ChangedPaths returns the paths of the properties that a step changes. For a refresh these are the ones that drifted,
// and computed are those that only the provider computes.
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

// ComputedNote returns a note on changes in n computed properties of so many resources in one line.
func ComputedNote(n, resources int) string {
	return computedCount(n) + " of " + diag.Count(resources, "resource") + " changed; --show-computed shows them"
}
