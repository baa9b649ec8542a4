//go:build !lean

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lspcmd "github.com/yamlhost/yamlhost/cmd/internal/cli/lsp"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestEditorChecksEnvironments opens the file of an environment: the editor reports its faults, those of imported files
// and unknown imports. If the backend is a service, which keeps the environments, the file has no findings.
func TestEditorChecksEnvironments(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	folder := filepath.Join(x.world.Dir, "environments")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "base.yaml"), []byte("values: {a: \"${b}\"}\n"), 0o644))
	path := filepath.Join(folder, "dev.yaml")
	const text = "imports: [base, nothing]\nvalues:\n  c:\n    fn::open::comand: {command: [ls]}\n"
	found := func() diag.Diagnostics {
		opener := &lspcmd.ProgramOpener{Console: &console.Console{World: x.world, Streams: x.streams},
			Loaders: map[string]*lspcmd.KeptSchemas{}}
		defer opener.Close()
		session := editor.NewSession(opener)
		session.Open(path, text)
		found, err := editor.Diagnostics(t.Context(), session.Snapshot(), path)
		require.NoError(t, err)
		answer, err := editor.Complete(t.Context(), session.Snapshot(), path, len("imports: [b"))
		require.NoError(t, err)
		require.Equal(t, strings.Contains(strings.Join(x.world.Env, "\n"), "http"), len(answer.Items) == 0)
		return found[path]
	}
	var said []string
	for _, d := range found() {
		said = append(said, d.Subject.Text()+": "+d.Summary)
	}
	require.Len(t, said, 3)
	require.Contains(t, said[0], "base.yaml:1:13: unknown property")
	require.Contains(t, said[1], "nothing: there is no environment nothing")
	require.Contains(t, said[2], "there is no provider fn::open::comand here; did you mean command?")
	x.world.Env = append(x.world.Env, "PULUMI_BACKEND_URL=http://127.0.0.1:1")
	require.Empty(t, found())
}
