package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrograms finds project files at any depth, but not in node_modules or .git.
func TestPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"Pulumi.yaml", "a/b/Pulumi.json", "a/Pulumi.dev.yaml", "node_modules/x/Pulumi.yaml",
		".git/Pulumi.yaml", "pkg/PulumiPlugin.yaml", "Pulumi.yml/inside"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	require.Equal(t, []string{filepath.Join(dir, "Pulumi.yaml"), filepath.Join(dir, "a", "b", "Pulumi.json"),
		filepath.Join(dir, "pkg", "PulumiPlugin.yaml")}, Programs(dir))
	require.Empty(t, Programs(filepath.Join(dir, "none")))
}
