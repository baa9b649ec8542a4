package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/tools/bench/drawer"
)

// drawers provides the drawer in this process instead of a plugin.
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

const (
	firstURN  = "urn:pulumi:dev::two::drawer:index:Item::first"
	secondURN = "urn:pulumi:dev::two::drawer:index:Item::second"
)

// cutOff returns a stack whose last run was interrupted during an operation of a kind on the second item. dir holds the
// objects of the drawer.
func cutOff(t *testing.T, kind string, answers ...string) (x *terminal, dir string) {
	t.Helper()
	x = newTerminal(t, twoItems, answers...)
	dir = t.TempDir()
	x.world.Embedded = []console.EmbeddedProviders{drawers{&drawer.Provider{Dir: dir}}}
	require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
	require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
	cut(t, x, kind, secondURN)
	return x, dir
}

// bothCutOff returns a stack whose last run was interrupted while it created both items.
func bothCutOff(t *testing.T) (x *terminal, dir string) {
	t.Helper()
	x, dir = cutOff(t, "creating")
	cut(t, x, "creating", firstURN)
	return x, dir
}

func checkpointPath(x *terminal) string {
	return filepath.Join(x.world.Dir, "..", "state", ".pulumi", "stacks", "two", "dev.json")
}

func checkpointOf(t *testing.T, x *terminal) []byte {
	t.Helper()
	text, err := os.ReadFile(checkpointPath(x))
	require.NoError(t, err)
	return text
}

// cut adds a pending operation on a resource to the state. A resource that is being created leaves the list of
// resources.
func cut(t *testing.T, x *terminal, kind, urn string) {
	t.Helper()
	cutIn(t, checkpointPath(x), kind, urn)
}

// cutIn is cut for the checkpoint in a file.
func cutIn(t *testing.T, path, kind, urn string) {
	t.Helper()
	checkpoint, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Version    int `json:"version"`
		Checkpoint struct {
			Stack  string         `json:"stack"`
			Latest map[string]any `json:"latest"`
		} `json:"checkpoint"`
	}
	require.NoError(t, json.Unmarshal(checkpoint, &file))
	latest := file.Checkpoint.Latest
	resources := latest["resources"].([]any)
	i := slices.IndexFunc(resources, func(r any) bool { return r.(map[string]any)["urn"] == urn })
	require.GreaterOrEqual(t, i, 0)
	resource := resources[i].(map[string]any)
	if kind == "creating" {
		latest["resources"] = slices.Delete(resources, i, i+1)
		delete(resource, "id")
		delete(resource, "outputs")
	}
	pending, _ := latest["pending_operations"].([]any)
	latest["pending_operations"] = append(pending, map[string]any{"resource": resource, "type": kind})
	text, err := json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
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

// D9: an interrupted creation is retried only on request.
func TestPendingCreation(t *testing.T) {
	t.Parallel()
	t.Run("stops where nobody can be asked", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		for _, command := range [][]string{{"up", "--yes", "--skip-preview"}, {"up", "--yes"}, {"run"}} {
			require.Equal(t, console.CodePending, x.run(append(command, "--non-interactive")...), x.err.String())
			require.Contains(t, x.err.String(), secondURN)
			require.Contains(t, x.err.String(), "--settle-pending")
		}
		require.Contains(t, x.err.String(), `(title: "after tag-a")`, "what names the object")
		require.Len(t, ids(t, dir, "second"), 1)
		x.streams.In = strings.NewReader("no\n")
		require.Equal(t, console.CodePending, x.run("run"), "run never asks")
		require.Contains(t, x.err.String(), "--settle-pending")
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
		require.Contains(t, x.err.String(), "is now in the state")
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
		require.Equal(t, console.CodePending, x.run("up", "--yes", "--non-interactive"), "nothing was resolved")
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
	t.Run("read where the ID follows from the inputs", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			exists bool
			args   []string
			file   string // appended to the project file
			said   string
		}{
			"there":                 {true, []string{"up", "--yes", "--settle-pending", "read"}, "", "is now in the state with the ID"},
			"not there":             {false, []string{"up", "--yes", "--settle-pending", "read"}, "", "does not exist under the ID"},
			"by the project's word": {true, []string{"run"}, "options: {settlePending: read}\n", "is now in the state with the ID"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				x, dir := cutOff(t, "creating")
				first, second := ids(t, dir, "first")[0], ids(t, dir, "second")[0]
				require.Equal(t, console.CodePending, x.run("run"), "no example says that a title is an ID")
				require.NotContains(t, x.err.String(), "--settle-pending read")
				require.Equal(t, console.CodePending, x.run("run", "--settle-pending", "read"), x.err.String())
				text := strings.Replace(string(checkpointOf(t, x)), `"title":"a"`, `"title":"`+first+`"`, 1)
				text = strings.Replace(text, `"title":"after tag-a"`, `"title":"`+second+`"`, 1)
				require.NoError(t, os.WriteFile(checkpointPath(x), []byte(text), 0o600))
				if c.file == "" {
					require.Equal(t, console.CodePending, x.run("run"), x.err.String())
					require.Contains(t, x.err.String(), "Run again with --settle-pending read")
				} else {
					require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "Pulumi.yaml"), []byte(twoItems+c.file), 0o600))
				}
				if !c.exists {
					require.NoError(t, os.Remove(filepath.Join(dir, second+".json")))
				}
				require.Equal(t, 0, x.run(c.args...), x.err.String())
				require.Contains(t, x.err.String(), c.said)
				require.Len(t, ids(t, dir, "second"), 1)
				require.Equal(t, c.exists, ids(t, dir, "second")[0] == second)
			})
		}
	})
	t.Run("nonsense is refused, whatever is pending", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		for _, words := range [][]string{{"perhaps"}, {"urn:no-id"}, {"forget", "retry"}, {"read", "forget"},
			{secondURN + "=a", secondURN + "=b"}} {
			args := []string{"up", "--yes"}
			for _, word := range words {
				args = append(args, "--settle-pending", word)
			}
			require.Equal(t, console.CodeUsage, x.run(args...), x.err.String())
		}
		require.Equal(t, 0, x.run("up", "--yes", "--settle-pending", secondURN+"="+ids(t, dir, "second")[0]), x.err.String())
		require.Equal(t, console.CodeUsage, x.run("up", "--yes", "--settle-pending", "perhaps"),
			"nothing is pending any more")
	})
	t.Run("a URN that is not pending", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		made := ids(t, dir, "second")[0]
		before := checkpointOf(t, x)
		for _, word := range []string{secondURN + "s=" + made, strings.Replace(secondURN, "second", "first", 1) + "=" +
			made} {
			for _, command := range [][]string{{"up", "--yes"}, {"up", "--yes", "--skip-preview"}, {"preview"},
				{"destroy", "--yes"}, {"run"}} {
				require.Equal(t, console.CodeUsage, x.run(append(command, "--settle-pending", word)...), x.err.String())
				require.Contains(t, x.err.String(), "  * "+secondURN+"\n")
			}
		}
		require.Equal(t, []string{made}, ids(t, dir, "second"))
		require.Equal(t, before, checkpointOf(t, x), "nothing was changed")
		require.Equal(t, 0, x.run("up", "--yes", "--settle-pending", secondURN+"="+made), x.err.String())
		require.Equal(t, console.CodeUsage, x.run("up", "--yes", "--settle-pending", secondURN+"="+made), "it is resolved")
		require.Contains(t, x.err.String(), "there is none")
	})
	t.Run("a partial answer lists what is still open", func(t *testing.T) {
		t.Parallel()
		x, dir := bothCutOff(t)
		require.Equal(t, console.CodePending, x.run("up", "--yes", "--non-interactive", "--settle-pending", firstURN+"="+
			ids(t, dir, "first")[0]))
		require.Contains(t, x.err.String(), "the outcome of 1 creation is not known:")
		require.Contains(t, x.err.String(), "\n  * "+secondURN+" (title")
		require.NotContains(t, x.err.String(), "\n  * "+firstURN+" (title")
	})
	t.Run("the recorded inputs are sent again", func(t *testing.T) {
		t.Parallel()
		x, dir := cutOff(t, "creating")
		require.NoError(t, os.Remove(filepath.Join(dir, ids(t, dir, "second")[0]+".json")))
		require.Equal(t, 0, x.run("up", "--yes", "--settle-pending", "retry"), x.err.String())
		require.Contains(t, x.err.String(), "with the recorded inputs")
		require.NotContains(t, x.err.String(), "Attempting to deploy")
		require.Len(t, ids(t, dir, "second"), 1)
		require.NotContains(t, string(checkpointOf(t, x)), "pending_operations")
	})
}

// destroy deletes the known resources; a creation with an unknown outcome stays pending.
func TestDestroyWithPendingCreation(t *testing.T) {
	t.Parallel()
	x, dir := cutOff(t, "creating")
	made := ids(t, dir, "second")[0]
	require.Equal(t, console.CodePending, x.run("destroy", "--yes", "--non-interactive", "--remove"), x.err.String())
	require.Contains(t, x.err.String(), "Everything else was destroyed.")
	require.Contains(t, x.err.String(), secondURN)
	require.Empty(t, ids(t, dir, "first"))
	require.Equal(t, []string{made}, ids(t, dir, "second"))
	require.Contains(t, string(checkpointOf(t, x)), "pending_operations", "the stack stays")
	require.Equal(t, console.CodePending, x.run("destroy", "--yes", "--non-interactive"),
		"there is nothing more to destroy")
	x.streams.In = strings.NewReader("later\n")
	require.Equal(t, console.CodePending, x.run("destroy", "--yes"), x.err.String())
	require.Equal(t, 0, x.run("destroy", "--yes", "--settle-pending", secondURN+"="+made), x.err.String())
	require.Empty(t, ids(t, dir, "second"))
	require.NotContains(t, string(checkpointOf(t, x)), secondURN)
}

// refresh warns about creations with an unknown outcome, and forgets them with --clear-pending-creates (E6.42).
func TestRefreshWithPendingCreation(t *testing.T) {
	t.Parallel()
	x, dir := bothCutOff(t)
	require.Equal(t, 0, x.run("refresh", "--yes", "--non-interactive"), x.err.String())
	require.Contains(t, x.err.String(), "warning: the outcome of 2 interrupted creations is not known")
	require.Contains(t, string(checkpointOf(t, x)), "pending_operations")
	x.streams.In = strings.NewReader("each\n" + ids(t, dir, "second")[0] + "\nno\n")
	require.Equal(t, 0, x.run("refresh", "--yes"), x.err.String())
	require.Contains(t, x.err.String(), "was read, and is now in the state with the ID")
	require.NotContains(t, string(checkpointOf(t, x)), "pending_operations")
	cut(t, x, "creating", secondURN)
	require.Equal(t, 0, x.run("refresh", "--yes", "--clear-pending-creates"), x.err.String())
	require.NotContains(t, string(checkpointOf(t, x)), "pending_operations")
}

// With several pending creations, the first question is whether none of them happened.
func TestPendingCreationsTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers string
		first   int // objects afterwards
		code    int
	}{
		"none of them": {"none\n", 2, 0}, "each": {"each\nno\nno\n", 2, 0}, "stop": {"\n", 1, 1},
		"stop later": {"each\nno\n\n", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, dir := bothCutOff(t)
			x.streams.In = strings.NewReader(c.answers)
			require.Equal(t, c.code, x.run("up", "--yes"), x.err.String())
			require.Len(t, ids(t, dir, "first"), c.first)
		})
	}
}

// Pending creations are resolved without a question if the provider's objects exist only in the state.
func TestPendingCreationInTheState(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"up", "--yes", "--non-interactive"}, {"run"},
		{"refresh", "--yes", "--non-interactive"}} {
		x := newTerminal(t, "name: two\nresources:\n  pet: {type: random:RandomPet}\n")
		require.Equal(t, 0, x.run("stack", "init", "dev"), x.err.String())
		require.Equal(t, 0, x.run("up", "--yes"), x.err.String())
		cut(t, x, "creating", "urn:pulumi:dev::two::random:index/randomPet:RandomPet::pet")
		require.Equal(t, 0, x.run(command...), x.err.String())
		require.Contains(t, x.err.String(), "changed nothing outside of the state")
		require.NotContains(t, string(checkpointOf(t, x)), "pending_operations")
	}
}

// refresh and preview --refresh report a missing object once, as gone and not as a deletion.
func TestRefreshTellsWhatIsGone(t *testing.T) {
	t.Parallel()
	x, dir := cutOff(t, "reading")
	require.Equal(t, 0, x.run("refresh", "--yes"), x.err.String())
	require.NoError(t, os.Remove(filepath.Join(dir, ids(t, dir, "second")[0]+".json")))
	for name, c := range map[string]struct {
		args  []string
		tells string
	}{
		"refresh": {[]string{"refresh", "--preview-only"}, "Resources: 1 gone, 2 unchanged"},
		"refresh with the program": {[]string{"refresh", "--preview-only", "--run-program"},
			"Resources: 1 gone, 2 unchanged"},
		"preview": {[]string{"preview", "--refresh"}, "Resources: 1 gone, 1 to create, 2 unchanged"},
		"preview with the program": {[]string{"preview", "--refresh", "--run-program"},
			"Resources: 1 gone, 1 to create, 2 unchanged"},
	} {
		require.Equal(t, 0, x.run(c.args...), name)
		require.Contains(t, x.out.String(), c.tells, name)
		require.Regexp(t, `second +drawer:Item +(is gone|create, as it was gone)\n`, x.out.String(), name)
		require.NotContains(t, x.out.String(), "delete", name)
		require.NotContains(t, x.out.String(), "- title", name)
		require.NotContains(t, x.out.String(), "first", "%s: nothing happened to it", name)
	}
	require.Equal(t, 0, x.run("refresh", "--yes", "--skip-preview"), x.err.String())
	require.Contains(t, x.err.String(), "Resources: 1 gone, 2 unchanged")
}

// Interrupted updates and deletions are resolved by reading the resource.
func TestPendingChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   string
		remove bool // the deletion had happened
		says   string
	}{
		"an update": {"updating", false, "exists"}, "a deletion that did not happen": {"deleting", false, "exists"},
		"a deletion that happened": {"deleting", true, "does not exist any more"}, "a " +
			"reading": {"reading", false, "changed nothing outside of the state"},
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
			require.NotContains(t, x.err.String(), "was interrupted")
			require.Empty(t, ids(t, dir, "second"))
		})
	}
}
