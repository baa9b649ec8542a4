package check

import "slices"

// InBatches are options with which one goroutine checks at least so many declarations.
func (o Options) InBatches(size int) Options {
	o.batch = size
	return o
}

// Patched reports whether a program is the one before with what an edit has changed in its place.
func Patched(p *Program) bool { return p.current != nil }

// CheckedAnew are the declarations of a program that an earlier check has not left a outcome for, by name and in order.
func CheckedAnew(before, after *Program) []string {
	known := map[*outcome]bool{}
	for _, r := range before.records.each() {
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
