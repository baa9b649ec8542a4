package console

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Errors and notes are broken between words where they go to a terminal, and are left as they are elsewhere.
func TestFold(t *testing.T) {
	t.Parallel()
	s := &Streams{Size: func() (int, int) { return 40, 20 }}
	text := "error: " + strings.Repeat("several words ", 8) + "\n    " + strings.Repeat("advice ", 12)
	require.Equal(t, text, s.Fold(text, false), "what goes to a file")
	folded := s.Fold(text, true)
	require.Equal(t, strings.Fields(text), strings.Fields(folded))
	indents := map[int]int{}
	for line := range strings.SplitSeq(folded, "\n") {
		require.Less(t, len(strings.TrimRight(line, " ")), 40, "%q", line)
		indents[len(line)-len(strings.TrimLeft(line, " "))]++
	}
	require.Len(t, indents, 4, "%q", folded) // two first lines, and what follows two deeper
	require.Equal(t, 1, indents[0])
	require.Equal(t, 1, indents[4])
}
