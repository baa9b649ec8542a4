package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// newClient returns a terminal of a program that calls pulumi: there is no person, and the passphrase is set.
func newClient(t testing.TB, program string) *terminal {
	t.Helper()
	x := newTerminalIn(t, t.TempDir(), program)
	x.streams.InTerminal, x.streams.ErrTerminal, x.world.AsPulumi = false, false, true
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x")
	return x
}

// A client recognizes the error of a command by its text on standard error. The patterns are those of Pulumi's
// automation package for Go.
func TestClientsRecognizeErrors(t *testing.T) {
	t.Parallel()
	x := newClient(t, onePet)
	for _, name := range []string{"one", "dev"} {
		require.Zero(t, x.run("stack", "init", name), x.err.String())
	}
	for _, c := range []struct {
		args    []string
		code    int
		pattern string
	}{
		{[]string{"stack", "init", "dev"}, 1, `stack.*already exists`},
		{[]string{"stack", "rename", "one"}, 1, `stack.*already exists`},
		{[]string{"stack", "select", "two"}, 6, `no stack named.*found`},
		{[]string{"up", "--yes", "--stack", "two"}, 6, `no stack named.*found`},
		{[]string{"stack", "output", "--stack", "two"}, 6, `no stack named.*found`},
		{[]string{"stack", "rm", "two", "--yes"}, 6, `no stack named.*found`},
		{[]string{"stack", "rm", "dev"}, 1, `--yes`},
		{[]string{"up"}, 2, `--yes or --skip-preview or --preview-only must be passed in`},
		{[]string{"destroy"}, 2, `--yes or --skip-preview or --preview-only must be passed in`},
		{[]string{"refresh"}, 1, `--yes or --skip-preview or --preview-only must be passed in`},
		{[]string{"stack", "select"}, 6, `stack name`},
		{[]string{"plugin", "install", "resource"}, 1, `plugin`},
		{[]string{"up", "--no-such-flag"}, 1, `flag`},
	} {
		require.Equal(t, c.code, x.run(c.args...), "%v\n%s", c.args, x.err.String())
		require.Regexp(t, c.pattern, x.err.String(), c.args)
	}
	x.world.Dir = filepath.Join(filepath.Dir(x.world.Dir), "home") // without a project no stack is selected
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte("name: none\nruntime: yaml\n"), 0o644))
	for _, args := range [][]string{{"up", "--yes"}, {"stack", "export"}, {"config"}, {"stack", "output"}} {
		require.Equal(t, 1, x.run(args...), args)
		require.Regexp(t, "no stack selected", x.err.String(), args)
	}
}

// A stack that another run holds has the words by which clients know to try again.
func TestClientsRecognizeLocks(t *testing.T) {
	t.Parallel()
	x := newClient(t, onePet)
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	locks := filepath.Join(filepath.Dir(x.world.Dir), "state", ".pulumi", "locks", "organization", "one", "dev")
	require.NoError(t, os.MkdirAll(locks, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(locks, "a.json"),
		[]byte(`{"pid":1,"username":"other","hostname":"elsewhere","timestamp":"2026-01-02T03:04:05Z"}`), 0o644))
	require.Equal(t, 1, x.run("up", "--yes", "--skip-preview"), x.err.String())
	require.Contains(t, x.err.String(), "the stack is currently locked by")
}

// Removing what is absent succeeds in silence, and what is there goes, in any order.
func TestClientsRemoveWhatIsAbsent(t *testing.T) {
	t.Parallel()
	x := newClient(t, onePet)
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	names := []string{"a", "b", "c", "d"}
	config, tags := map[string]bool{}, map[string]bool{}
	shows := func(r *rapid.T, kept map[string]bool, key func(string) string, args ...string) {
		require.Zero(r, x.run(args...), x.err.String())
		shown := map[string]any{}
		require.NoError(r, json.Unmarshal(x.out.Bytes(), &shown), x.out.String())
		for _, name := range names {
			require.Equal(r, kept[name], shown[key(name)] != nil, "%s %v", name, args)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.SampledFrom(names).Draw(r, "name")
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID).Draw(r, "some")
		quiet := func(args ...string) {
			require.Zero(r, x.run(args...), "%v %s", args, x.err.String())
			require.Empty(r, x.out.String()+x.err.String(), args)
		}
		switch rapid.IntRange(0, 4).Draw(r, "command") {
		case 0:
			quiet("config", "set", name, "1")
			config[name] = true
		case 1:
			quiet("config", "rm", name)
			delete(config, name)
		case 2:
			quiet(append([]string{"config", "rm-all"}, some...)...)
			maps.DeleteFunc(config, func(k string, _ bool) bool { return slices.Contains(some, k) })
		case 3:
			quiet("stack", "tag", "set", name, "1")
			tags[name] = true
		case 4:
			quiet("stack", "tag", "rm", name)
			delete(tags, name)
		}
		shows(r, config, func(name string) string { return "one:" + name }, "config", "--json")
		shows(r, tags, func(name string) string { return name }, "stack", "tag", "ls", "--json")
	})
	require.Zero(t, x.run("plugin", "rm", "resource", "nowhere", "9.9.9", "--yes"), x.err.String())
}

// A new stack has its settings file, its secrets provider and its line in the list at once.
func TestClientsSeeNewStacks(t *testing.T) {
	t.Parallel()
	x := newClient(t, onePet)
	require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
	settings, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.dev.yaml"))
	require.NoError(t, err)
	require.Regexp(t, "^encryptionsalt: v1:", string(settings))
	require.Zero(t, x.run("stack", "export"), x.err.String())
	var state struct {
		Deployment struct {
			Provider struct{ Type string } `json:"secrets_providers"`
		}
	}
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &state))
	require.Equal(t, "passphrase", state.Deployment.Provider.Type)
	for _, args := range [][]string{{"stack", "ls", "--json"}, {"stack", "ls", "--all", "--json"},
		{"stack", "ls", "--project", "one", "--json"}} {
		require.Zero(t, x.run(args...), x.err.String())
		var list []map[string]any
		require.NoError(t, json.Unmarshal(x.out.Bytes(), &list))
		require.Len(t, list, 1, args)
		require.NotEmpty(t, list[0]["lastUpdate"])
		delete(list[0], "lastUpdate")
		require.Equal(t, map[string]any{"name": "dev", "current": true, "resourceCount": 0.0}, list[0], args)
	}
	require.Zero(t, x.run("stack", "ls", "--project", "other", "--json"), x.err.String())
	require.Equal(t, "[]\n", x.out.String())
}

// What clients pass is accepted, and kept where the Pulumi CLI keeps it.
func TestClientsFlags(t *testing.T) {
	t.Parallel()
	x := newClient(t, "name: one\nruntime: yaml\noutputs: {x: 1}\n")
	require.Zero(t, x.run("stack", "init", "dev", "--tracing", "file:trace"), x.err.String())
	require.Zero(t, x.run("up", "--yes", "--skip-preview", "--exec-kind", "auto.local", "--exec-agent", "agent/1"), x.err.String())
	require.Zero(t, x.run("stack", "history", "--json"), x.err.String())
	var history []struct {
		Version     *int
		Environment map[string]string
	}
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &history))
	require.Len(t, history, 1)
	require.Equal(t, new(int), history[0].Version)
	require.Equal(t, "auto.local", history[0].Environment["exec.kind"])
	require.Equal(t, "agent/1", history[0].Environment["exec.agent"])
	require.Zero(t, x.run("config", "env", "ls", "--json"), x.err.String())
	require.JSONEq(t, "[]", x.out.String())
	require.Zero(t, x.run("plugin", "install"), x.err.String())
	require.Empty(t, x.err.String())
	require.Zero(t, x.run("about", "-t", "--json"), x.err.String())
	require.Zero(t, x.run("about", "env"), x.err.String())
	require.Regexp(t, `(?m)^PULUMI_CONFIG_PASSPHRASE +\[secret\]$`, x.out.String())
	require.Zero(t, x.run("cancel"), x.err.String())
}

// A log of events has one operation: its first event is the prelude, its last one ends it, and the sequence counts up.
// That holds as well where a plan decides first whether the operation runs.
func TestClientsReadOneStream(t *testing.T) {
	t.Parallel()
	for _, asPulumi := range []bool{true, false} {
		for _, skip := range [][]string{{"--expect-no-changes"}, {"--max-deletes", "0"}, {}} {
			x := newClient(t, onePet)
			x.world.AsPulumi = asPulumi
			require.Zero(t, x.run("stack", "init", "dev"), x.err.String())
			log := filepath.Join(t.TempDir(), "events")
			up := slices.Concat([]string{"up", "--yes", "--skip-preview", "--event-log", log}, skip)
			code := x.run(up...)
			if len(skip) == 1 {
				require.Equal(t, 7, code, x.err.String()) // nothing was done, and the log has the plan
				requireOneStream(t, log, true)
				require.Contains(t, x.out.String()+x.err.String(), "2 to create")
				require.Zero(t, x.run("up", "--yes", "--skip-preview"), x.err.String())
				code = x.run(up...)
			}
			require.Zero(t, code, x.err.String())
			requireOneStream(t, log, false)
			if asPulumi {
				require.NotContains(t, x.out.String(), "Previewing")
			}
			require.Zero(t, x.run(append(up, "--json")...), x.err.String())
			require.NoError(t, os.WriteFile(log, x.out.Bytes(), 0o600))
			requireOneStream(t, log, false)
		}
	}
}

func requireOneStream(t *testing.T, path string, preview bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	last, preludes, summaries, cancels := -1, 0, 0, 0
	for line := range strings.Lines(string(text)) {
		var e struct {
			Sequence       int
			Prelude        *struct{}                 `json:"preludeEvent"`
			Cancel         *struct{}                 `json:"cancelEvent"`
			SummaryOfEvent *struct{ IsPreview bool } `json:"summaryEvent"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		require.Greater(t, e.Sequence, last, string(text))
		require.Zero(t, cancels, "an event after the end: %s", line)
		last = e.Sequence
		if e.Prelude != nil {
			preludes++
		}
		if e.Cancel != nil {
			cancels++
		}
		if e.SummaryOfEvent != nil {
			summaries++
			require.Equal(t, preview, e.SummaryOfEvent.IsPreview)
		}
	}
	require.Equal(t, []int{1, 1, 1}, []int{preludes, summaries, cancels}, string(text))
}
