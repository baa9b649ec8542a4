package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

func TestConvertWritesAProject(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "")
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "map.yaml"), []byte(manifest), 0o600))
	code := x.run("convert", "--from", "kubernetes", "--out", "shop", "map.yaml")
	require.Equal(t, console.CodeOK, code, x.err.String())
	require.Empty(t, x.out.String())
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "shop", "Pulumi.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "settingsConfigMap:\n    type: kubernetes:core/v1:ConfigMap\n")

	code = x.run("convert", "--from", "kubernetes", "--out", "shop", "map.yaml")
	require.Equal(t, console.CodeUsage, code)
	require.Contains(t, x.err.String(), "--out shop: the folder is not empty: Pulumi.yaml is in it")

	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "cut.yaml"), []byte(manifest+"---\nkind: {"), 0o600))
	code = x.run("convert", "--from", "kubernetes", "--out", "other", "cut.yaml")
	require.Equal(t, console.CodeProgram, code)
	require.Contains(t, x.err.String(), "cut.yaml:")
	require.NoDirExists(t, filepath.Join(x.world.Dir, "other"))

	code = x.run("convert", "--from", "terraform", ".")
	require.NotEqual(t, console.CodeOK, code)
	require.Contains(t, x.err.String(), "yamlhost plugin install converter terraform VERSION")
}

// The templates of strangers are converted to programs that check accepts: of manifests 99 of 100, of templates 95.
func TestConvertRealTemplates(t *testing.T) {
	t.Parallel()
	templates, schemas := os.Getenv("YAMLHOST_TEMPLATES"), os.Getenv("YAMLHOST_SCHEMAS_TODAY")
	if templates == "" || schemas == "" {
		t.Skip("YAMLHOST_TEMPLATES and YAMLHOST_SCHEMAS_TODAY do not name folders with templates and with schemas")
	}
	for kind, least := range map[string]int{"kubernetes": 99, "cloudformation": 95} {
		x := newTerminal(t, "")
		all, sound, clean := 0, 0, 0
		err := filepath.WalkDir(filepath.Join(templates, kind), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			all++
			code := x.run("convert", "--from", kind, "--json", "--schema-dir", schemas, path)
			var report struct {
				WithRemarks, LeftOut int
				Checked              bool
			}
			if code != console.CodeOK || json.Unmarshal(x.out.Bytes(), &report) != nil || !report.Checked {
				t.Logf("%s: exit code %d: %s", path, code, strings.TrimSpace(x.err.String()))
				return nil
			}
			sound++
			if report.WithRemarks+report.LeftOut == 0 {
				clean++
			}
			return nil
		})
		require.NoError(t, err)
		t.Logf("%s: of %d files %d make a program that check accepts, %d of them without a remark", kind, all, sound, clean)
		require.GreaterOrEqual(t, sound*100, all*least, kind)
	}
}
