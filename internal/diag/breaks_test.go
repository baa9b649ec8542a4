package diag

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A text whose line breaks are all of one kind keeps that kind, and otherwise only its breaks change.
func TestKeepBreaks(t *testing.T) {
	t.Parallel()
	line := rapid.StringMatching(`[a-zé: ]{0,5}`)
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(line, 1, 5)
		breaks := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "breaks")
		before := strings.Join(lines.Draw(rt, "before"), breaks)
		after := ""
		for _, text := range lines.Draw(rt, "after") {
			after += text + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "break")
		}
		got := string(KeepBreaks([]byte(before), []byte(after)))
		if !strings.Contains(before, "\r\n") {
			require.Equal(rt, after, got)
			return
		}
		require.Equal(rt, strings.Count(got, "\n"), strings.Count(got, "\r\n"))
		require.Equal(rt, strings.ReplaceAll(after, "\r\n", "\n"), strings.ReplaceAll(got, "\r\n", "\n"))
	})
}
