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

// failing returns a backend on a disk whose calls fail. fails decides by the number of the call, from 1.
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

// try runs work, but commits even after a failed Append. It returns the acknowledged resources, and the rescued state
// if Commit fails.
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

// If one call of the disk fails, before or after it takes effect, nothing acknowledged is lost.
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

// If every n-th call of the disk fails, nothing acknowledged is lost. A journal that the state already contains may
// stay if the disk refuses both to mark and to remove it. The next run sets it aside without blaming another writer.
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

// A journal that fails during a run and cannot be removed at its end is not mistaken for the journal of another state,
// unless the new state could not be noted in any journal.
func TestJournalLeftBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails   func(do, path string) bool // after the first two entries
		foreign bool                       // nothing proves that the journal led to the state
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
					first = path // later renamed to the journal; its handle keeps this name
				}
				if failing.Load() && !done && (path == first || c.fails(do, path)) {
					return syscall.EIO
				}
				return nil
			}))
			require.NoError(t, err)
			s := begin(t, b)
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

// Of two runs that begin at the same time exactly one gets the stack. The other one gets a LockedError.
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
