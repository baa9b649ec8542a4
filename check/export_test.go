package check

import "slices"

// InBatches returns options with which each goroutine checks at least size declarations.
func (o Options) InBatches(size int) Options {
	o.batch = size
	return o
}

// CheckedAnew returns the sorted names of the declarations whose outcome was not taken over from an earlier check.
func CheckedAnew(before, after *Program) []string {
	known := map[*outcome]bool{}
	for _, r := range before.records {
		known[r.outcome] = true
	}
	var names []string
	for _, n := range after.Nodes {
		if r := after.records.of(n.unit()); r != nil && !known[r.outcome] {
			names = append(names, n.Name)
		}
	}
	for _, o := range after.Outputs {
		if !known[after.records.of(o.Decl.Unit).outcome] {
			names = append(names, o.Decl.Name.Value)
		}
	}
	slices.Sort(names)
	return names
}
