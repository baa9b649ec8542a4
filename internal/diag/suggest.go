package diag

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of Suggest: how far a name may be from what was typed (L5.22) and how many names are worth showing
// (L1.24).
const (
	suggestDistance = 3
	suggestMost     = 5
)

// Suggest picks the candidates that name may have been meant to be: those at an edit distance of at most three without
// regard to case, two swapped letters counting once, nearest first and in alphabetical order where equally near, at
// most five (L1.24). A short name must keep at least half of its letters, so that not every short candidate is near to
// it. name itself is never suggested, another capitalisation of it is.
func Suggest(name string, candidates []string) []string {
	type near struct {
		name     string
		distance int
	}
	folded := []rune(strings.ToLower(name))
	length := len(folded)
	var found []near
	for _, candidate := range candidates {
		if candidate == name {
			continue
		}
		otherLength := utf8.RuneCountInString(candidate)
		most := min(suggestDistance, max(length, otherLength)/2)
		if max(length-otherLength, otherLength-length) > most {
			continue
		}
		if away := distance(folded, []rune(strings.ToLower(candidate)), most); away <= most {
			found = append(found, near{candidate, away})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	found = slices.CompactFunc(found, func(a, b near) bool { return a.name == b.name })
	names := make([]string, 0, min(len(found), suggestMost))
	for _, n := range found[:min(len(found), suggestMost)] {
		names = append(names, n.name)
	}
	return names
}

// DidYouMean returns "; did you mean …?" with the nearest of the candidates, to end a sentence with; it is empty where
// none is near.
func DidYouMean(name string, candidates []string) string {
	if near := Suggest(name, candidates); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}

// Surely reports whether what was typed is certainly a misspelling of a name, provided that no other name fits as
// well: it differs in one place, or in two of a long word.
func Surely(typed, meant string) bool {
	a, b := []rune(strings.ToLower(typed)), []rune(strings.ToLower(meant))
	const long = 8
	most := 1
	if max(len(a), len(b)) >= long {
		most = 2
	}
	return distance(a, b, most) <= most
}

// Meant picks from near names the one that was surely meant by what was typed: the only one that differs in one place
// or, where none does, the only one for which Surely holds. It is empty where no name or several fit.
func Meant(typed string, near []string) string {
	var one, two []string // that differ in one place, and in two
	for _, name := range near {
		a, b := []rune(strings.ToLower(typed)), []rune(strings.ToLower(name))
		switch {
		case distance(a, b, 1) <= 1:
			one = append(one, name)
		case Surely(typed, name):
			two = append(two, name)
		}
	}
	if len(one) == 0 {
		one = two
	}
	if len(one) != 1 {
		return ""
	}
	return one[0]
}

// distance is the number of letters to put in, take out, change or swap with their neighbours that make of one word the
// other; every answer beyond most means "more than most".
func distance(a, b []rune, most int) int {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > most {
		return most + 1
	}
	// The rows of the usual table: for two letters ago, one letter ago and now.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most+1 {
			return most + 1 // a swap reaches back over one row at most
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Names finds names that differ from others in one place, at a cost that does not grow with their number. It is made
// once for many questions, where Suggest looks at every name for each. A Names is immutable.
type Names struct {
	byVariant map[string][]string // names by what is left of them without one letter, and by themselves, in lower case
}

// NewNames indexes names.
func NewNames(names []string) *Names {
	x := &Names{byVariant: make(map[string][]string)}
	for _, name := range names {
		for variant := range variants(name) {
			x.byVariant[variant] = append(x.byVariant[variant], name)
		}
	}
	return x
}

// variants calls yield for a name in lower case, and for that without each of its letters.
func variants(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		folded := []rune(strings.ToLower(name))
		more := yield(string(folded))
		for i := 0; i < len(folded) && more; i++ {
			more = yield(string(folded[:i]) + string(folded[i+1:]))
		}
	}
}

// Near are the names that differ from another in one letter that is put in, left out or changed, or in two that are
// swapped, in alphabetical order; at most five.
func (x *Names) Near(name string) []string {
	var near []string
	folded := []rune(strings.ToLower(name))
	for variant := range variants(name) {
		for _, other := range x.byVariant[variant] {
			if other != name && !slices.Contains(near, other) && distance(folded, []rune(strings.ToLower(other)), 1) <= 1 {
				near = append(near, other)
			}
			if len(near) > 4*suggestMost {
				break // hardly any of them is meant
			}
		}
	}
	slices.Sort(near)
	return near[:min(len(near), suggestMost)]
}
