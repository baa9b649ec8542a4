package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/plugin"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// dice is a deterministic source of randomness.
type dice struct {
	mu     sync.Mutex // guards source
	source *rand.ChaCha8
}

func newDice() *dice { return &dice{source: rand.NewChaCha8([32]byte{1})} }

func (d *dice) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.source.Read(p)
}

// desk is a copy of an example with its own backend and home, a fixed clock and deterministic randomness.
type desk struct {
	out, err bytes.Buffer
	world    console.World
}

func newDesk(t *testing.T, example string) *desk {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "project")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("../../../examples", example))))
	for _, sub := range []string{"home", "state"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, sub), 0o755))
	}
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &desk{world: console.World{
		Version: "0.1.0", Dir: dir, Home: filepath.Join(root, "home"), Random: newDice(),
		Now: func() time.Time { return moment },
		Env: []string{"PULUMI_BACKEND_URL=file://" + filepath.ToSlash(filepath.Join(root, "state")),
			"PULUMI_CONFIG_PASSPHRASE=x", "NO_COLOR=1", "PATH=/usr/bin:/bin"},
		Process: func() backend.Process { return backend.Process{PID: 7, User: "u", Host: "h"} },
	}}
}

func (d *desk) run(t *testing.T, args ...string) string {
	t.Helper()
	d.out.Reset()
	d.err.Reset()
	streams := console.Streams{In: strings.NewReader(""), Out: &d.out, Err: &d.err}
	require.Equal(t, 0, Run(t.Context(), args, streams, d.world), "yamlhost %s\n%s%s", strings.Join(args, " "),
		d.out.String(), d.err.String())
	return d.out.String()
}

// state returns the exported stack with placeholders for the parts that differ between runs: IDs of providers, folders,
// salts, and keys and hashes with a random part.
func (d *desk) state(t *testing.T, stack string) string {
	t.Helper()
	text := d.run(t, "stack", "export", "--show-secrets", "-s", stack)
	var export struct {
		Deployment struct {
			Resources []struct{ Type, ID string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &export))
	for i, r := range export.Deployment.Resources {
		if strings.HasPrefix(r.Type, "pulumi:providers:") {
			text = strings.ReplaceAll(text, r.ID, fmt.Sprintf("provider-%d", i))
		}
	}
	text = strings.ReplaceAll(text, d.world.Dir, "DIR")
	// An OpenSSH key contains a random check number, and a bcrypt hash contains a random salt.
	text = regexp.MustCompile(`-----BEGIN OPENSSH PRIVATE KEY-----[^-]*`).ReplaceAllString(text, "OPENSSH")
	text = regexp.MustCompile(`\$2a\$10\$[^"\\]*`).ReplaceAllString(text, "BCRYPT")
	return regexp.MustCompile(`"salt": "[^"]*"`).ReplaceAllString(text, `"salt": "SALT"`)
}

// served starts a server for each embedded provider and returns PULUMI_DEBUG_PROVIDERS with their ports.
func served(t *testing.T, w console.World) string {
	t.Helper()
	var list []string
	loader := embedded.NewLoader(embedded.Options{Dir: w.Dir, Environ: w.Env, Now: w.Now, Random: newDice()})
	for _, name := range embedded.Names() {
		p, err := loader.Load(context.Background(), provider.Package{Name: name})
		require.NoError(t, err)
		address, stop, err := plugin.Serve(p)
		require.NoError(t, err)
		t.Cleanup(func() { stop(); _ = p.Close() })
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		list = append(list, name+":"+port)
	}
	return "PULUMI_DEBUG_PROVIDERS=" + strings.Join(list, ",")
}

// TestExamples deploys every example in three setups: everything in one process, program and engine over gRPC, and
// engine and providers over gRPC. All leave the same state, and destroy removes every resource.
func TestExamples(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../../../examples")
	require.NoError(t, err)
	count := 0
	for _, entry := range entries {
		switch { // the example custom-resources needs a cluster
		case !entry.IsDir(), entry.Name() == "ci", entry.Name() == "policies", entry.Name() == "custom-resources":
			continue
		}
		count++
		stacks := []string{"dev"}
		if entry.Name() == "configuration" {
			stacks = append(stacks, "prod")
		}
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			newDesk := newDesk
			if entry.Name() == "dynamic" || entry.Name() == "bundle" || entry.Name() == "dynamic-package" {
				path, plain := needInterpreters(t), newDesk
				self, err := exec.LookPath("yamlhost") // serves packages with dynamic types
				require.NoError(t, err)
				newDesk = func(t *testing.T, example string) *desk {
					d := plain(t, example)
					d.world.Env, d.world.Self = append(d.world.Env, path), self
					return d
				}
			}
			for _, stack := range stacks {
				direct := newDesk(t, entry.Name())
				direct.run(t, "run", "--parallel", "1", "-s", stack)
				want := direct.state(t, stack)

				program := newDesk(t, entry.Name())
				program.run(t, "run", "--parallel", "1", "-s", stack, "--monitor-rpc")
				require.Equal(t, want, program.state(t, stack), "program and engine over gRPC")

				providers := newDesk(t, entry.Name())
				providers.world.Env = append(providers.world.Env, served(t, providers.world))
				providers.run(t, "run", "--parallel", "1", "-s", stack)
				require.Equal(t, want, providers.state(t, stack), "engine and providers over gRPC")

				direct.run(t, "run", "-s", stack, "--expect-no-changes")
				direct.run(t, "preview", "-s", stack, "--expect-no-changes")
				direct.run(t, "check")
				direct.run(t, "destroy", "--yes", "--skip-preview", "-s", stack)
				require.NotContains(t, direct.state(t, stack), `"urn"`, "destroy leaves nothing")
			}
		})
	}
	require.GreaterOrEqual(t, count, 6)
}
