package change

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// refreshed splits the differences found by a refresh. Drift are those in the provider's own diff, which the next
// update would change back. All others are computed by the provider.
func refreshed(s *engine.Step) Set {
	if s.Old == nil {
		return nil
	}
	var drift, computed Set
	named := namedBy(s)
	Between(s.Old.Outputs, s.New.Outputs, func(p Property) {
		if s.Drifted && named.has(p.Path) {
			drift = append(drift, p)
		} else {
			p.Computed = true
			computed = append(computed, p)
		}
	})
	if !s.Drifted {
		return computed
	}
	seen := slices.Clone(drift)
	Between(s.Old.Inputs, s.New.Inputs, func(p Property) {
		if named.has(p.Path) && !slices.ContainsFunc(seen, func(o Property) bool { return related(o.Path, p.Path) }) {
			drift = append(drift, p)
		}
	})
	if len(drift) == 0 && !(value.SameContent(s.Old.Inputs, s.New.Inputs) && len(computed) == 0) {
		for _, path := range named.paths {
			drift = append(drift, Property{Path: path, Kind: Named})
		}
	}
	return append(drift, computed...)
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
	old, new := Inputs(s)
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
