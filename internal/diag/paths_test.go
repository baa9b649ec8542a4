package diag

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A path with backslashes is read with slashes, and the warning has a fix that writes it so, in the same quotes.
func TestSlashed(t *testing.T) {
	t.Parallel()
	for written, c := range map[string]struct{ path, fixed string }{
		`.\a`: {`.\a`, "./a"}, `'..\a b\c'`: {`..\a b\c`, "'../a b/c'"}, `".\\a"`: {`.\a`, `"./a"`},
		`"\x2e\\a"`: {`.\a`, ""}, `\\server\share`: {`\\server\share`, "//server/share"}, "./a": {"./a", "none"},
	} {
		text := "p: " + written
		slashed, found := Slashed(NewRange(NewSource("a.yaml", []byte(text)), 3, len(text)), c.path)
		require.Equal(t, strings.ReplaceAll(c.path, `\`, "/"), slashed)
		if c.fixed == "none" {
			require.Nil(t, found)
			continue
		}
		require.Equal(t, Warning, found.Severity)
		require.Equal(t, "write `"+slashed+"`", found.Detail)
		if c.fixed == "" {
			require.Empty(t, found.Fixes)
			continue
		}
		require.Equal(t, c.fixed, found.Fixes[0].Edits[0].Text)
	}
}
