package backend_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// SetDefaultOrganization reports a service whose settings are null, and leaves the file unchanged.
func TestDefaultOrganizationOfANull(t *testing.T) {
	t.Parallel()
	const service = "https://api.example.com"
	home := t.TempDir()
	path := filepath.Join(home, "config.json")
	text := `{"backends":{"` + service + `":null}}`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	var corrupt *backend.CorruptError
	require.ErrorAs(t, backend.SetDefaultOrganization(home, service, "acme"), &corrupt)
	require.Equal(t, path, corrupt.Path)
	kept := testfile.Text(t, path)
	require.Equal(t, text, kept)
}
