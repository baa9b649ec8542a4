package change

import (
	"strconv"

	"github.com/yamlhost/yamlhost/internal/value"
)

// mostAligned is the largest product of lengths for which lists are aligned; longer ones are compared by position.
const mostAligned = 250_000

// identityKeys are the members that identify elements of lists, in order of preference.
var identityKeys = []string{"name", "key", "id", "Name", "Key", "Id", "Sid"}

// compareLists compares lists by their elements rather than by position: unchanged elements are omitted, removed and
// added ones shown at their position, elements with a name compared by name, and an element in another order among the
// unchanged ones is shown as a move.
func compareLists(path string, old, new value.Value, fn func(Property)) {
	item := func(i int) string { return path + "[" + strconv.Itoa(i) + "]" }
	if old.Len()*new.Len() > mostAligned {
		for i := range max(old.Len(), new.Len()) {
			step(item(i), old.At(i), new.At(i), i < old.Len(), i < new.Len(), fn)
		}
		return
	}
	partner := partners(old, new)
	stays := inOrder(partner)
	taken := make([]bool, old.Len())
	for _, i := range partner {
		if i >= 0 {
			taken[i] = true
		}
	}
	// gone reports the elements of old from i to end without a counterpart in new.
	i := 0
	gone := func(end int) {
		for ; i < end; i++ {
			if !taken[i] {
				taken[i] = true
				step(item(i), old.At(i), value.Null, true, false, fn)
			}
		}
	}
	for k, from := range partner {
		element := new.At(k)
		switch {
		case from >= 0 && stays[k]:
			gone(from)
			i = from + 1
			compare(item(k), old.At(from), element, fn)
		case from >= 0:
			moved := newProperty(item(k), Moved, old.At(from), element)
			moved.From = item(from)
			fn(moved)
			compare(item(k), old.At(from), element, fn)
		default:
			if other := unnamed(old, new, partner, stays, taken, i, k); other >= 0 {
				taken[other] = true
				step(item(k), old.At(other), element, true, true, fn)
				continue
			}
			step(item(k), value.Null, element, false, true, fn)
		}
	}
	gone(old.Len())
}

// unnamed returns the index of the element of old at the position of element k of new, for lists whose elements have no
// names: the first remaining one from i on, before the next one that stays; -1 if there is none.
func unnamed(old, new value.Value, partner []int, stays, taken []bool, i, k int) int {
	end := old.Len()
	for next := k + 1; next < len(partner); next++ {
		if partner[next] >= 0 && stays[next] {
			end = partner[next]
			break
		}
	}
	for ; i < end; i++ {
		if !taken[i] {
			if Identity(old.At(i)) == "" || Identity(new.At(k)) == "" {
				return i
			}
			return -1
		}
	}
	return -1
}

// partners returns for each element of new the index of its counterpart in old, or -1: first equal elements in order,
// then equal ones elsewhere, then those with the same name.
func partners(old, new value.Value) []int {
	partner := make([]int, new.Len())
	for k := range partner {
		partner[k] = -1
	}
	taken := make([]bool, old.Len())
	for _, p := range align(old, new) {
		partner[p[1]], taken[p[0]] = p[0], true
	}
	for _, alike := range []func(a, b value.Value) bool{movable, sameIdentity} {
		for k := range partner {
			for i := 0; i < old.Len() && partner[k] < 0; i++ {
				if !taken[i] && alike(old.At(i), new.At(k)) {
					partner[k], taken[i] = i, true
				}
			}
		}
	}
	return partner
}

// movable reports whether two elements are equal and may be shown as a move, which makes no sense for null.
func movable(a, b value.Value) bool { return !a.IsNull() && equalElements(a, b) }

func sameIdentity(a, b value.Value) bool {
	name := Identity(a)
	return name != "" && Identity(b) == name
}

func equalElements(a, b value.Value) bool {
	return value.SameContent(a, b) && a.ContainsSecret() == b.ContainsSecret()
}

// inOrder marks a longest ascending subsequence of partners: those elements stay, and the others have moved.
func inOrder(partner []int) []bool {
	length, before := make([]int, len(partner)), make([]int, len(partner))
	last := -1
	for k, i := range partner {
		before[k] = -1
		if i < 0 {
			continue
		}
		length[k] = 1
		for j := range k {
			if partner[j] >= 0 && partner[j] < i && length[j] >= length[k] {
				length[k], before[k] = length[j]+1, j
			}
		}
		if last < 0 || length[k] > length[last] {
			last = k
		}
	}
	stays := make([]bool, len(partner))
	for k := last; k >= 0; k = before[k] {
		stays[k] = true
	}
	return stays
}

// Identity returns the name of a list element; empty if it has none.
func Identity(v value.Value) string {
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
	same := func(i, j int) bool { return equalElements(old.At(i), new.At(j)) }
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
