package check_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

var everywhere = flag.Bool("everywhere", false,
	"look at every prefix and every deletion of one character, not at a sample")

// TestPrefixesAndDeletions edits 50 programs: it checks every prefix of each, and each without one character, as an
// edit of the whole program. The findings must equal those of a fresh check of the same text.
func TestPrefixesAndDeletions(t *testing.T) {
	t.Parallel()
	programs := archived(t)
	var names []string
	for name, text := range programs {
		if len(text) > 200 && len(text) < 3000 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	random := rand.New(rand.NewPCG(*seed, 2))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	require.Greater(t, len(names), 50)
	schemas := loader()
	for _, name := range names[:50] {
		text := programs[name]
		whole0 := parser.NewDocument(diag.NewSource("x", []byte(text)))
		file, _ := whole0.File(parser.Options{})
		options := check.Options{Project: "p", Schemas: schemas}
		_, first, _ := check.Recheck(t.Context(), file, options, nil)
		same := func(e parser.Edit) {
			edited := whole0.Edit(e)
			file, found := edited.File(parser.Options{})
			_, _, judged := check.Recheck(t.Context(), file, options, first)
			found.Add(judged...)
			alone, want := parser.Parse(diag.NewSource("x", edited.Source().Text()), parser.Options{})
			_, judged = check.Check(t.Context(), alone, options)
			want.Add(judged...)
			require.Equal(t, whole(want), whole(file.Origins.Findings(found)), "%s:\n%s", name, edited.Source().Text())
		}
		for pos := range len(text) {
			if *everywhere || random.IntN(len(text)) < 12 {
				same(parser.Edit{Start: pos, End: len(text)})
			}
			if *everywhere || random.IntN(len(text)) < 12 {
				same(parser.Edit{Start: pos, End: pos + 1})
			}
		}
	}
}
