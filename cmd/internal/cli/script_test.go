package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/yamlhost/yamlhost/internal/supervise"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervise.Word { // under any name of this executable
		os.Exit(supervise.Main(os.Args[2:], os.Environ()))
	}
	if filepath.Base(os.Args[0]) == "pulumi" { // a shim made by a test
		streams, world := System("0.1.0-test")
		os.Exit(Run(context.Background(), os.Args[1:], streams, world))
	}
	// Under nohup, SIGHUP is ignored. With a handler, child processes do not inherit that.
	if filepath.Base(os.Args[0]) != "yamlhost" && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent) // as in the program
	}
	testscript.Main(noLeaks{m}, map[string]func(){
		"pulumi-converter-zoo": playConverter,
		"pulumi-language-verse": func() {
			streams, world := System("0.1.0-test")
			os.Exit(Run(context.Background(), append([]string{"serve", "language"}, os.Args[1:]...), streams, world))
		},
		"pulumi-resource-drawer":         playDrawer,
		"pulumi-analyzer-policy-testing": playPack,
		"yamlhost": func() {
			streams, world := System("0.1.0-test")
			os.Exit(Run(context.Background(), os.Args[1:], streams, world))
		},
	})
}

// noLeaks runs the tests and fails if a goroutine is left.
type noLeaks struct{ m *testing.M }

func (n noLeaks) Run() int {
	code := n.m.Run()
	if code != 0 {
		return code
	}
	err := goleak.Find(
		// An interrupted prompt: its read cannot be cancelled.
		goleak.IgnoreAnyFunction("github.com/yamlhost/yamlhost/cmd/internal/console.Prompt.await.func1"),
		// A library of Pulumi ESC starts it when it is loaded.
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"),
		goleak.IgnoreTopFunction("os/signal.loop"), goleak.IgnoreTopFunction("os/signal.signal_recv"),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestScripts runs testdata/script: each command with its output and exit code, in a home and a backend of its own.
// YAMLHOST_UPDATE=1 rewrites the files compared by cmp.
func TestScripts(t *testing.T) {
	t.Parallel()
	vault := httptest.NewServer(http.HandlerFunc(fakeVault))
	t.Cleanup(vault.Close)
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
			e.Setenv("VAULT_ADDR", vault.URL)
			e.Setenv("VAULT_TOKEN", "token")
			e.Setenv("PULUMI_HOME", filepath.Join(home, ".pulumi"))
			e.Setenv("PULUMI_BACKEND_URL", "file://"+filepath.ToSlash(backend))
			e.Setenv("PULUMI_IGNORE_AMBIENT_PLUGINS", "true")
			e.Setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true") // tests use no network
			return nil
		},
	})
}

// fakeVault is a Vault with the transit key app. Its ciphertext is the plaintext after `vault:v1:`.
func fakeVault(w http.ResponseWriter, r *http.Request) {
	var q, data map[string]string
	_ = json.NewDecoder(r.Body).Decode(&q)
	switch {
	case r.Header.Get("X-Vault-Token") != "token":
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []string{"permission denied"}})
		return
	case r.URL.Path == "/v1/transit/encrypt/app":
		data = map[string]string{"ciphertext": "vault:v1:" + q["plaintext"]}
	case r.URL.Path == "/v1/transit/decrypt/app":
		data = map[string]string{"plaintext": strings.TrimPrefix(q["ciphertext"], "vault:v1:")}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}
