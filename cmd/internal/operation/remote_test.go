package operation

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/backend"
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

// A command reads each other stack once, and warns once of outputs that were sealed with another passphrase. An output
// that the program names is not missing in silence.
func TestOtherStacksAreReadOnce(t *testing.T) {
	t.Parallel()
	b, err := backend.Open("file://"+filepath.ToSlash(t.TempDir()), backend.Options{})
	require.NoError(t, err)
	sealed := errors.New("incorrect passphrase")
	var warnings []string
	s := otherStacks{backend: b, project: "b", read: &parallel.Memo[backend.Ref, stackOutputs, error]{},
		warn: onceEach(func(text string) { warnings = append(warnings, text) })}
	plain := value.EmptyMap().With("plain", value.String("shown"))
	_, err = s.read.Get(backend.Ref{Project: "b", Stack: "dev"}, func() (stackOutputs, error) {
		return stackOutputs{plain, []string{"hidden"}, sealed}, nil
	})
	require.NoError(t, err)
	for _, name := range []string{"dev", "organization/b/dev", "dev"} {
		got, err := s.outputs(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, plain, got)
	}
	require.Equal(t, []string{"the secrets of the stack b/dev were sealed with another passphrase, so that these outputs " +
		"of it cannot be read: hidden"}, warnings)
	s.needs = func(output string) bool { return output == "hidden" }
	_, err = s.outputs(t.Context(), "dev")
	require.ErrorIs(t, err, sealed)
}
