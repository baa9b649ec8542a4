package urn

import (
	"iter"
	"maps"
	"slices"
)

// Dependencies are the resources that properties depend on, in ascending order of the properties, each of which has one
// list of URNs, often an empty one. They are immutable, and small, since an operation keeps two of them for each
// resource. The zero value stands for dependencies that nobody gave.
type Dependencies struct {
	properties []string
	ends       []uint32 // where the URNs of each property end in urns
	urns       []URN    // of all properties, one after the other
}

// NewDependencies returns the dependencies of properties, given the URNs of each. It takes over the properties, which
// may be shared, such as the keys of a map of values. If they are not in order, or not each there once, they are
// copied, and the last of several equal ones counts.
func NewDependencies(properties []string, urns [][]URN) Dependencies {
	for i := 1; i < len(properties); i++ {
		if properties[i-1] >= properties[i] {
			m := make(map[string][]URN, len(properties))
			for i, property := range properties {
				m[property] = urns[i]
			}
			return DependenciesOf(m)
		}
	}
	d := Dependencies{properties, make([]uint32, len(properties)), []URN{}}
	for i, list := range urns {
		d.urns = append(d.urns, list...)
		d.ends[i] = uint32(len(d.urns))
	}
	return d
}

// DependenciesOf returns the dependencies of a map by property; the zero value for nil.
func DependenciesOf(m map[string][]URN) Dependencies {
	if m == nil {
		return Dependencies{}
	}
	properties := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(properties)
	urns := make([][]URN, len(properties))
	for i, property := range properties {
		urns[i] = m[property]
	}
	return NewDependencies(properties, urns)
}

// Map returns the dependencies by property; nil for the zero value.
func (d Dependencies) Map() map[string][]URN {
	if !d.Given() {
		return nil
	}
	return maps.Collect(d.All())
}

// Given reports whether d is not the zero value. Dependencies of no property may be given, too.
func (d Dependencies) Given() bool { return d.urns != nil }

// Len returns the number of properties.
func (d Dependencies) Len() int { return len(d.properties) }

// All yields the properties in order, with their URNs, which the caller must not modify.
func (d Dependencies) All() iter.Seq2[string, []URN] {
	return func(yield func(string, []URN) bool) {
		for i, property := range d.properties {
			if !yield(property, d.at(i)) {
				return
			}
		}
	}
}

// at returns the URNs of the i-th property.
func (d Dependencies) at(i int) []URN {
	start, end := uint32(0), d.ends[i]
	if i > 0 {
		start = d.ends[i-1]
	}
	return d.urns[start:end:end]
}

// Get returns the URNs of a property, which the caller must not modify, and whether the property is there.
func (d Dependencies) Get(property string) (urns []URN, found bool) {
	i, found := slices.BinarySearch(d.properties, property)
	if !found {
		return nil, false
	}
	return d.at(i), true
}

// Equal reports whether d and other have the same properties with URNs that are the same.
func (d Dependencies) Equal(other Dependencies, same func(a, b []URN) bool) bool {
	if !slices.Equal(d.properties, other.properties) {
		return false
	}
	for i := range d.properties {
		if !same(d.at(i), other.at(i)) {
			return false
		}
	}
	return true
}
