//go:build unix

package console

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestShellWord passes words to a shell, which must read the paths.
func TestShellWord(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a/b", ShellWord("a/b"))
	require.Equal(t, `"a b"`, ShellWord("a b"))
	require.Equal(t, `'a$b'`, ShellWord("a$b"))
	rapid.Check(t, func(t *rapid.T) {
		path := "./" + rapid.StringOfN(rapid.SampledFrom([]rune("ab $`'\"\\!*?[]{}<>|&;()#~é\t")), 1, 8, -1).Draw(t, "path")
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(path)).Output()
		require.NoError(t, err)
		require.Equal(t, path, string(out))
	})
}

// TestShellAssignment passes lines to a shell, in which only the variable of the name may change.
func TestShellAssignment(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		characters := []rune("=ab_Z09 $`'\"\\!-.;()#\n\u00e9")
		name := rapid.StringOfN(rapid.SampledFrom(characters[1:]), 0, 3, -1).Draw(t, "name") // dash reads `a=` as `a`
		text := rapid.StringOfN(rapid.SampledFrom(characters), 0, 8, -1).Draw(t, "text")
		line, ok := ShellAssignment(name, text)
		err := exec.Command("sh", "-c", "echo x | { read -r \"$1\"; }", "sh", name).Run()
		require.Equal(t, err == nil, ok, "%q", name)
		if !ok {
			return
		}
		out, err := exec.Command("sh", "-c", line+"\nprintf %s \"$"+name+"\"").Output()
		require.NoError(t, err)
		require.Equal(t, text, string(out))
	})
}
