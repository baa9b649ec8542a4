//go:build unix

package newproject

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestQuoted passes quoted paths to a shell, which must read what was quoted.
func TestQuoted(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a/b", quoted("a/b"))
	require.Equal(t, `"a b"`, quoted("a b"))
	require.Equal(t, `'a$b'`, quoted("a$b"))
	rapid.Check(t, func(t *rapid.T) {
		path := "./" + rapid.StringOfN(rapid.SampledFrom([]rune("ab $`'\"\\!*?[]{}<>|&;()#~é\t")), 1, 8, -1).Draw(t, "path")
		out, err := exec.Command("sh", "-c", "printf %s "+quoted(path)).Output()
		require.NoError(t, err)
		require.Equal(t, path, string(out))
	})
}
