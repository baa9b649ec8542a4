package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Beside a run that is creating a resource, each command says that the stack is locked, or works without the lock. None
// takes the run for an interrupted one, or advises to settle what it does. Once the run is gone without an end, they do.
func TestCommandsBesideARun(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: slow
runtime: yaml
resources:
  a: {type: "random:RandomPet"}
`)
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	alive := true
	process := backend.Process{PID: 8, User: "other", Host: "h", Machine: "m", Boot: "b",
		Alive: func(int, string) bool { return alive }}
	x.world.Process = func() backend.Process {
		own := process
		own.PID, own.User = 7, "u"
		return own
	}
	b, err := backend.Open("file://"+filepath.ToSlash(filepath.Join(x.world.Dir, "..", "state")),
		backend.Options{Version: "test", Process: process})
	require.NoError(t, err)
	run, err := b.Begin(t.Context(), backend.Ref{Project: "slow", Stack: "dev"}, backend.BeginOptions{Command: "update"})
	require.NoError(t, err)
	u := urn.New("dev", "slow", "", "random:index/randomPet:RandomPet", "a")
	require.NoError(t, run.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Kind: state.Creating,
		Resource: &state.Resource{URN: u, Type: "random:index/randomPet:RandomPet", Custom: true, Inputs: value.EmptyMap(),
			Outputs: value.EmptyMap()}}}))
	commands := []struct {
		args   []string
		locked bool // needs the lock
	}{
		{[]string{"up", "--yes"}, true}, {[]string{"up", "--yes", "--skip-preview"}, true},
		{[]string{"up", "--yes", "--json"}, true}, {[]string{"refresh", "--yes"}, true},
		{[]string{"destroy", "--yes"}, true}, {[]string{"run", "--yes"}, true}, {[]string{"drift"}, true},
		{[]string{"import", "random:RandomUuid", "u", "x", "--yes"}, true}, {[]string{"state", "repair", "--yes"}, true},
		{[]string{"state", "delete", string(u), "--yes"}, true},
		{[]string{"preview"}, false}, {[]string{"preview", "--json"}, false}, {[]string{"preview", "--diff"}, false},
		{[]string{"preview", "--refresh"}, false}, {[]string{"destroy", "--preview-only"}, false},
		{[]string{"state", "verify"}, false}, {[]string{"stack"}, false}, {[]string{"stack", "ls"}, false},
		{[]string{"stack", "export"}, false}, {[]string{"stack", "output"}, false}, {[]string{"migrate", "--check"}, false},
		{[]string{"about"}, false}, {[]string{"stack", "history"}, false}, {[]string{"graph"}, false},
	}
	for _, c := range commands {
		code := x.run(c.args...)
		said := x.out.String() + x.err.String()
		require.NotContains(t, said, "interrupted", c.args)
		require.NotContains(t, said, "settle-pending", c.args)
		if c.locked {
			require.Equal(t, console.CodeLocked, code, "%v: %s", c.args, said)
			require.Contains(t, said, "other@h", c.args)
		} else {
			require.NotEqual(t, console.CodeLocked, code, "%v: %s", c.args, said)
			require.NotEqual(t, console.CodePending, code, "%v: %s", c.args, said)
		}
	}
	x.run("preview")
	require.Contains(t, x.err.String(), "the stack is locked by other@h (process 8), which still runs")
	alive = false
	for _, args := range [][]string{{"preview"}, {"drift"}, {"state", "verify"}, {"stack"}, {"up", "--yes"}} {
		code := x.run(args...)
		said := x.out.String() + x.err.String()
		require.NotEqual(t, console.CodeLocked, code, "%v: %s", args, said)
		require.True(t, strings.Contains(strings.ToLower(said), "interrupted") || strings.Contains(said, "earlier run"), "%v: %s", args, said)
	}
}
