package view

import (
	"strconv"

	"github.com/yamlhost/yamlhost/value"
)

// mostAligned is the product of lengths up to which lists are aligned; longer ones are compared by position.
const mostAligned = 250_000

// identityKeys are the members by which elements of lists are known, in order of preference.
var identityKeys = []string{"name", "key", "id", "Name", "Key", "Id", "Sid"}

// listChanges compares lists by their elements rather than by position: what stays is left out, what goes and comes is
// shown where it stood, elements that are known by a name are compared with themselves, and what only changes its place
// is shown as a move.
func listChanges(path string, old, new value.Value, fn func(path string, before, after *value.Value)) {
	at := func(i int) string { return path + "[" + strconv.Itoa(i) + "]" }
	if old.Len()*new.Len() > mostAligned {
		for i := range max(old.Len(), new.Len()) {
			step(at(i), old.At(i), new.At(i), i < old.Len(), i < new.Len(), fn)
		}
		return
	}
	pairs := align(old, new)
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{old.Len(), new.Len()}) {
		runChanges(old, new, i, p[0], j, p[1], at, fn)
		i, j = p[0]+1, p[1]+1
	}
}

// runChanges compares elements i to iEnd of old with j to jEnd of new, none of which is equal to one in its place.
func runChanges(old, new value.Value, i, iEnd, j, jEnd int, at func(int) string,
	fn func(path string, before, after *value.Value)) {
	taken := make(map[int]bool)
	partner := make(map[int]int) // of new elements, by identity
	for k := j; k < jEnd; k++ {
		name := identity(new.At(k))
		for l := i; l < iEnd && name != ""; l++ {
			if !taken[l] && identity(old.At(l)) == name {
				taken[l], partner[k] = true, l
				break
			}
		}
	}
	l := i
	for k := j; k < jEnd; k++ {
		if other, known := partner[k]; known {
			step(at(k), old.At(other), new.At(k), true, true, fn)
			continue
		}
		for l < iEnd && taken[l] {
			l++
		}
		if l < iEnd && (identity(old.At(l)) == "" || identity(new.At(k)) == "") {
			taken[l] = true
			step(at(k), old.At(l), new.At(k), true, true, fn)
			continue
		}
		step(at(k), value.Null, new.At(k), false, true, fn)
	}
	for l := i; l < iEnd; l++ {
		if !taken[l] {
			step(at(l), old.At(l), value.Null, true, false, fn)
		}
	}
}

// identity is what an element of a list is known by; empty when it has no name.
func identity(v value.Value) string {
	if !v.Is(value.KindMap) || v.IsSecret() {
		return ""
	}
	for _, key := range identityKeys {
		if name, ok := v.Get(key).AsString(); ok && name != "" && !v.Get(key).IsSecret() {
			return key + "=" + name
		}
	}
	return ""
}

// align finds the longest common subsequence of two lists, as pairs of indexes.
func align(old, new value.Value) [][2]int {
	n, m := old.Len(), new.Len()
	same := func(i, j int) bool {
		a, b := old.At(i), new.At(j)
		return value.SameContent(a, b) && a.ContainsSecret() == b.ContainsSecret()
	}
	length := make([][]int, n+1)
	for i := range length {
		length[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same(i, j) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
