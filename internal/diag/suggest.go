package diag

import (
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
		if abs(length-otherLength) > most {
			continue
		}
		if away := distance(folded, []rune(strings.ToLower(candidate)), most); away <= most {
			found = append(found, near{candidate, away})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
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

func abs(n int) int { return max(n, -n) }
