package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// failing returns a backend on a disk whose calls fail by their number.
func failing(t *testing.T, d *simDisk, fails func(call int64, done bool) bool) *Backend {
	t.Helper()
	var calls atomic.Int64
	b, err := open("file:///state", testOptions(1), disktest.Faulty(d, func(_, _ string, done bool) error {
		n := calls.Load()
		if !done {
			n = calls.Add(1)
		}
		if fails(n, done) {
			return syscall.ENOSPC
		}
		return nil
	}))
	require.NoError(t, err)
	return b
}

// try works and goes on after every fault, as the engine does not: what was acknowledged counts, whatever failed
// before.
func try(b *Backend) (acknowledged []urn.URN, rescued *state.Snapshot) {
	s, err := b.Begin(context.Background(), testRef, b64Options)
	if err != nil {
		return nil, nil
	}
	for i := range 5 {
		step := int64(i + 1)
		if s.Append(context.Background(), journal.Entry{Step: step, Begin: &state.Operation{Resource: resource(i),
			Kind: state.Creating}}) != nil {
			break
		}
		if s.Append(context.Background(), journal.Entry{Step: step,
			Add: []journal.Amended{{ID: journal.ID(i + 1), Resource: resource(i)}}}) != nil {
			break
		}
		acknowledged = append(acknowledged, resource(i).URN)
	}
	if err := s.Commit(context.Background(), nil, &Record{Kind: "update", Result: "succeeded"}); err != nil {
		if text, _, err := s.Rescue(nil); err == nil {
			rescued, _ = state.DecodeExport(text, openB64)
		}
	}
	return acknowledged, rescued
}

// Whichever call of the disk fails, before it does anything or although it did it: what was acknowledged is there.
func TestEveryCallFailing(t *testing.T) {
	t.Parallel()
	total := 0
	for call := int64(1); ; call++ {
		for _, after := range []bool{false, true} {
			path := fmt.Sprintf("call %d, after it was done: %v", call, after)
			d := prepared(t)
			hit := false
			acknowledged, rescued := try(failing(t, d, func(n int64, done bool) bool {
				hit = hit || n == call && done == after
				return n == call && done == after
			}))
			checkAfterCrash(t, d.after(false), acknowledged, path)
			if rescued != nil {
				checkSnapshot(t, rescued, acknowledged, path)
			}
			if !hit && !after {
				require.Greater(t, total, 50)
				return
			}
			total++
		}
	}
}

// Every N-th call fails, for every N: what was acknowledged is there. That a journal stays that the state has outgrown
// may be, when neither could it take note of the state nor be removed; the next run puts it aside, and accuses nobody
// of having written the state meanwhile.
func TestEveryNthCallFailing(t *testing.T) {
	t.Parallel()
	for n := int64(1); n < 60; n++ {
		d := prepared(t)
		acknowledged, _ := try(failing(t, d, func(call int64, done bool) bool { return !done && call%n == 0 }))
		path := fmt.Sprintf("every %d. call", n)
		for _, power := range []bool{false, true} {
			b, err := open("file:///state", testOptions(2), d.after(power))
			require.NoError(t, err, path)
			s, err := b.Begin(t.Context(), testRef, b64Options)
			require.NoError(t, err, path)
			checkSnapshot(t, s.Base(), acknowledged, path)
			if r := s.Recovered(); r != nil {
				require.False(t, r.Foreign, "%s: a journal is taken for one that does not fit", path)
			}
			require.NoError(t, s.Close(), path)
		}
	}
}

// A journal that fails in the middle and cannot even be removed at the end is not taken for the journal of another
// state: there is no warning about another writer.
func TestJournalLeftBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails   func(do, path string) bool // once something is journaled
		foreign bool                       // nothing proves that the state came after the journal
	}{
		"the file fails": {func(do, path string) bool {
			return strings.HasSuffix(path, "-journal") && do == "remove"
		}, false},
		"no journal can be written any more": {func(do, path string) bool { return strings.Contains(path, "-journal") },
			true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := prepared(t)
			var failing atomic.Bool
			first := ""
			b, err := open("file:///state", testOptions(1), disktest.Faulty(d, func(do, path string, done bool) error {
				if first == "" && do == "create" && strings.Contains(path, "-journal") {
					first = path // the file that later has the journal's name; its handle keeps this one
				}
				if failing.Load() && !done && (path == first || c.fails(do, path)) {
					return syscall.EIO
				}
				return nil
			}))
			require.NoError(t, err)
			s, err := b.Begin(t.Context(), testRef, b64Options)
			require.NoError(t, err)
			require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Resource: resource(0),
				Kind: state.Creating}}))
			require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1,
				Add: []journal.Amended{{ID: 1, Resource: resource(0)}}}))
			failing.Store(true)
			require.ErrorIs(t, s.Commit(t.Context(), nil, nil), syscall.EIO)
			require.True(t, s.Written())

			b, err = open("file:///state", testOptions(2), d.after(false))
			require.NoError(t, err)
			s, err = b.Begin(t.Context(), testRef, b64Options)
			require.NoError(t, err)
			checkSnapshot(t, s.Base(), []urn.URN{resource(0).URN}, name)
			if r := s.Recovered(); c.foreign {
				require.True(t, r.Foreign)
				require.True(t, r.Known, "all of it is in the state")
			} else {
				require.Nil(t, r)
			}
			require.NoError(t, s.Close())
		})
	}
}

func prepared(t *testing.T) *simDisk {
	t.Helper()
	d := newSimDisk()
	b, err := open("file:///state", testOptions(1), d)
	require.NoError(t, err)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	return d
}

// Two runs at the same moment: exactly one gets the stack, and the other's error names the holder.
func TestRaces(t *testing.T) {
	t.Parallel()
	const races = 1000
	url := "file://" + t.TempDir()
	b, err := Open(url, testOptions(1))
	require.NoError(t, err)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	for i := range races {
		var group sync.WaitGroup
		start := make(chan struct{})
		winners, losers := make(chan *Session, 2), make(chan error, 2)
		for range 2 {
			o := testOptions(1)
			o.Process.Alive = func(int, string) bool { return true }
			racer, err := Open(url, o)
			require.NoError(t, err)
			group.Go(func() {
				<-start
				s, err := racer.Begin(context.Background(), testRef, BeginOptions{Command: "update", NoSync: true})
				if err != nil {
					losers <- err
					return
				}
				winners <- s
			})
		}
		close(start)
		group.Wait()
		require.Len(t, winners, 1, "race %d", i)
		var locked *LockedError
		require.True(t, errors.As(<-losers, &locked))
		require.NoError(t, (<-winners).Close())
	}
}
