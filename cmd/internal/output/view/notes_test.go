package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// Notes are narrower than the terminal and break between words, and each has all of its words. A log has each line of a
// note as it is. A note without a text is not shown.
func TestNotesFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching("[a-z]{1,12}")).Draw(t, "words")
		width := rapid.SampledFrom([]int{0, 40, 80, 120}).Draw(t, "width")
		m := &engine.Message{Severity: diag.Info, Text: strings.Join(words, " ") + "\n"}
		r := &report{o: Options{Width: width}, board: newBoard(), mask: mask.New()}
		r.board.event(m)
		var b strings.Builder
		r.notes(&b)
		require.Equal(t, strings.Join(words, " "), strings.Join(strings.Fields(b.String()), " "))
		if len(words) == 0 {
			require.Empty(t, b.String())
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if width > 0 {
				require.Less(t, ansi.StringWidth(line), width)
			}
		}
		if width == 0 && len(words) > 0 {
			require.Len(t, strings.Split(strings.TrimRight(b.String(), "\n"), "\n"), 1)
		}
	})
}
