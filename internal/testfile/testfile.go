// Package testfile reads and writes the files of tests. What cannot be read or written fails the test at once. Only
// tests import it.
package testfile

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// T is a test, also a random one.
type T interface {
	require.TestingT
	Helper()
}

// Text returns the content of a file.
func Text(t T, path string) string {
	t.Helper()
	return string(Bytes(t, path))
}

// Bytes returns the content of a file.
func Bytes(t T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

// Match returns the paths that match a pattern, in their order; there may be none.
func Match(t T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return paths
}

// Write writes a file, and makes the folders above it.
func Write(t T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// Tree writes files into a folder, by their paths from there with slashes.
func Tree(t T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
}

// Golden fails the test unless a file holds what came out. With update it writes the file first.
func Golden(t T, update bool, path, got string) {
	t.Helper()
	if update {
		Write(t, path, got)
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with -update, or with UPDATE_GOLDENS=1 where there is no such flag")
	require.Equal(t, string(want), got)
}
