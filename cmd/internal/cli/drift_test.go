package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// unread is a drawer whose Read fails with why and whose Update fails with refusal. With a nil error, the method
// succeeds.
type unread struct {
	*drawer.Provider
	why, refusal error
}

func (u unread) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return u, nil
}

func (u unread) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	if u.why == nil {
		return u.Provider.Read(ctx, r)
	}
	return provider.ReadResponse{}, u.why
}

func (u unread) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if u.refusal == nil {
		return u.Provider.Update(ctx, r)
	}
	return provider.UpdateResponse{}, u.refusal
}

type unreads struct {
	drawers
	why, refusal error
}

func (u unreads) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "drawer" {
		return nil, &provider.MissingError{Package: p.Name}
	}
	return unread{u.Provider, u.why, u.refusal}, nil
}

// Drift is a difference from the state or from the program. Rules ignore differences that do not matter. A resource
// that cannot be read is never reported as "no drift".
func TestDrift(t *testing.T) {
	t.Parallel()
	x, d := reportWorld(t)
	drift := func(code int, args ...string) string {
		t.Helper()
		require.Equal(t, code, x.run(append([]string{"drift", "--exit-code"}, args...)...), x.err.String())
		return x.err.String()
	}
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	require.Contains(t, drift(0), "There is no drift.")

	// Change the box outside of yamlhost.
	objects, err := drawer.Objects(d.Dir)
	require.NoError(t, err)
	path := ""
	for _, o := range objects {
		if o.Title == "red" {
			path = filepath.Join(d.Dir, o.ID+".json")
		}
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	// Changed computed properties are no drift, here and in a refresh.
	write := func(pairs ...string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(before))), 0o600))
	}
	write(`"revision":1`, `"revision":2`)
	said := drift(0)
	require.Contains(t, said, "There is no drift.\n1 computed property of 1 resource changed; --show-computed shows them\n")
	require.NotContains(t, said, "revision")
	require.Contains(t, drift(0, "--show-computed"), "Computed: box has changed in revision")
	drift(0, "--json")
	require.Contains(t, x.out.String(), `"computed": [
                "revision"
            ]`)
	require.NotContains(t, x.out.String(), `"drift"`)
	require.Equal(t, 0, x.run("refresh", "--preview-only", "--expect-no-changes"), x.err.String())
	require.Contains(t, x.out.String(), "1 computed property of 1 resource changed; --show-computed shows them")
	require.NotContains(t, x.out.String(), "revision")
	require.Equal(t, 0, x.run("refresh", "--preview-only", "--show-computed"), x.err.String())
	require.Contains(t, x.out.String(), "~ revision: 1 => 2")

	write(`"red"`, `"pink"`)
	report := filepath.Join(t.TempDir(), "drift.md")
	said = drift(console.CodeDrift, "--out", "markdown="+report)
	require.Contains(t, said, "Drift: box differs from the state in title\n")
	require.Contains(t, x.out.String(), "     ~ title: \"red\" => \"pink\"\n     and 1 computed property\n")
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(text), "Drift: box differs from the state in title")
	require.Equal(t, 0, x.run("drift"), "without --exit-code drift is a result")

	// Each rule ignores drift for its own reason.
	rules := func(list string) {
		x.program(t, "red", "small", "")
		program, err := os.ReadFile(filepath.Join(x.world.Dir, "Pulumi.yaml"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"),
			append(program, "options:\n  drift:\n    ignore:\n"+list...), 0o644))
	}
	rules("      - {type: 'drawer:**', property: t*, reason: painters}\n")
	require.Contains(t, drift(0), "Ignored: title of box differs from the state (painters)")
	write(`"red"`, `"pink"`, `"small"`, `"large"`)
	rules("      - {urn: '**::lid', reason: painters}\n      - {property: kind, reason: kinds}\n")
	said = drift(console.CodeDrift)
	require.Contains(t, said, "Ignored: kind of box differs from the state (kinds)")
	require.Contains(t, said, "Drift: box differs from the state in title\n")
	rules("      - {property: title}\n")
	require.Contains(t, drift(console.CodeProgram), "options.drift.ignore[0] has no reason")

	// The box is gone, and the program has a new resource.
	require.NoError(t, os.Remove(path))
	x.program(t, "red", "small", "  more: {type: drawer:Item, properties: {title: t, kind: k}}")
	said = drift(console.CodeDrift)
	require.Contains(t, said, "Drift: box does not exist any more")
	require.Contains(t, said, "Drift: more is in the program and does not exist")
	require.NoError(t, os.WriteFile(path, before, 0o600))
	x.program(t, "red", "small", "")
	require.Contains(t, drift(0), "There is no drift.")

	// Each cause of a failed read has an exit code of its own.
	embedded := x.world.Embedded
	for why, code := range map[string]int{"dial tcp: lookup api.example: no such host": console.CodeUnreachable,
		"no valid credentials found": console.CodeDenied, "the disk is on fire": console.CodeFailed} {
		x.world.Embedded = []console.EmbeddedProviders{unreads{drawers{d}, errors.New(why), nil}}
		require.NotContains(t, drift(code), "no drift")
	}

	// A difference is drift even if the provider refuses to correct it.
	write(`"red"`, `"pink"`)
	x.world.Embedded = []console.EmbeddedProviders{unreads{drawers{d}, nil, errors.New("conflict with another writer")}}
	said = drift(console.CodeDrift)
	require.Contains(t, said, "conflict with another writer")
	require.Contains(t, said, "Drift: box differs from the state in title\n")
	require.Contains(t, said, "Not everything could be compared")
	require.Equal(t, console.CodeFailed, x.run("drift"), "without --exit-code drift is a result, and the refusal is not")
	write()
	x.world.Embedded = embedded
	objects, err = drawer.Objects(d.Dir)
	require.NoError(t, err)
	require.Len(t, objects, 2, "nothing was changed")
}

// drift stops at pending operations of an interrupted run and never reports "no drift".
func TestDriftWithPendingOperations(t *testing.T) {
	t.Parallel()
	x, _ := reportWorld(t)
	require.Equal(t, 0, x.run("up", "--yes", "--skip-preview"), x.err.String())
	states, err := filepath.Glob(filepath.Join(filepath.Dir(x.world.Dir), "state", ".pulumi", "stacks", "*", "*.json"))
	require.NoError(t, err)
	require.Len(t, states, 1)
	text, err := os.ReadFile(states[0])
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, json.Unmarshal(text, &file))
	delete(file, "yamlhostChecksum") // as if the Pulumi CLI had written it
	latest := file["checkpoint"].(map[string]any)["latest"].(map[string]any)
	resources := latest["resources"].([]any)
	latest["pending_operations"] = []any{map[string]any{"type": "updating", "resource": resources[len(resources)-1]}}
	text, err = json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(states[0], text, 0o644))
	for _, args := range [][]string{{"drift"}, {"drift", "--exit-code"}} {
		require.Equal(t, console.CodePending, x.run(args...), x.err.String())
		require.Contains(t, x.err.String(), "1 operation of an earlier run is pending")
		require.Contains(t, x.err.String(), "yamlhost refresh")
		require.NotContains(t, x.err.String()+x.out.String(), "no drift")
	}
}
