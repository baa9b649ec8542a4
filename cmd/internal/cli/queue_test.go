//go:build linux && !lean

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

// TestQueueScripts runs testdata/queue: workers and their clients, with the queue and the states on a real server.
func TestQueueScripts(t *testing.T) {
	t.Parallel()
	bin := os.Getenv("YAMLHOST_POSTGRES")
	if bin == "" {
		postgrestest.Start(t, bin) // skips
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/queue",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			server := postgrestest.Start(e.T().(testing.TB), bin)
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("PULUMI_HOME", filepath.Join(home, ".pulumi"))
			e.Setenv("PULUMI_CONFIG_PASSPHRASE", "secret")
			e.Setenv("PULUMI_BACKEND_URL", server.URL("states"))
			e.Setenv("QUEUE", "postgres:///postgres?host="+server.Dir+"&user=postgres")
			e.Setenv("PULUMI_IGNORE_AMBIENT_PLUGINS", "true")
			e.Setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true") // tests use no network
			e.Setenv("POSTGRES", bin)
			e.Setenv("SERVER", server.Dir)
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// quiet fails if the last command has written a secret, in any usual encoding.
			"quiet": func(ts *testscript.TestScript, _ bool, _ []string) {
				for _, stream := range []string{"stdout", "stderr"} {
					text := ts.ReadFile(stream)
					for _, canary := range canaryTexts("canary-") {
						if i := strings.Index(text, canary); i >= 0 {
							ts.Fatalf("%s has a secret: …%s…", stream, text[max(0, i-160):min(len(text), i+80)])
						}
					}
				}
			},
		},
	})
}
