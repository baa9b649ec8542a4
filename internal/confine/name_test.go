package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever a name holds, its file is a child of the folder, and of no other; a name is either refused or can be made.
func TestNameStaysInItsFolder(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"a", "..", ".", "/", "\\", ":", "C:", " ", "\x00", "\n", "nul", "COM1", "com¹", "x.y",
		"-1.2.3+b", "~", "é", "\xff", "*", "@", "%2e"})
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 5).Draw(rt, "parts"), "")
		name, err := NewName("a thing", text)
		if err != nil {
			require.Contains(rt, err.Error(), "cannot be the name of a thing: ")
			return
		}
		path := name.In(dir, ".yaml")
		require.Equal(rt, dir, filepath.Dir(path))
		require.Equal(rt, text+".yaml", filepath.Base(path))
		require.NoError(rt, os.WriteFile(path, nil, 0o600))
		require.NoError(rt, os.Remove(path))
	})
	for _, usual := range []string{"aws", "azure-native", "my.package", "1.0.0-alpha.1+build", "Größe", "common", "nullable",
		"com", "com10", strings.Repeat("x", 200)} {
		name, err := NewName("a thing", usual)
		require.NoError(t, err)
		require.Equal(t, usual, name.String())
	}
	for _, bad := range []string{"", ".", "..", "...", "../a", "a/b", `a\b`, "/etc/passwd", "C:x", "a\x00b", "nul", "NUL.json",
		"com1", "LPT9.x", "a.", "a ", "\xff", strings.Repeat("x", 201)} {
		_, err := NewName("a thing", bad)
		require.Error(t, err, bad)
	}
	require.Panics(t, func() { Name{}.In(dir, "") })
}
