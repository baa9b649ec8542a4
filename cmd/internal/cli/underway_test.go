package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/test/service/host"
)

// besideARun lists commands on a stack whose run is creating a resource.
var besideARun = []struct {
	args   []string
	locked bool // needs the lock
}{
	{[]string{"up", "--yes"}, true}, {[]string{"up", "--yes", "--skip-preview"}, true},
	{[]string{"up", "--yes", "--json"}, true}, {[]string{"refresh", "--yes"}, true},
	{[]string{"destroy", "--yes"}, true}, {[]string{"run", "--yes"}, true}, {[]string{"drift"}, true},
	{[]string{"import", "random:RandomUuid", "u", "x", "--yes"}, true}, {[]string{"state", "repair", "--yes"}, true},
	{[]string{"state", "delete", string(underway), "--yes"}, true},
	{[]string{"state", "protect", string(underway), "--yes"}, true}, {[]string{"state", "unprotect", "--all", "--yes"}, true},
	{[]string{"state", "rename", string(underway), "other", "--yes"}, true}, {[]string{"state", "taint", string(underway)}, true},
	{[]string{"state", "move", string(underway), "--dest", "second", "--yes"}, true}, {[]string{"stack", "rm", "--yes"}, true},
	{[]string{"stack", "rm", "--yes", "--force"}, true}, {[]string{"stack", "rename", "other"}, true},
	{[]string{"stack", "rm"}, true}, {[]string{"stack", "rm", "--force"}, true},
	{[]string{"stack", "import", "--file", "state.json"}, true}, {[]string{"stack", "import", "--file", "alien.json"}, true},
	{[]string{"stack", "rename", "second"}, false},
	{[]string{"state", "delete", "keep", "--yes"}, true}, {[]string{"state", "delete", "kept", "--yes"}, true},
	{[]string{"state", "delete", "none", "--yes"}, true}, {[]string{"state", "move", "keep", "--dest", "second", "--yes"}, true},
	{[]string{"config", "set", "a", "b"}, false}, {[]string{"config", "get", "a"}, false}, {[]string{"config"}, false},
	{[]string{"config", "rm", "a"}, false}, {[]string{"stack", "tag", "set", "a", "b"}, false},
	{[]string{"preview"}, false}, {[]string{"preview", "--json"}, false}, {[]string{"preview", "--diff"}, false},
	{[]string{"preview", "--refresh"}, false}, {[]string{"destroy", "--preview-only"}, false},
	{[]string{"state", "verify"}, false}, {[]string{"stack"}, false}, {[]string{"stack", "ls"}, false},
	{[]string{"stack", "export"}, false}, {[]string{"stack", "output"}, false}, {[]string{"migrate", "--check"}, false},
	{[]string{"about"}, false}, {[]string{"stack", "history"}, false}, {[]string{"graph"}, false},
}

// underway is the URN of the resource that the run creates.
var underway = urn.New("dev", "slow", "", "random:index/randomPet:RandomPet", "a")

// besideARun requires of each command that it says who holds the lock, or works without the lock. None takes the run for
// an interrupted one, or advises to settle what it does, to force anything, or to remove what the run works on.
func (x *terminal) besideARun(t *testing.T, holder string) {
	t.Helper()
	for _, c := range besideARun {
		if slices.Contains(c.args, "state.json") {
			require.Zero(t, x.run("stack", "export", "--file", "state.json"), x.err.String())
		}
		code := x.run(c.args...)
		said := x.out.String() + x.err.String()
		require.NotContains(t, said, "interrupted", c.args)
		for _, advice := range []string{"settle-pending", "--force", "destroy them", "Remove those", "--target-dependents",
			"kill -9"} {
			require.NotContains(t, said, advice, c.args)
		}
		if c.locked {
			require.Equal(t, console.CodeLocked, code, "%v: %s", c.args, said)
			require.Contains(t, said, holder, c.args)
		} else {
			require.NotEqual(t, console.CodeLocked, code, "%v: %s", c.args, said)
			require.NotEqual(t, console.CodePending, code, "%v: %s", c.args, said)
		}
	}
}

// keep gives the stack dev a resource that is protected, and one whose child is.
func (x *terminal) keep(t *testing.T) {
	const record = `{"urn": "urn:pulumi:dev::slow::my:index:Kept::%s", "type": "my:index:Kept", "custom": false%s}`
	text := `{"version": 3, "deployment": {"manifest": {}, "resources": [` + fmt.Sprintf(record, "keep", "") + "," +
		fmt.Sprintf(record, "kept", `, "protect": true, "parent": "urn:pulumi:dev::slow::my:index:Kept::keep"`) + "]}}"
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "kept.json"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "alien.json"),
		[]byte(strings.ReplaceAll(text, ":dev:", ":other:")), 0o600))
	require.Zero(t, x.run("stack", "import", "--file", "kept.json"), x.err.String())
}

// slowProgram is the program of the run.
const slowProgram = `name: slow
runtime: yaml
resources:
  a: {type: "random:RandomPet"}
`

// Beside a run that is creating a resource, nothing speaks of an interruption; once the run is gone without an end,
// commands do.
func TestCommandsBesideARun(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, slowProgram)
	x.besideItsRun(t, "file://"+filepath.ToSlash(filepath.Join(x.world.Dir, "..", "state")), nil)
}

// besideItsRun begins a run in the backend of the terminal, and requires that its commands do not take it for an
// interrupted one while its process lives, and do once that is gone. If it lives and its locks are removed, they say
// that it may be at work. open opens a store of objects.
func (x *terminal) besideItsRun(t *testing.T, url string, open func(string) (backend.Objects, error)) {
	require.Zero(t, x.run("stack", "init", "second"), x.err.String())
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	alive := true
	process := backend.Process{PID: 8, User: "other", Host: "h", Machine: "m", Boot: "b",
		Alive: func(int, string) bool { return alive }, AliveAt: func(int, time.Time) bool { return alive }}
	x.world.Process = func() backend.Process {
		own := process
		own.PID, own.User = 7, "u"
		return own
	}
	b, err := backend.Open(url, backend.Options{Version: "test", Process: process, OpenObjects: open})
	require.NoError(t, err)
	require.Zero(t, x.run("preview", "--save-plan", "plan.json"), x.err.String())
	x.keep(t)
	begin := func() {
		run, err := b.Begin(t.Context(), backend.Ref{Project: "slow", Stack: "dev"}, backend.BeginOptions{Command: "update"})
		require.NoError(t, err)
		t.Cleanup(func() { _ = run.Close() }) // it has lost the stack
		require.NoError(t, run.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Kind: state.Creating,
			Resource: &state.Resource{URN: underway, Type: "random:index/randomPet:RandomPet", Custom: true,
				Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}}}))
	}
	begin()
	x.besideARun(t, "other@h")
	require.Equal(t, console.CodeLocked, x.run("up", "--plan", "plan.json", "--yes"), x.err.String())
	x.run("preview")
	require.Contains(t, x.err.String(), "the stack is locked by other@h (process 8), which still runs")
	alive = false
	for _, args := range [][]string{{"preview"}, {"drift"}, {"state", "verify"}, {"stack"}, {"up", "--yes"}} {
		code := x.run(args...)
		said := x.out.String() + x.err.String()
		require.NotEqual(t, console.CodeLocked, code, "%v: %s", args, said)
		require.True(t, strings.Contains(strings.ToLower(said), "interrupted") || strings.Contains(said, "earlier run"), "%v: %s", args, said)
		require.NotContains(t, said, "before you settle", args)
	}
	require.Zero(t, x.run("state", "unprotect", "--all", "--yes"), x.err.String())
	require.Zero(t, x.run("up", "--yes", "--settle-pending", "forget"), x.err.String())
	alive = true
	require.Zero(t, x.run("destroy", "--yes"), x.err.String())
	begin()
	require.Zero(t, x.run("cancel", "--yes"), x.err.String())
	for _, args := range [][]string{{"preview"}, {"state", "verify"}, {"stack"}, {"up", "--yes", "--skip-preview"}} {
		x.run(args...)
		require.Contains(t, x.out.String()+x.err.String(), "process 8 on h, which ran the earlier update, still runs", args)
	}
}

// The same beside a run whose stack a service keeps, with journals or with checkpoints, and for a plan that was made
// before the run began.
func TestHostedCommandsBesideARun(t *testing.T) {
	t.Parallel()
	for _, forgotten := range [][]string{nil, {"journal"}} {
		x := newHosted(t, `name: slow
runtime: yaml
resources:
  a: {type: "command:local:Command", properties: {create: "touch begun; sleep 60"}}
`)
		x.Set(host.Behaviour{Forget: forgotten})
		x.does("stack", "init", "second")
		x.does("stack", "init", "dev")
		x.does("preview", "--save-plan", "plan.json")
		x.keep(t)
		signals, code := make(chan os.Signal, 2), make(chan int)
		other := newTerminal(t, "")
		other.world.Dir, other.world.Home, other.world.Env = x.world.Dir, x.world.Home, x.world.Env
		other.world.HTTP, other.world.ServicePause, other.world.Signals = nil, x.world.ServicePause, signals
		go func() { code <- other.run("up", "--yes", "--skip-preview") }()
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(x.world.Dir, "begun"))
			return err == nil
		}, time.Minute, 5*time.Millisecond)
		x.besideARun(t, "")
		require.Equal(t, console.CodeLocked, x.run("up", "--plan", "plan.json", "--yes"), x.err.String())
		signals <- syscall.SIGINT
		signals <- syscall.SIGINT
		<-code
	}
}
