package check

import "slices"

// CheckedAnew returns the sorted names of the declarations whose result was not taken over from an earlier check.
func CheckedAnew(before, after *Snapshot, program *Program) []string {
	known := map[*result]bool{}
	for _, b := range before.bodies {
		for _, r := range slices.Concat(b.nodes, b.outputs) {
			known[r] = true
		}
	}
	var names []string
	own := after.bodies[""]
	for _, n := range program.Nodes {
		if n.Unit() != nil && !known[own.nodes[n.SourceIndex]] {
			names = append(names, n.Name)
		}
	}
	for i, o := range program.Outputs {
		if !known[own.outputs[i]] {
			names = append(names, o.Decl.Name.Value)
		}
	}
	slices.Sort(names)
	return names
}
