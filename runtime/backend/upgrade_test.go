package backend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
)

// legacyFiles returns the files of a backend in the layout of the Pulumi CLI without projects, by path: a stack with
// resources and history, a locked stack, and one without resources.
func legacyFiles(t *testing.T) map[string]string {
	t.Helper()
	full := strings.ReplaceAll(vector(t, "checkpoint-v3.json"), "organization/vec/dev", "dev")
	return map[string]string{"meta.yaml": "version: 0\n", "stacks/dev.json": full, "stacks/dev.json.bak": full,
		"history/dev/dev-17.history.json": vector(t, "history.json"), "history/dev/dev-17.checkpoint.json": full,
		"backups/dev/dev.17.json": full, "stacks/locked.json": full, "locks/locked/other.json": vector(t, "lock.json"),
		"stacks/empty.json": strings.ReplaceAll(vector(t, "checkpoint-new-stack.json"), "organization/fmtcheck/dev", "empty")}
}

// F6.5: Upgrade moves stacks with their history to their projects. Stacks that it cannot move stay and are returned
// with an error.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range legacyFiles(t) {
		put(t, folder+"/.pulumi/"+name, text)
	}
	url := "file://" + folder
	_, err := Open(url, testOptions(1))
	require.ErrorContains(t, err, "`yamlhost state upgrade` brings it to the present one")
	o := testOptions(1)
	o.Upgrading = true
	b, err := Open(url, o)
	require.NoError(t, err)
	before, err := b.Load(t.Context(), Ref{Stack: "dev", legacy: true}, nil)
	require.NoError(t, err)
	project := before.Snapshot.Resources[0].URN.Project()

	done, err := b.Upgrade(t.Context())
	require.NoError(t, err)
	require.Len(t, done, 3)
	require.NoError(t, done[0].Err)
	require.Equal(t, Upgraded{Stack: "dev", Now: Ref{Project: project, Stack: "dev"}}, done[0])
	require.ErrorIs(t, done[1].Err, ErrNoProject)
	var locked *LockedError
	require.ErrorAs(t, done[2].Err, &locked)

	b, err = Open(url, testOptions(1))
	require.NoError(t, err)
	stacks, err := b.Stacks(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []Ref{{Project: project, Stack: "dev"}}, stacks)
	after, err := b.Load(t.Context(), stacks[0], nil)
	require.NoError(t, err)
	require.Equal(t, before.Snapshot.Resources, after.Snapshot.Resources)
	history, err := b.History(t.Context(), stacks[0], 0)
	require.NoError(t, err)
	require.Len(t, history, 1)
	for _, name := range filesBelow(t, folder+"/.pulumi") {
		require.NotContains(t, []string{"stacks/dev.json", "history/dev/dev-17.history.json"}, name)
	}
	left, err := Legacy(b)
	require.NoError(t, err)
	require.Equal(t, []string{"empty", "locked"}, left)

	put(t, folder+"/.pulumi/stacks/dev.json", strings.ReplaceAll(legacyFiles(t)["stacks/dev.json"], "3.", "4."))
	done, err = b.Upgrade(t.Context()) // an old CLI has written the stack again
	require.NoError(t, err)
	var exists *ExistsError
	require.ErrorAs(t, done[0].Err, &exists)
	require.ErrorContains(t, done[0].Err, "stacks/dev.json")
}

// An upgrade that is stopped at any change, by a kill or a power failure, is completed by the next one.
func TestUpgradeCutOff(t *testing.T) {
	t.Parallel()
	prepare := func() *simDisk {
		d := newSimDisk()
		for name, text := range legacyFiles(t) {
			if !strings.Contains(name, "locked") {
				require.NoError(t, disk.WriteDurably(d, "/state/.pulumi/"+name, []byte(text)))
			}
		}
		return d
	}
	upgrade := func(d *simDisk, pid int) error {
		o := testOptions(pid)
		o.Upgrading = true
		b, err := open("file:///state", o, d)
		if err != nil {
			return err
		}
		done, err := b.Upgrade(t.Context())
		for _, r := range done {
			if err == nil && r.Stack == "dev" {
				err = r.Err
			}
		}
		return err
	}
	content := func(d *simDisk) (names []string, history int) {
		for name, f := range d.names {
			if !f.folder && !strings.Contains(name, "/lock") && !strings.Contains(name, "yamlhost-tmp") {
				names = append(names, fmt.Sprint(name, " ", len(f.data)))
			}
			if strings.Contains(name, "/history/vec") && !f.folder {
				history++
			}
		}
		slices.Sort(names)
		return names, history
	}
	whole := prepare()
	require.NoError(t, upgrade(whole, 1))
	want, history := content(whole)
	require.Equal(t, 2, history)
	whole = prepare()
	start := whole.changes
	require.NoError(t, upgrade(whole, 1))
	total := whole.changes - start
	require.Greater(t, total, 10)
	for budget := range total {
		for _, power := range []bool{false, true} {
			d := prepare()
			d.budget = budget
			require.Error(t, upgrade(d, 1), budget)
			d = d.after(power)
			require.NoError(t, upgrade(d, 2), budget)
			got, _ := content(d)
			require.Equal(t, want, got, "after %d changes", budget)
		}
	}
}

// Upgrade moves the stacks of a bucket like those of a folder.
func TestUpgradeBucket(t *testing.T) {
	t.Parallel()
	m := newMemory()
	for name, text := range legacyFiles(t) {
		_, err := m.Put(t.Context(), ".pulumi/"+name, []byte(text), Condition{})
		require.NoError(t, err)
	}
	upgrading := func(o *Options) { o.Upgrading = true }
	done, err := openMemory(t, m, 1, upgrading).Upgrade(t.Context())
	require.NoError(t, err)
	require.Len(t, done, 3)
	require.NoError(t, done[0].Err)
	require.ErrorIs(t, done[1].Err, ErrNoProject)
	var locked *LockedError
	require.ErrorAs(t, done[2].Err, &locked)

	b := openMemory(t, m, 2)
	stacks, err := b.Stacks(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []Ref{done[0].Now}, stacks)
	history, err := b.History(t.Context(), stacks[0], 0)
	require.NoError(t, err)
	require.Len(t, history, 1)
	after, err := b.Load(t.Context(), stacks[0], nil)
	require.NoError(t, err)
	require.NotEmpty(t, after.Snapshot.Resources)
	require.NotContains(t, m.keys(), ".pulumi/stacks/dev.json")
	require.Contains(t, m.keys(), ".pulumi/stacks/empty.json")
}
