package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plugin in the folder counts, in the order of names and versions, unless its installation is not complete.
func TestResources(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.Empty(t, Resources(home))
	for _, dir := range []string{"resource-misfit-v1.10.0", "resource-misfit-v1.9.0", "resource-another-v1.0.0",
		"language-misfit-v1.0.0", "resource-misfit-v3.0.0"} {
		require.NoError(t, os.MkdirAll(filepath.Join(home, "plugins", dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, "plugins", "resource-misfit-v3.0.0.partial"), nil, 0o600))
	path := func(name string) string { return filepath.Join(home, "plugins", name) }
	require.Equal(t, []Plugin{
		{Name: "another", Version: "1.0.0", Path: path("resource-another-v1.0.0")},
		{Name: "misfit", Version: "1.9.0", Path: path("resource-misfit-v1.9.0")},
		{Name: "misfit", Version: "1.10.0", Path: path("resource-misfit-v1.10.0")},
	}, Resources(home))
}
