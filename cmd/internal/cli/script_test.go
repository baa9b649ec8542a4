package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pulumi-resource-drawer": playDrawer,
		"yamlhost": func() {
			streams, world := System("0.1.0-test")
			os.Exit(Run(context.Background(), os.Args[1:], streams, world))
		},
	})
}

// TestScripts runs testdata/script: each command with its output and exit code, in a home and a backend of its own. With
// -update, files compared by cmp are rewritten.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("YAMLHOST_UPDATE") != "",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home, backend := filepath.Join(e.WorkDir, "home"), filepath.Join(e.WorkDir, "state")
			for _, dir := range []string{home, backend} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			e.Setenv("HOME", home)
			e.Setenv("PULUMI_HOME", filepath.Join(home, ".pulumi"))
			e.Setenv("PULUMI_BACKEND_URL", "file://"+filepath.ToSlash(backend))
			e.Setenv("PULUMI_IGNORE_AMBIENT_PLUGINS", "true")
			e.Setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true") // tests know no network
			return nil
		},
	})
}
