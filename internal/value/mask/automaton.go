package mask

import (
	"slices"
	"sort"
)

// automaton finds all occurrences of many patterns in one pass over a text (Aho and Corasick, 1975). It is immutable.
// Nodes are numbered breadth first, so the children of a node have consecutive numbers; a node takes 13 bytes.
type automaton struct {
	patterns []string // sorted, without duplicates
	size     int      // total length of the patterns

	first   []int32 // the children of node n are first[n] up to, excluding, first[n+1]
	label   []byte  // the byte that leads to a node
	fail    []int32 // the node of the longest proper suffix that is a prefix of a pattern
	longest []int32 // the length of the longest pattern that ends at the node; 0 for none
	levels  []int32 // the first node of each depth
	root    [256]int32
}

// newAutomaton returns an automaton for patterns, which it takes over. No pattern may be empty.
func newAutomaton(patterns []string) *automaton {
	sort.Strings(patterns)
	patterns = slices.Compact(patterns)
	a := &automaton{patterns: patterns}
	for _, p := range patterns {
		a.size += len(p)
	}
	a.grow()
	a.link()
	return a
}

// grow creates the nodes. Each stands for a range of the sorted patterns that share the path from the root.
func (a *automaton) grow() {
	type group struct{ from, to int32 }
	groups := []group{{0, int32(len(a.patterns))}}
	a.label, a.longest, a.levels = []byte{0}, []int32{0}, []int32{0}
	for n, depth := 0, 0; n < len(groups); n++ {
		if depth+1 < len(a.levels) && int32(n) == a.levels[depth+1] {
			depth++
		}
		g := groups[n]
		a.first = append(a.first, int32(len(groups)))
		if g.from < g.to && len(a.patterns[g.from]) == depth {
			a.longest[n] = int32(depth)
			g.from++ // the shortest pattern comes first in the order
		}
		for g.from < g.to {
			b, end := a.patterns[g.from][depth], g.from+1
			for end < g.to && a.patterns[end][depth] == b {
				end++
			}
			if depth+1 == len(a.levels) {
				a.levels = append(a.levels, int32(len(groups)))
			}
			groups = append(groups, group{g.from, end})
			a.label, a.longest = append(a.label, b), append(a.longest, 0)
			g.from = end
		}
	}
	a.first = append(a.first, int32(len(groups)))
	for c := a.first[0]; c < a.first[1]; c++ {
		a.root[a.label[c]] = c
	}
}

// link sets the node to continue with if no child matches.
func (a *automaton) link() {
	a.fail = make([]int32, len(a.label))
	for n := range a.label {
		for c := a.first[n]; c < a.first[n+1]; c++ {
			if n != 0 {
				a.fail[c] = a.step(a.fail[n], a.label[c])
			}
			if a.longest[c] == 0 {
				a.longest[c] = a.longest[a.fail[c]]
			}
		}
	}
}

// step returns the state after the next byte.
func (a *automaton) step(state int32, b byte) int32 {
	for state != 0 {
		from, to := a.first[state], a.first[state+1]
		for to-from > 8 { // binary search, then linear
			if middle := (from + to) / 2; a.label[middle] <= b {
				from = middle
			} else {
				to = middle
			}
		}
		for c := from; c < to; c++ {
			if a.label[c] == b {
				return c
			}
		}
		state = a.fail[state]
	}
	return a.root[b]
}

// depth returns the number of bytes at the end of the input that may begin an incomplete pattern.
func (a *automaton) depth(state int32) int {
	for state != 0 && a.first[state] == a.first[state+1] { // a pattern ends here, and none continues
		state = a.fail[state]
	}
	return sort.Search(len(a.levels), func(i int) bool { return a.levels[i] > state }) - 1
}

// grown returns automata for all patterns, the largest first. It rebuilds an automaton together with the new patterns
// if it is not much larger than these, so a pattern takes part in O(log n) builds.
func grown(automata []*automaton, patterns []string) []*automaton {
	size := 0
	for _, p := range patterns {
		size += len(p)
	}
	automata = slices.Clone(automata)
	for len(automata) > 0 {
		last := automata[len(automata)-1]
		if last.size > 2*size {
			break
		}
		patterns, size = append(patterns, last.patterns...), size+last.size
		automata = automata[:len(automata)-1]
	}
	return append(automata, newAutomaton(patterns))
}
