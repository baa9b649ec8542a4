package diag

import (
	"slices"
	"strings"
)

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
func variants(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		folded := []rune(strings.ToLower(name))
		if !yield(string(folded)) {
			return
		}
		for i := range folded {
			if !yield(string(folded[:i]) + string(folded[i+1:])) {
				return
			}
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
