package journal

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// syncedEntries returns the number of entries that were synced.
func (f *memoryFile) syncedEntries(t *testing.T) int {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := Read(f.data[:f.synced], nil)
	require.NoError(t, err)
	return len(c.Entries)
}

func (f *memoryFile) writtenEntries(t *testing.T) int {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := Read(f.data, nil)
	require.NoError(t, err)
	return len(c.Entries)
}

// A deferred record is written at once, and durable with the first later record that a caller waits for.
func TestDeferred(t *testing.T) { // D9
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &memoryFile{}
		log, err := Create(f, testHeader, LogOptions{})
		require.NoError(t, err)
		require.NoError(t, log.Defer(t.Context(), Entry{Add: []Amended{{1, res(1)}}}))
		require.NoError(t, log.Defer(t.Context(), Entry{Add: []Amended{{2, res(2)}}}))
		require.Equal(t, 2, f.writtenEntries(t), "a process that is killed loses nothing")
		require.Equal(t, 0, f.syncedEntries(t), "nobody waits for it")
		before := f.syncs
		require.NoError(t, log.Append(t.Context(), Entry{Add: []Amended{{3, res(3)}}}))
		require.Equal(t, 3, f.syncedEntries(t))
		require.Equal(t, before+1, f.syncs, "one sync serves all three")

		require.NoError(t, log.Defer(t.Context(), Entry{Add: []Amended{{4, res(4)}}}))
		time.Sleep(defaultDeferral)
		synctest.Wait()
		require.Equal(t, 4, f.syncedEntries(t), "in any case soon")

		require.NoError(t, log.Defer(t.Context(), Entry{Add: []Amended{{5, res(5)}}}))
		require.NoError(t, log.Close())
		require.Equal(t, 5, f.syncedEntries(t))
		require.Error(t, log.Defer(t.Context(), Entry{Add: []Amended{{6, res(6)}}}))
	})
}

// A record that is deferred while the disk is busy is written afterwards, although no caller waits for it.
func TestDeferredWhileBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &memoryFile{}
		log, err := Create(f, testHeader, LogOptions{Deferral: time.Hour})
		require.NoError(t, err)
		f.gate = make(chan struct{})
		done := make(chan error)
		go func() { done <- log.Append(t.Context(), Entry{Add: []Amended{{1, res(1)}}}) }()
		synctest.Wait()
		require.NoError(t, log.Defer(t.Context(), Entry{Add: []Amended{{2, res(2)}}}))
		require.Equal(t, 1, f.writtenEntries(t))
		close(f.gate)
		require.NoError(t, <-done)
		require.Equal(t, 2, f.writtenEntries(t))
		require.Equal(t, 1, f.syncedEntries(t))
		require.NoError(t, log.Close())
	})
}

// Callers of PutDeferred get one error, of a failed disk or of a failed check; a failed check leaves the log usable.
func TestDeferredAreTold(t *testing.T) {
	t.Parallel()
	lost, full := errors.New("lost"), errors.New("disk full")
	f := &memoryFile{}
	var fault error
	checks := 0
	log, err := Create(f, testHeader, LogOptions{Deferral: time.Hour, Check: func() error { checks++; return fault }})
	require.NoError(t, err)
	var told []error
	put := func(id ID, check bool) {
		record, err := Encode(Entry{Add: []Amended{{id, res(int(id))}}}, nil)
		require.NoError(t, err)
		_ = log.PutDeferred(record, check, func(err error) { told = append(told, err) })()
	}
	put(1, true)
	put(2, true)
	require.Empty(t, told)
	require.NoError(t, log.Append(t.Context(), Entry{}))
	require.Equal(t, []error{nil, nil}, told)
	require.Equal(t, 1, checks, "one for all that share a sync")
	put(3, false)
	require.NoError(t, log.Append(t.Context(), Entry{}))
	require.Equal(t, 1, checks, "nobody asked for it")
	fault, told = lost, nil
	put(4, true)
	require.ErrorIs(t, log.Append(t.Context(), Entry{}), lost)
	require.Equal(t, []error{lost}, told)
	fault, told = nil, nil
	put(5, true)
	require.NoError(t, log.Append(t.Context(), Entry{}))
	require.Equal(t, []error{nil}, told)
	f.fail, told = full, nil
	put(6, true)
	require.ErrorIs(t, log.Append(t.Context(), Entry{}), full)
	require.Len(t, told, 1)
	require.ErrorIs(t, told[0], full)
	require.ErrorIs(t, log.Close(), nil)
}

// A state file that is written while entries are added covers the entries before its snapshot, even damaged ones.
func TestCoveredInBetween(t *testing.T) { // D9
	t.Parallel()
	f := &memoryFile{}
	log, err := Create(f, testHeader, LogOptions{})
	require.NoError(t, err)
	replayer := NewReplayer(nil)
	add := func(id ID) {
		e := Entry{Add: []Amended{{id, res(int(id))}}}
		require.NoError(t, replayer.Apply(e))
		require.NoError(t, log.Append(t.Context(), e))
	}
	add(1)
	first := len(f.data)
	add(2)
	held, origin, err := replayer.Checkpoint()
	require.NoError(t, err)
	size := log.Size()
	add(3)
	mid := IdentityOf([]byte("written in between"))
	require.NoError(t, log.Covered(mid, origin, size))
	add(4)

	damaged := append([]byte(nil), f.data...)
	for i := first; i < int(size); i++ { // damage the second entry, which the file covers
		damaged[i] = 0xee
	}
	for name, data := range map[string][]byte{"sound": f.data, "damaged": damaged} {
		c, err := Read(data, nil)
		require.NoError(t, err, name)
		if name == "damaged" {
			require.Len(t, c.Entries, 3)
			require.Len(t, c.Gaps, 1)
		}
		replayer, done, err := c.Replayer(held, mid)
		require.NoError(t, err, name)
		require.False(t, done, name)
		s, err := replayer.Snapshot()
		require.NoError(t, err, name)
		require.Len(t, s.Resources, 4, name)

		text, err := c.Covering(IdentityOf([]byte("recovered"))) // without the gaps, entries have other offsets
		require.NoError(t, err)
		again, err := Read(text, nil)
		require.NoError(t, err)
		if replayer, _, err = again.Replayer(held, mid); name == "damaged" {
			require.NoError(t, err)
		}
		s, err = replayer.Snapshot()
		require.NoError(t, err, name)
		require.Len(t, s.Resources, 4, name)
	}
	c, err := Read(f.data, nil)
	require.NoError(t, err)
	all, _, err := c.Replayer(nil, testHeader.Base)
	require.NoError(t, err, "the file was not written")
	s, err := all.Snapshot()
	require.NoError(t, err)
	require.Len(t, s.Resources, 4)
	_, _, err = func() (*Replayer, bool, error) { c, _ := Read(damaged, nil); return c.Replayer(nil, testHeader.Base) }()
	require.ErrorAs(t, err, new(*DamageError), "what is damaged is in no file")
}
