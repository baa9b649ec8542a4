package parser

// maxExpansion is how many nodes may be read through aliases and merge keys in all (L1.28).
const maxExpansion = 1_000_000

// aliases are the aliases and merge keys that are being expanded around what is read.
type aliases struct {
	open       []*node // what they stand for, the outermost first
	inside     map[*node]bool
	expanded   int  // nodes read through aliases
	overflowed bool // maxExpansion has been reached
}

func (a *aliases) any() bool { return len(a.open) > 0 }

// enter begins to read what an alias or a merge key stands for.
func (a *aliases) enter(n *node) {
	if a.inside == nil {
		a.inside = map[*node]bool{}
	}
	a.inside[n] = true
	a.open = append(a.open, n)
}

// leave ends all but so many of the expansions.
func (a *aliases) leave(depth int) {
	for _, left := range a.open[depth:] {
		delete(a.inside, left)
	}
	a.open = a.open[:depth]
}

// tally counts a node that is read through an alias. first says that this one is the first too many.
func (a *aliases) tally() (ok, first bool) {
	if !a.any() {
		return true, false
	}
	a.expanded++
	first = a.expanded > maxExpansion && !a.overflowed
	a.overflowed = a.overflowed || first
	return !a.overflowed, first
}
