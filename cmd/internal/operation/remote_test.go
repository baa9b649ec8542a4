package operation

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// For an untrusted program, the engine reads only files of the project and public hosts (D13).
func TestOpenRemoteUntrusted(t *testing.T) {
	t.Parallel()
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	outside, root := filepath.Join(dir, "outside"), filepath.Join(dir, "project")
	require.NoError(t, os.Mkdir(root, 0o700))
	require.NoError(t, os.WriteFile(outside, []byte("text"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "inside"), []byte("text"), 0o600))
	for _, untrusted := range []bool{false, true} {
		c := contents{client: server.Client(), root: root, untrusted: untrusted}
		for uri, public := range map[string]bool{server.URL: false, "file://" + outside: false, "file://" + root +
			"/inside": true} {
			r, err := c.open(t.Context(), uri)
			if untrusted && !public {
				require.Error(t, err, uri)
				continue
			}
			require.NoError(t, err, uri)
			_, err = io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, r.Close())
		}
	}
	require.Equal(t, 1, reached)
}
