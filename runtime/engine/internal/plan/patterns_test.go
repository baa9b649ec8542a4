package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// What a user names is found or refused: each URN and each glob of a list selects a resource, or is reported.
func TestPatternsAreFoundOrReported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var known []urn.URN
		for i, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "ab", "b", "cab"}), rapid.ID).Draw(t,
			"known") {
			known = append(known, urn.New("dev", "p", "", fmt.Sprintf("t:m%d:R", i%2), name))
		}
		text := rapid.SampledFrom([]string{"**", "**::a", "**::a*", "**::*b", "**:m1:R::*", "urn:*::a", "**::none",
			string(urn.New("dev", "p", "", "t:m0:R", "a")), string(urn.New("dev", "p", "", "t:m1:R", "none"))})
		texts := rapid.SliceOfN(text, 0, 4).Draw(t, "texts")
		all, err := NewPatterns(texts)
		if err != nil {
			t.Fatal(err)
		}
		reported := all.Unmatched(func(condition func(urn.URN) bool) bool { return slices.ContainsFunc(known, condition) })
		for _, u := range all.Missing(func(u urn.URN) bool { return slices.Contains(known, u) }) {
			reported = append(reported, string(u))
		}
		for _, text := range texts {
			one, _ := NewPatterns([]string{text})
			if selects := slices.ContainsFunc(known, one.Match); selects == slices.Contains(reported, text) {
				t.Fatalf("%q selects a resource: %v, and reported are %q of %q", text, selects, reported, known)
			}
		}
	})
}
