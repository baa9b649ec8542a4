package diag

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of Suggest: the maximum edit distance between a name and a suggestion (L5.22), and the maximum number of
// suggestions (L1.24).
const (
	suggestDistance = 3
	suggestMost     = 5
)

// Suggest returns the candidates that name may be a misspelling of: those within an edit distance of three, ignoring
// case and counting a swap of two letters as one edit. They are ordered by distance, then alphabetically; there are at
// most five (L1.24). The distance may not exceed half of the length of the longer name, so that a short name does not
// match every other short one. name itself is never suggested, but another capitalisation of it may be.
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

// DidYouMean returns "; did you mean …?" with the nearest candidate, to end a sentence with, or an empty string if no
// candidate is near.
func DidYouMean(name string, candidates []string) string {
	if near := Suggest(name, candidates); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}

// Surely reports whether typed is certainly a misspelling of meant, provided that no other name fits as well: their
// distance is one, or two if one of the words is long.
func Surely(typed, meant string) bool {
	a, b := []rune(strings.ToLower(typed)), []rune(strings.ToLower(meant))
	const long = 8
	most := 1
	if max(len(a), len(b)) >= long {
		most = 2
	}
	return distance(a, b, most) <= most
}

// Meant returns the one of the near names that typed was certainly meant to be: the only one at distance one or, if
// there is none, the only one for which Surely holds. It returns an empty string if no name or several names fit.
func Meant(typed string, near []string) string {
	var one, two []string // names at distance one, and at distance two
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

// SameName reports whether two spellings certainly are of one name: they differ in nothing but capitals, dashes,
// underscores and spaces.
func SameName(a, b string) bool {
	joined := strings.NewReplacer("_", "", "-", "", " ", "")
	return strings.EqualFold(joined.Replace(a), joined.Replace(b))
}

// distance returns the edit distance of two words: the number of insertions, deletions, changes and swaps of
// neighbouring letters. Any result greater than most only means that the distance is greater than most.
func distance(a, b []rune, most int) int {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > most {
		return most + 1
	}
	// The rows of the dynamic programming table: two letters ago, one letter ago, and the current one.
	prior, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
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
				row[j] = min(row[j], prior[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most+1 {
			return most + 1 // later rows are no smaller, apart from a swap over one row
		}
		prior, last, row = last, row, prior
	}
	return last[len(b)]
}

// Names finds names at an edit distance of one, at a cost that does not depend on their number. It is an index for many
// queries, whereas Suggest examines every name for each query. A Names is immutable.
type Names struct {
	byVariant map[string][]string // names by their variants
}

// NewNames returns an index of names.
func NewNames(names []string) *Names {
	x := &Names{byVariant: make(map[string][]string)}
	for _, name := range names {
		for variant := range variants(name) {
			x.byVariant[variant] = append(x.byVariant[variant], name)
		}
	}
	return x
}

// variants iterates over the variants of a name: the name in lower case, and that without each of its letters.
func variants(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		folded := []rune(strings.ToLower(name))
		more := yield(string(folded))
		for i := 0; i < len(folded) && more; i++ {
			more = yield(string(folded[:i]) + string(folded[i+1:]))
		}
	}
}

// Near returns the names at an edit distance of at most one from name, counting a swap of two letters as one edit, in
// alphabetical order. It returns at most five and never name itself.
func (x *Names) Near(name string) []string {
	var near []string
	folded := []rune(strings.ToLower(name))
	for variant := range variants(name) {
		for _, other := range x.byVariant[variant] {
			if other != name && !slices.Contains(near, other) && distance(folded, []rune(strings.ToLower(other)),
				1) <= 1 {
				near = append(near, other)
			}
			if len(near) > 4*suggestMost {
				break // so many candidates help nobody
			}
		}
	}
	slices.Sort(near)
	return near[:min(len(near), suggestMost)]
}
