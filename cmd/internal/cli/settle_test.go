package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/bench/drawer"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// drawers are providers of drawer in this process; a loader of plugins would say the same.
type drawers struct{ *drawer.Provider }

func (d drawers) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "drawer" {
		return nil, &provider.MissingError{Package: p.Name}
	}
	return d.Provider, nil
}

func (d drawers) Schema(name string) ([]byte, bool) {
	if name != "drawer" {
		return nil, false
	}
	text, _ := d.Provider.Schema(context.Background(), provider.SchemaRequest{})
	return text, true
}

const twoItems = `name: two
resources:
  first: {type: drawer:Item, properties: {title: a, kind: k}}
  second: {type: drawer:Item, properties: {title: "after ${first.tag}", kind: k}}
`

const secondURN = "urn:pulumi:dev::two::drawer:index:Item::second"

// cutOff is a stack whose run was cut off in the middle of the operation kind on the second item.
func cutOff(t *testing.T, kind string, answers ...string) (x *terminal, dir string) {
	t.Helper()
	x = newTerminal(t, twoItems, answers...)
	dir = t.TempDir()
	x.world.Embedded = []EmbeddedProviders{drawers{&drawer.Provider{Dir: dir}}}
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	path := filepath.Join(x.world.Dir, "..", "state", ".pulumi", "stacks", "two", "dev.json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Version    int `json:"version"`
		Checkpoint struct {
			Stack  string         `json:"stack"`
			Latest map[string]any `json:"latest"`
		} `json:"checkpoint"`
	}
	require.NoError(t, json.Unmarshal(text, &file))
	latest := file.Checkpoint.Latest
	resources := latest["resources"].([]any)
	last := resources[len(resources)-1].(map[string]any)
	require.Equal(t, secondURN, last["urn"])
	if kind == "creating" {
		latest["resources"] = resources[:len(resources)-1]
		delete(last, "id")
		delete(last, "outputs")
	}
	latest["pending_operations"] = []any{map[string]any{"resource": last, "type": kind}}
	text, err = json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return x, dir
}

func ids(t *testing.T, dir, name string) (list []string) {
	t.Helper()
	objects, err := drawer.Objects(dir)
	require.NoError(t, err)
	for _, o := range objects {
		if strings.HasSuffix(o.URN, "::"+name) {
			list = append(list, o.ID)
		}
	}
	return list
}

// D9: a creation in flight is never tried again unasked.
func TestPendingCreation(t *testing.T) {
	t.Parallel()
	t.Run("stops where nobody can be asked", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		for _, command := range [][]string{{"up", "--yes", "--skip-preview"}, {"up", "--yes"}, {"destroy", "--yes"}, {"run"}} {
			require.Equal(t, codePending, x.run(append(command, "--non-interactive")...), x.err.String())
			require.Contains(t, x.err.String(), secondURN)
			require.Contains(t, x.err.String(), "--settle-pending")
		}
		require.Len(t, ids(t, dir, "second"), 1)
	})
	t.Run("preview tells and goes on", func(t *testing.T) {
		t.Parallel()
		x, _ := cutOff(t, "creating")
		require.Equal(t, 0, x.run("preview", "--non-interactive"), x.err.String())
		require.Contains(t, x.err.String(), "is not known")
	})
	t.Run("adopted by its ID", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		id := ids(t, dir, "second")[0]
		require.Equal(t, 0, x.run("up", "--yes", "--non-interactive", "--settle-pending", secondURN+"="+id), x.err.String())
		require.Contains(t, x.err.String(), "taken into the state")
		require.Equal(t, []string{id}, ids(t, dir, "second"))
		require.Equal(t, 0, x.run("destroy", "--yes"), x.err.String())
		require.Empty(t, ids(t, dir, "second"))
	})
	t.Run("adopted by an answer", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		id := ids(t, dir, "second")[0]
		x.streams.In = strings.NewReader(id + "\n")
		require.Equal(t, 0, x.run("destroy", "--yes"), x.err.String())
		require.Empty(t, ids(t, dir, "second"))
	})
	t.Run("an empty answer stops", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		x.streams.In = strings.NewReader("\n")
		require.Equal(t, 1, x.run("up", "--yes"), x.err.String())
		require.Len(t, ids(t, dir, "second"), 1)
	})
	t.Run("an ID that is not there", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		require.Equal(t, 1, x.run("up", "--yes", "--settle-pending", secondURN+"=nonsense"), x.err.String())
		require.Contains(t, x.err.String(), `there is nothing with the ID "nonsense"`)
		require.Equal(t, codePending, x.run("up", "--yes", "--non-interactive"), "nothing was settled")
		require.Len(t, ids(t, dir, "second"), 1)
	})
	t.Run("forgotten", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		require.NoError(t, os.Remove(filepath.Join(dir, ids(t, dir, "second")[0]+".json")))
		require.Equal(t, 0, x.run("up", "--yes", "--settle-pending", "forget"), x.err.String())
		require.Len(t, ids(t, dir, "second"), 1)
	})
	t.Run("tried again on demand", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		require.Equal(t, 0, x.run("up", "--yes", "--settle-pending", "retry"), x.err.String())
		require.Contains(t, x.err.String(), "will be created again")
		require.Len(t, ids(t, dir, "second"), 2)
	})
	t.Run("nonsense", func(t *testing.T) {
		t.Parallel()
		x, _ := cutOff(t, "creating")
		require.Equal(t, codeUsage, x.run("up", "--yes", "--settle-pending", "perhaps"), x.err.String())
	})
}

// Updates and deletions in flight are settled by reading.
func TestPendingChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   string
		remove bool // it had happened, as far as it is a deletion
		says   string
	}{
		"an update": {"updating", false, "is there"}, "a deletion that did not happen": {"deleting", false, "is there"},
		"a deletion that happened": {"deleting", true, "is gone"}, "a reading": {"reading", false, "left nothing behind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, dir := cutOff(t, c.kind)
			if c.remove {
				require.NoError(t, os.Remove(filepath.Join(dir, ids(t, dir, "second")[0]+".json")))
			}
			require.Equal(t, 0, x.run("up", "--yes", "--non-interactive"), x.err.String())
			require.Contains(t, x.err.String(), c.kind+" "+secondURN)
			require.Contains(t, x.err.String(), c.says)
			require.Len(t, ids(t, dir, "second"), 1)
			require.Equal(t, 0, x.run("destroy", "--yes", "--non-interactive"), x.err.String())
			require.NotContains(t, x.err.String(), "cut off")
			require.Empty(t, ids(t, dir, "second"))
		})
	}
}
