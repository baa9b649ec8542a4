package backend

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// peekingDisk calls step before each read.
type peekingDisk struct {
	disk.Disk
	step func()
}

func (d peekingDisk) ReadFile(path string) ([]byte, error) { d.step(); return d.Disk.ReadFile(path) }

func (d peekingDisk) ReadDir(path string) ([]string, error) { d.step(); return d.Disk.ReadDir(path) }

// peekingStore calls step before each request.
type peekingStore struct {
	Objects
	step func()
}

func (s peekingStore) Get(ctx context.Context, key string) (Object, error) {
	s.step()
	return s.Objects.Get(ctx, key)
}

func (s peekingStore) List(ctx context.Context, prefix string) ([]Listed, error) {
	s.step()
	return s.Objects.List(ctx, prefix)
}

// While a reader looks at a stack, another process begins runs, takes steps, ends runs, and may die, at any moment
// between the reader's requests. The reader takes no run that lives for an interrupted one, and no interrupted one for
// one that lives.
func TestRunsUnderWayAreNotInterrupted(t *testing.T) {
	t.Parallel()
	for _, store := range []bool{false, true} {
		name := map[bool]string{false: "folder", true: "store"}[store]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { underWay(t, rt, store) })
		})
	}
}

func underWay(t *testing.T, rt *rapid.T, store bool) {
	// A reader of a store sends requests concurrently, so their steps are drawn before.
	steps := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2}), 0, 30).Draw(rt, "steps at each request")
	lives := rapid.IntRange(1, 40).Draw(rt, "lives for so many steps")
	var mu sync.Mutex // guards what follows
	dead, reading := false, false
	var gone atomic.Bool // as dead, for the reader
	var next func()
	peek := func() {
		mu.Lock()
		defer mu.Unlock()
		if reading && len(steps) > 0 {
			n := steps[0]
			steps = steps[1:]
			for range n {
				next()
			}
		}
	}
	alive := func(o *Options) {
		o.Process.Alive = func(p int, _ string) bool { return p == 2 || !gone.Load() }
	}
	var writer, reader *Backend
	if store {
		m := newMemory()
		writer, reader = openMemory(t, m, 1, alive), openMemory(t, peekingStore{m, peek}, 2, alive)
		require.NoError(rt, writer.Create(t.Context(), testRef, nil))
	} else {
		d := prepared(t)
		for pid, b := range map[int]**Backend{1: &writer, 2: &reader} {
			o := testOptions(pid)
			alive(&o)
			var err error
			*b, err = open("file:///state", o, peekingDisk{d, func() {
				if pid == 2 {
					peek()
				}
			}})
			require.NoError(rt, err)
		}
	}
	var session *Session
	ctx, run, step := t.Context(), 0, 0
	next = func() { // one step of the writer: a run creates one resource
		if dead {
			return
		}
		op := &state.Operation{Resource: resource(run), Kind: state.Creating}
		var err error
		switch step++; step {
		case 1:
			session, err = writer.Begin(ctx, testRef, b64Options)
		case 2:
			err = session.Append(ctx, journal.Entry{Step: 1, Begin: op})
		case 3:
			err = session.Append(ctx, journal.Entry{Step: 1, Add: []journal.Amended{{ID: journal.ID(run + 1), Resource: resource(run)}}})
		case 4:
			err = session.Commit(ctx, nil, nil)
		case 5:
			err = session.Close()
			run, step = run+1, 0
		}
		if err != nil {
			t.Error(err)
		}
		if lives--; lives == 0 && step > 0 {
			dead = true
			gone.Store(true)
		}
	}
	for range rapid.IntRange(0, 7).Draw(rt, "before") {
		next()
	}
	wasDead, before := dead, step+10*run
	mu.Lock()
	reading = true
	mu.Unlock()
	loaded, err := reader.Load(ctx, testRef, openB64)
	require.NoError(rt, err)
	unfinished := loaded.Recovered != nil || len(loaded.Snapshot.Pending) > 0
	switch {
	case unfinished && len(loaded.Held) == 0 && !dead:
		rt.Fatalf("a run that lives counts as interrupted: it was at %d and is at %d", before, step+10*run)
	case wasDead && len(loaded.Held) > 0:
		rt.Fatalf("a run that is gone counts as under way")
	}
	if session != nil && !dead && step > 0 {
		require.NoError(rt, session.Close())
	}
}
