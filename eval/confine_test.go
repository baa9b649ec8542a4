package eval_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/eval"
)

// TestRestrictedPaths is L6.23: what a program may read when its paths are restricted (G44).
func TestRestrictedPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	cwd := filepath.Join(root, "prog")
	require.NoError(t, os.MkdirAll(cwd, 0o755))
	for _, path := range []string{filepath.Join(dir, "outside"), filepath.Join(root, "shared"), filepath.Join(cwd, "own")} {
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o644))
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "outside"), filepath.Join(cwd, "link")))
	require.NoError(t, os.Symlink(filepath.Join(root, "shared"), filepath.Join(cwd, "inner")))
	outside := filepath.ToSlash(filepath.Join(dir, "outside"))
	for name, tc := range map[string]struct {
		argument string
		allowed  bool
	}{
		"inside":                         {"own", true},
		"elsewhere in the project":       {"../shared", true},
		"a detour":                       {"../prog/../prog/own", true},
		"computed, inside":               {"${pulumi.cwd}/own", true},
		"a link inside":                  {"inner", true},
		"upwards":                        {"../../outside", false},
		"a link to the outside":          {"link", false},
		"absolute, written out":          {outside, true},
		"absolute, computed":             {"${pulumi.rootDirectory}/../outside", false},
		"absolute, through a variable":   {"${path}", false},
		"a name that begins like upward": {"..own", true}, // does not exist: no matter of permission
	} {
		for _, call := range []string{"fn::readFile", "fn::filebase64", "fn::filebase64sha256", "fn::fileAsset", "fn::fileArchive"} {
			t.Run(name+" "+call, func(t *testing.T) {
				t.Parallel()
				text := fmt.Sprintf("variables: {path: %q}\noutputs: {a: {%s: %q}}\n", outside, call, tc.argument)
				program, findings := load(t, text, nil)
				require.False(t, findings.HasErrors())
				_, findings = eval.Run(context.Background(), program, newZoo(false).recorder, eval.Options{
					Cwd: cwd, RootDirectory: root, Workers: 1, RestrictPaths: true,
				})
				refused := false
				for _, d := range findings {
					refused = refused || d.Code == diag.FileAccess && d.Detail != ""
				}
				require.Equal(t, tc.allowed, !refused, describe(findings))
			})
		}
	}
}
