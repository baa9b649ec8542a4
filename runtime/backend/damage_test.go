package backend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// cutOff returns a backend in which a run of twelve creations was stopped. path and data are its journal of 24 records,
// and ends has the offset of the end of each.
func cutOff(t *testing.T) (b *Backend, path string, data []byte, ends []int) {
	t.Helper()
	b, dir := newBackend(t)
	path = filepath.Join(dir, "stacks/p/dev.yamlhost-journal")
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	s, err := b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	put := func(e journal.Entry) {
		require.NoError(t, s.Append(t.Context(), e))
		data, err = os.ReadFile(path)
		require.NoError(t, err)
		ends = append(ends, len(data))
	}
	for i := 1; i <= 12; i++ {
		put(journal.Entry{Step: int64(i), Begin: &state.Operation{Resource: resource(i), Kind: state.Creating}})
		put(journal.Entry{Step: int64(i), Add: []journal.Amended{{ID: journal.ID(i), Resource: resource(i)}}})
	}
	next, err := Open(b.URL(), testOptions(2)) // considers process 1 dead
	require.NoError(t, err)
	return next, path, data, ends
}

// The next run recovers everything from a journal with one flipped bit. It reports the repair and keeps the damaged
// file.
func TestFlippedBitInAJournal(t *testing.T) {
	t.Parallel()
	b, path, data, ends := cutOff(t)
	data[ends[4]+50] ^= 4
	require.NoError(t, os.WriteFile(path, data, 0o600))
	loaded, err := b.Load(t.Context(), testRef, nil)
	require.NoError(t, err)
	require.Equal(t, 1, loaded.Recovered.Mended)
	require.Len(t, loaded.Snapshot.Resources, 12)
	s := begin(t, b)
	require.Len(t, s.Base().Resources, 12)
	require.Equal(t, 1, s.Recovered().Mended)
	require.Equal(t, string(data), read(t, s.Recovered().Aside[0]))
	require.NoError(t, s.Commit(t.Context(), nil, nil))
	require.NoFileExists(t, path)
}

// Unreadable records are never ignored. If the records after them suffice, the run continues with a warning. Otherwise
// Begin fails unless Salvage is set.
func TestDestroyedRecordsInAJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to int // destroyed records, 0-based, without the last
		missing  string
		known    int // resources in the state in the end
	}{
		{4, 5, "", 12}, // the beginning of a step; its end is readable
		{5, 6, "", 11}, // the end of a step, which becomes pending
		{4, 6, "what step 3 of the run was", 11},
		{22, 24, "what was done last", 11},
		{22, 23, "whether anything was begun", 12},
	} {
		b, path, data, ends := cutOff(t)
		damaged := bytes.Clone(data)
		copy(damaged[ends[c.from-1]:ends[c.to-1]], bytes.Repeat([]byte("x"), len(data)))
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		o := b64Options
		what := fmt.Sprint(c)
		if c.missing != "" {
			_, err := b.Load(t.Context(), testRef, nil)
			require.ErrorContains(t, err, c.missing, what)
			_, err = b.Begin(t.Context(), testRef, o)
			var half *DamagedJournalError
			require.ErrorAs(t, err, &half, what)
			require.ErrorContains(t, err, c.missing, what)
			require.ErrorContains(t, err, "yamlhost state repair", what)
			require.Equal(t, string(damaged), read(t, path), "nothing is written")
			o.Salvage = true
		}
		s, err := b.Begin(t.Context(), testRef, o)
		require.NoError(t, err, what)
		require.NotEmpty(t, s.Recovered().Gaps, what)
		require.Equal(t, c.missing == "", len(s.Recovered().Missing) == 0, what)
		require.Equal(t, string(damaged), read(t, s.Recovered().Aside[0]), what)
		require.Len(t, s.Base().Resources, c.known, what)
		require.NoError(t, s.Commit(t.Context(), nil, nil))
		_, err = b.Load(t.Context(), testRef, openB64)
		require.NoError(t, err)
		requireLoss(t, b, s.Recovered())
	}
}

// requireLoss requires that a loss stays recorded beside the state until a session forgets it.
func requireLoss(t *testing.T, b *Backend, r *Recovery) {
	t.Helper()
	loss, err := LossOf(b, testRef)
	require.NoError(t, err)
	if len(r.Missing) == 0 {
		require.Nil(t, loss)
		return
	}
	require.Equal(t, r.Missing, loss.Missing)
	require.Equal(t, r.Aside, loss.Aside)
	s := begin(t, b)
	require.NoError(t, s.ForgetLoss())
	require.NoError(t, s.Close())
	loss, err = LossOf(b, testRef)
	require.NoError(t, err)
	require.Nil(t, loss)
}

// Torn finds the sound records in a file that an earlier version set aside, except for resources that are in the state.
func TestRecordsInATornEnd(t *testing.T) {
	t.Parallel()
	b, path, data, ends := cutOff(t)
	tail := bytes.Clone(data[ends[8]:]) // the end of step 5, and the rest
	tail[30] ^= 1
	tail[31] ^= 1
	require.NoError(t, os.WriteFile(path+".7.torn", tail, 0o600))
	require.NoError(t, os.WriteFile(path, data[:ends[8]], 0o600))
	s := begin(t, b)
	require.NoError(t, s.Commit(t.Context(), nil, nil))
	loaded, err := b.Load(t.Context(), testRef, nil)
	require.NoError(t, err)
	torn, err := (Past{b, testRef}).Torn(loaded.Snapshot)
	require.NoError(t, err)
	require.Len(t, torn, 1)
	require.Equal(t, path+".7.torn", torn[0].Path)
	require.Len(t, torn[0].Made, 7)
	require.Equal(t, resource(6).ID, torn[0].Made[0].ID)
	next := *loaded.Snapshot
	next.Resources = append(next.Resources, torn[0].Made...)
	torn, err = (Past{b, testRef}).Torn(&next)
	require.NoError(t, err)
	require.Empty(t, torn)
}

// If the newest copy of a state is truncated too, the copy before it is offered.
func TestNewestSoundCopy(t *testing.T) {
	t.Parallel()
	b, dir := newBackend(t)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	for i := range 3 {
		s := begin(t, b)
		next := *s.Base()
		next.Resources = append(next.Resources[:len(next.Resources):len(next.Resources)], resource(i))
		require.NoError(t, s.Commit(t.Context(), &next, &Record{Kind: "update"}))
	}
	path := filepath.Join(dir, "stacks/p/dev.json")
	text := read(t, path)
	kept := testfile.Match(t, filepath.Join(dir, "history/p/dev/*.checkpoint.json"))
	require.Len(t, kept, 3)
	require.NoError(t, os.Remove(path+".bak"))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "backups")))
	require.NoError(t, os.Truncate(kept[2], 100))
	for cut := range len(text) {
		put(t, path, text[:cut])
		_, err := b.Load(t.Context(), testRef, nil)
		var damaged *CorruptError
		require.ErrorAs(t, err, &damaged, cut)
		if cut%50 == 0 {
			require.NotNil(t, damaged.Previous, cut)
			require.Equal(t, kept[1], damaged.Previous.Path, cut)
			_, err = b.Restore(t.Context(), testRef)
			require.NoError(t, err)
			require.Equal(t, read(t, kept[1]), read(t, path))
		}
	}
}

// In a store a loss is recorded as in a folder, and moves with a renamed stack.
func TestLossInAStore(t *testing.T) {
	t.Parallel()
	b := openMemory(t, newMemory(), 1)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	s := begin(t, b)
	lost := &Recovery{Missing: []string{"what was done last"}, Aside: []string{"x"}}
	require.NoError(t, s.tools.state.noteLoss(lost))
	require.NoError(t, s.Close())
	other := Ref{Project: testRef.Project, Stack: "other"}
	require.NoError(t, b.Rename(t.Context(), testRef, other))
	require.NoError(t, b.Rename(t.Context(), other, testRef))
	loss, err := LossOf(b, other)
	require.NoError(t, err)
	require.Nil(t, loss)
	requireLoss(t, b, lost)
}
