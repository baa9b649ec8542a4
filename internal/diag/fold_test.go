package diag

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A folded text has the same words. No line is wider than allowed unless it is one word, and no break could be later.
func TestFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z値-]{1,12}|[a-z]{60}`), 1, 30).Draw(t, "words")
		columns, indent := rapid.IntRange(24, 80).Draw(t, "columns"), rapid.IntRange(0, 4).Draw(t, "indent")
		taken := rapid.IntRange(0, 20).Draw(t, "taken")
		margin := strings.Repeat(" ", rapid.IntRange(0, 6).Draw(t, "margin"))
		text := margin + strings.Join(words, " ")
		folded := Fold(text, columns, taken, indent, cells)
		require.Equal(t, words, strings.Fields(folded))
		require.True(t, strings.HasPrefix(folded, margin+words[0]) || taken > 0, "the first word has its place")
		lines := strings.Split(strings.Repeat("t", taken)+folded, "\n")
		for i, line := range lines {
			if cells(line) > columns {
				require.LessOrEqual(t, len(strings.Fields(line)), 1, "%q", line)
			}
			if i > 0 {
				next := strings.Fields(line)[0]
				require.Equal(t, strings.Repeat(" ", indent)+next, line[:indent+len(next)])
				require.Greater(t, cells(lines[i-1]+" "+next), columns, "%q and %q", lines[i-1], next)
			}
		}
		require.Equal(t, text, Fold(text, indent+10, 0, indent, cells), "there is hardly any room")
	})
}
