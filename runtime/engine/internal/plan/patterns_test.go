package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// What a user names is found or refused: each URN, name and glob of a list selects a resource, or is reported, and a
// name is that of one resource only.
func TestPatternsAreFoundOrReported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var known []urn.URN
		var base []*state.Resource
		count := map[string]int{} // of resources, by their names
		for i, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ab", "b", "cab"}), 0, 5).Draw(t, "known") {
			known = append(known, urn.New("dev", "p", "", fmt.Sprintf("t:m%d:R", i), name))
			base = append(base, &state.Resource{URN: known[i]})
			count[name]++
		}
		text := rapid.SampledFrom([]string{"**", "**::a", "**::a*", "**::*b", "**:m1:R::*", "urn:*::a", "**::none", "a", "ab",
			"none", string(urn.New("dev", "p", "", "t:m0:R", "a")), string(urn.New("dev", "p", "", "t:m1:R", "none"))})
		texts := rapid.SliceOfN(text, 0, 4).Draw(t, "texts")
		all, err := NewPatterns(texts, base)
		twice := slices.ContainsFunc(texts, func(text string) bool { return count[text] > 1 })
		if twice != (err != nil) {
			t.Fatalf("%q name one resource each of %q: %v", texts, known, err)
		}
		if twice {
			return
		}
		reported := all.Unmatched(func(condition func(urn.URN) bool) bool { return slices.ContainsFunc(known, condition) })
		for _, u := range all.Missing(func(u urn.URN) bool { return slices.Contains(known, u) }) {
			reported = append(reported, string(u))
		}
		for _, text := range texts {
			one, _ := NewPatterns([]string{text}, base)
			if selects := slices.ContainsFunc(known, one.Match); selects == slices.Contains(reported, text) {
				t.Fatalf("%q selects a resource: %v, and reported are %q of %q", text, selects, reported, known)
			}
		}
	})
}
