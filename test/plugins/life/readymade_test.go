package life

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadyMadePrograms runs the programs of the suite's generator if they are available: each folder below
// YAMLHOST_CONFORMANCE/projects is a project. It prints the number of programs.
func TestReadyMadePrograms(t *testing.T) {
	t.Parallel()
	root := os.Getenv("YAMLHOST_CONFORMANCE")
	if root == "" {
		t.Skip("set YAMLHOST_CONFORMANCE to a folder with projects/<name>/ to run ready-made programs")
	}
	projects, err := filepath.Glob(filepath.Join(root, "projects", "l2-*"))
	require.NoError(t, err)
	require.NotEmpty(t, projects)
	tried, passed := 0, 0
	for _, project := range projects {
		s := newSandbox(t)
		require.NoError(t, os.CopyFS(filepath.Join(s.dir, "p"), os.DirFS(project)))
		s.dir = filepath.Join(s.dir, "p")
		if _, err := os.Stat(filepath.Join(s.dir, "Pulumi.yaml")); err != nil {
			continue // several programs in turn, which only the suite's own driver can run
		}
		tried++
		s.run(0, "stack", "init", "dev")
		if out, ok := s.try("up", "--yes", "--skip-preview"); ok {
			passed++
		} else {
			t.Logf("%s: %s", filepath.Base(project), out)
		}
	}
	t.Logf("%d of %d ready-made programs ran", passed, tried)
}
