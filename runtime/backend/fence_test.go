package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// sky is the cloud of a test. It holds the objects that providers have created.
type sky struct{ objects []object }

func (s *sky) create(r *state.Resource) {
	r.ID = fmt.Sprintf("object-%d", len(s.objects))
	s.objects = append(s.objects, object{r.URN, r.ID})
}

// pause counts the points at which a process may be stopped. At point number at it calls meanwhile, as if the process
// were stopped during that call. It is safe for concurrent use: several objects are deleted at the same time.
type pause struct {
	mu        sync.Mutex // guards count and name
	at, count int
	name      string // of the point at which it was stopped
	meanwhile func()
}

func (p *pause) reach(name string) {
	p.mu.Lock()
	p.count++
	here := p.count == p.at && p.meanwhile != nil
	if here {
		p.name = name
	}
	p.mu.Unlock()
	if here {
		p.meanwhile()
	}
}

func (p *pause) fault(do, path string, done bool) error {
	when := "before"
	if done {
		when = "after"
	}
	p.reach(fmt.Sprintf("%s %s %s", when, do, filepath.Base(path)))
	return nil
}

const wanted = 4

// converge creates the missing resources as the engine does: it journals the beginning, calls the provider, and
// journals the end. Pending creations make it fail unless resolve is set.
func converge(b *Backend, s *sky, p *pause, resolve bool) (err error) {
	ctx := context.Background()
	session, err := b.Begin(ctx, testRef, b64Options)
	if err != nil {
		return err
	}
	base := session.Base()
	if len(base.Pending) > 0 {
		if !resolve {
			return fmt.Errorf("%d creations to resolve: %w", len(base.Pending), session.Close())
		}
		base = resolved(base, s)
		if err := session.ResolvePending(ctx, base); err != nil {
			return err
		}
	}
	known := map[urn.URN]bool{}
	for _, r := range base.Resources {
		known[r.URN] = true
	}
	last := journal.ID(len(base.Resources))
	for i := range wanted {
		r := resource(i)
		if r.ID = ""; known[r.URN] {
			continue
		}
		begin := *r
		if err = session.Append(ctx, journal.Entry{Step: int64(i + 1), Begin: &state.Operation{Resource: &begin,
			Kind: state.Creating}}); err != nil {
			break
		}
		p.reach("before the provider is called")
		s.create(r)
		p.reach("after the provider was called")
		last++
		if err = session.Defer(ctx, journal.Entry{Step: int64(i + 1),
			Add: []journal.Amended{{ID: last, Resource: r}}}); err != nil {
			break
		}
	}
	if failed := session.Commit(ctx, nil, &Record{Kind: "update", Result: "succeeded"}); failed != nil {
		return failed
	}
	return err
}

// resolved returns base without pending creations. Those whose object exists in s become resources.
func resolved(base *state.Snapshot, s *sky) *state.Snapshot {
	next := *base
	next.Pending, next.Resources = nil, slices.Clone(base.Resources)
	for _, op := range base.Pending {
		for _, o := range s.objects {
			if o.urn == op.Resource.URN && !slices.ContainsFunc(base.Resources,
				func(r *state.Resource) bool { return r.ID == o.id }) {
				made := *op.Resource
				made.ID = o.id
				next.Resources = append(next.Resources, &made)
			}
		}
	}
	return &next
}

// audit requires that the state known has each object as a resource or as a pending creation.
func (s *sky) audit(t *testing.T, known *state.Snapshot, path string) {
	t.Helper()
	for _, o := range s.objects {
		found := slices.ContainsFunc(known.Resources, func(r *state.Resource) bool { return r.ID == o.id }) ||
			slices.ContainsFunc(known.Pending, func(op state.Operation) bool { return op.Resource.URN == o.urn })
		require.True(t, found, "%s: nobody knows of %s (%s)", path, o.id, o.urn)
	}
}

// fenceWorld is a folder or a store that holds the state in one round of a test.
type fenceWorld struct {
	open   func(pid int, p *pause) *Backend // opens a backend as process pid; p may be nil
	frozen func() map[string]string         // returns all files except journals
	store  bool
	fences bool // each write to the store also checks the lease
}

func simWorld(t *testing.T) fenceWorld {
	d := newSimDisk()
	return fenceWorld{
		open: func(pid int, p *pause) *Backend {
			o := testOptions(pid)
			o.Process.Alive = func(int, string) bool { return true } // a stopped process is alive
			o.Compression = Plain
			var shared disk.Disk = d
			if p != nil {
				shared = disktest.Faulty(d, p.fault)
			}
			b, err := open("file:///state", o, shared)
			require.NoError(t, err)
			return b
		},
		frozen: func() map[string]string {
			d.mu.Lock()
			defer d.mu.Unlock()
			all := map[string]string{}
			for name, f := range d.names {
				if !f.folder && !strings.HasSuffix(name, "-journal") {
					all[name] = string(f.data)
				}
			}
			return all
		},
	}
}

// pausing is the store of one process, which may be stopped at each change and at each read of a lease that it holds.
type pausing struct {
	*memory
	p     *pause
	holds atomic.Bool
}

func (s *pausing) Get(ctx context.Context, key string) (o Object, err error) {
	if path.Base(key) != "lease.json" || !s.holds.Load() {
		return s.memory.Get(ctx, key)
	}
	err = disktest.Fault(s.p.fault).Around("look", key, func() error { o, err = s.memory.Get(ctx, key); return err })
	return o, err
}

func (s *pausing) Put(ctx context.Context, key string, data []byte, c Condition) (version string, err error) {
	err = disktest.Fault(s.p.fault).Around("put", key, func() error {
		version, err = s.memory.Put(ctx, key, data, c)
		return err
	})
	if err == nil && path.Base(key) == "lease.json" {
		s.holds.Store(bytes.Contains(data, []byte(`"holder"`)))
	}
	return version, err
}

func (s *pausing) Delete(ctx context.Context, key string) error {
	return disktest.Fault(s.p.fault).Around("delete", key, func() error { return s.memory.Delete(ctx, key) })
}

func memoryWorld(t *testing.T) fenceWorld {
	return storeWorld(t, func(s *pausing) Objects { return s })
}

func storeWorld(t *testing.T, wrap func(*pausing) Objects) fenceWorld {
	m := newMemory()
	return fenceWorld{
		store: true,
		open: func(pid int, p *pause) *Backend {
			options := func(o *Options) {
				o.Version = fmt.Sprint("test-", pid) // no two processes write the same content
				o.Process.Alive = func(int, string) bool { return true }
			}
			if p == nil {
				p = &pause{}
			}
			return openMemory(t, wrap(&pausing{memory: m, p: p}), pid, options)
		},
		frozen: func() map[string]string {
			m.mu.Lock()
			defer m.mu.Unlock()
			all := map[string]string{}
			for key, o := range m.objects {
				if !strings.Contains(key, "/journal/") {
					all[key] = string(o.Data)
				}
			}
			return all
		},
	}
}

// fencing is a pausing store that implements Fencing, as PostgreSQL does.
type fencing struct{ *pausing }

func (s fencing) Hold(_ context.Context, key string, number int64) (Held, error) {
	return &fenced{s.pausing, key, number}, nil
}

// fenced is a fencing store for the holder of a lease.
type fenced struct {
	*pausing
	lease  string
	number int64
}

// guarded calls act if the lease is held with its number, else it returns ErrFenced.
func (s *fenced) guarded(do, key string, act func() error) error {
	return disktest.Fault(s.p.fault).Around(do, key, func() error {
		o, err := s.memory.Get(context.Background(), s.lease)
		var file leaseFile
		if err == nil {
			err = json.Unmarshal(o.Data, &file)
		}
		switch {
		case err != nil:
			return err
		case file.Holder == nil || file.Generation != s.number:
			return ErrFenced
		}
		return act()
	})
}

func (s *fenced) Put(ctx context.Context, key string, data []byte, c Condition) (version string, err error) {
	if key == s.lease {
		return s.pausing.Put(ctx, key, data, c)
	}
	err = s.guarded("put", key, func() error { version, err = s.memory.Put(ctx, key, data, c); return err })
	return version, err
}

func (s *fenced) Delete(ctx context.Context, key string) error {
	return s.guarded("delete", key, func() error { return s.memory.Delete(ctx, key) })
}

func (s *fenced) Release() {}

func fencingWorld(t *testing.T) fenceWorld {
	w := storeWorld(t, func(s *pausing) Objects { return fencing{s} })
	w.fences = true
	return w
}

// A run is stopped before and after each check of its lock, each write and each call of a provider. Meanwhile it is
// cancelled, and in some rounds another run completes. When the first run continues, it writes nothing into the state
// and fails with a LockLostError. No object is lost or created twice. The same holds for a run that finds everything as
// it should be, and writes only its record.
func TestFence(t *testing.T) { // D14
	t.Parallel()
	for store, world := range map[string]func(*testing.T) fenceWorld{"folder": simWorld, "store": memoryWorld,
		"fencing store": fencingWorld} {
		write := map[bool]string{true: "write", false: "put"}[store == "folder"]
		for _, c := range []struct {
			name      string
			between   int64
			unchanged bool
			points    int      // at which the run can be stopped, at least
			lost      []string // where runs lose their lock
		}{
			{"changes", defaultLeastJournal, false, 40, []string{"look", write, "provider"}},
			{"changes, journal from 1", 1, false, 40, []string{"look", write, "provider"}},
			{"no changes", defaultLeastJournal, true, 10, []string{"look"}},
		} {
			for _, next := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/another run %v", store, c.name, next), func(t *testing.T) {
					t.Parallel()
					lost := map[string]int{}
					points := 0
					for i := 1; fenceAt(t, world(t), i, c.between, next, c.unchanged, lost); i++ {
						points++
					}
					require.Greater(t, points, c.points)
					for _, kind := range c.lost {
						require.NotZero(t, lost[kind], "runs that lost their lock at a %s", kind)
					}
				})
			}
		}
	}
}

// fenceAt stops a run at point number i. It returns false if the run has fewer points. unchanged makes it a run that has
// nothing to do.
func fenceAt(t *testing.T, w fenceWorld, i int, between int64, next, unchanged bool, lost map[string]int) bool {
	require.NoError(t, w.open(9, nil).Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	s := &sky{}
	if unchanged {
		require.NoError(t, converge(w.open(1, nil), s, &pause{}, false))
	}
	p := &pause{at: i}
	var frozen map[string]string
	calls, held := 0, false
	a := w.open(1, p)
	a.schedule.leastJournal, a.schedule.interval, a.schedule.background, a.schedule.deferral = between, time.Nanosecond, inline, never
	p.meanwhile = func() {
		b := w.open(2, nil)
		cancelled, err := b.Cancel(testRef)
		require.NoError(t, err, p.name)
		if held = len(cancelled.Locks) > 0; next {
			// Pending creations make it fail. The third run below resolves them.
			if err := converge(b, s, &pause{}, false); err != nil && !strings.Contains(err.Error(), "to resolve") {
				require.ErrorAs(t, err, new(*HeldUpError), p.name)
			}
		}
		frozen, calls = w.frozen(), len(s.objects)
	}
	err := converge(a, s, p, false)
	if p.name == "" {
		require.NoError(t, err)
		return false
	}
	if held {
		if err != nil {
			require.ErrorAs(t, err, new(*LockLostError), p.name)
			for _, kind := range []string{"look", "write", "put", "provider"} {
				if strings.Contains(p.name, kind) {
					lost[kind]++
				}
			}
		}
		if next || err != nil { // otherwise it was about to release the lock
			written := differences(frozen, w.frozen())
			if w.store && !w.fences && len(written) == 1 && (strings.HasPrefix(p.name, "after look ") ||
				strings.HasPrefix(p.name, "before ")) {
				// This write was already past the last check of the lock. After another run it cannot change the state.
				require.False(t, next && strings.HasSuffix(written[0], "/dev.json"), p.name)
				written = nil
			}
			require.Empty(t, written, "%s: written after it was cancelled; it said: %v", p.name, err)
		}
		made := 0
		link := w.store && strings.HasPrefix(p.name, "after put 000") // it took a number that a fence would have taken
		if link || p.name == "before the provider is called" || strings.HasPrefix(p.name, "after look ") {
			made = 1 // the call comes right after the last check of the lock
		}
		require.LessOrEqual(t, len(s.objects)-calls, made, "%s: begun after it was cancelled", p.name)
	}
	loaded, err := w.open(3, nil).Load(t.Context(), testRef, openB64)
	require.NoError(t, err, p.name)
	require.NoError(t, loaded.Snapshot.Verify(), p.name)
	s.audit(t, loaded.Snapshot, p.name)

	third := w.open(3, nil)
	require.NoError(t, converge(third, s, &pause{}, true), p.name)
	loaded, err = third.Load(t.Context(), testRef, openB64)
	require.NoError(t, err, p.name)
	require.Nil(t, loaded.Recovered, p.name)
	require.Empty(t, loaded.Snapshot.Pending, p.name)
	s.audit(t, loaded.Snapshot, p.name)
	require.Len(t, loaded.Snapshot.Resources, wanted, p.name)
	require.Len(t, s.objects, wanted, "%s: made twice", p.name)
	if w.store {
		chains := third.files.chainsOf(testRef)
		folders, err := chains.list()
		require.NoError(t, err, p.name)
		for _, folder := range folders {
			left, err := chains.read(folder)
			require.NoError(t, err, p.name)
			require.True(t, left.merged(), "%s: links are left in %s", p.name, folder)
		}
	}
	for name := range w.frozen() {
		require.NotContains(t, name, disk.TemporarySuffix, p.name)
		require.NotContains(t, name, "/locks/", p.name)
	}
	return true
}

// differences returns the names of the files that differ.
func differences(before, after map[string]string) []string {
	var names []string
	for name := range maps.Keys(before) {
		if now, found := after[name]; !found || now != before[name] {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(after) {
		if _, found := before[name]; !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A result of a provider that arrives after the lock was lost is reported, because the next run may not see it.
func TestLostLockTellsResults(t *testing.T) { // D14
	t.Parallel()
	w := simWorld(t)
	b := w.open(1, nil)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	s := begin(t, b)
	require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Resource: resource(1),
		Kind: state.Creating}}))
	cancelled, err := w.open(2, nil).Cancel(testRef)
	require.NoError(t, err)
	require.Len(t, cancelled.Locks, 1)
	require.Equal(t, OwnerRunning, cancelled.Locks[0].Owner)
	err = s.Append(t.Context(), journal.Entry{Step: 1, Add: []journal.Amended{{ID: 1, Resource: resource(1)}}})
	require.ErrorAs(t, err, new(*LockLostError))
	require.EqualError(t, err, `the lock on the stack "dev" was lost (its lock was removed, by cancel or by hand)`)
	require.ErrorContains(t, s.Commit(t.Context(), nil, nil), "--settle-pending '"+string(resource(1).URN)+"=id1'")
	loaded, err := b.Load(t.Context(), testRef, openB64)
	require.NoError(t, err)
	require.Equal(t, []urn.URN{resource(1).URN}, urns(loaded.Snapshot), "nobody came, so that its journal still counts")
}

// Nobody takes the lock while a stopped process is removing a file. Begin fails with a HeldUpError, which suggests what
// to do.
func TestHeldUp(t *testing.T) { // D14
	t.Parallel()
	w := simWorld(t)
	b := w.open(1, nil)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	release, free := b.files.disk.Guard(b.files.locksOf(testRef).folder())
	require.True(t, free)
	_, err := w.open(2, nil).Begin(t.Context(), testRef, b64Options)
	require.ErrorAs(t, err, new(*HeldUpError))
	require.ErrorContains(t, err, "Let it go on, or end it")
	release()
	require.NoError(t, other(w.open(2, nil), 1))
	require.Contains(t, (&HeldUpError{Ref: testRef, PID: 7}).Error(), "kill -CONT 7")
}

// A run removes only the half-written files of its own stack, not those of a stack with a longer name.
func TestSweepLeavesOtherStacks(t *testing.T) {
	t.Parallel()
	for name, mine := range map[string]bool{
		"dev.json": true, "dev.json.gz": true, "dev.json.bak": true, "dev.json.zst.bak": true, "dev.json.1700000000": true,
		"dev.json.1700000000.damaged": true, "dev.pulumi-tags": true, "dev.yamlhost-journal": true,
		"dev.yamlhost-journal.17.torn": true,
		"dev.eu.json":                  false, "dev.json.json": false, "dev-eu.json": false, "dev.json.gz.json": false,
		"prod.json":               false,
		"dev.eu.yamlhost-journal": false,
	} {
		require.Equal(t, mine, besideState(name, "dev"), name)
	}
	d := newSimDisk()
	b, err := open("file:///state", testOptions(1), d)
	require.NoError(t, err)
	require.NoError(t, b.Create(t.Context(), testRef, nil))
	half := "/state/.pulumi/stacks/p/dev.eu.json" + disk.TemporarySuffix + "X"
	d.names[half] = &simFile{}
	require.NoError(t, other(b, 1))
	require.Contains(t, d.names, half)
}

// A lock that the Pulumi CLI left in a folder is taken over if its process on this machine is gone, even if its PID was
// reused. Otherwise it is reported.
func TestStaleForeignLock(t *testing.T) { // D9
	t.Parallel()
	moment := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(*Process)
		text   string
		taken  bool
		says   string
	}{
		"gone":    {change: func(*Process) {}, taken: true},
		"running": {change: func(p *Process) { p.AliveAt = func(int, time.Time) bool { return true } }, says: "still runs"},
		"stopped": {change: func(p *Process) {
			p.AliveAt = func(int, time.Time) bool { return true }
			p.Stopped = func(int) bool { return true }
		}, says: "kill -CONT 4711"},
		"another host": {change: func(p *Process) { p.Host = "elsewhere" }, says: "u@h (pid 4711)"},
		"nobody knows": {change: func(p *Process) { p.AliveAt = nil }, says: "u@h (pid 4711)"},
		"no lock":      {change: func(*Process) {}, text: "{", says: "locked by 1 lock"},
		"no process": {change: func(*Process) {}, text: `{"pid":0,"hostname":"h","timestamp":"2026-11-20T12:00:00Z"}`,
			says: "locked by 1 lock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := testOptions(2)
			o.Process.AliveAt = func(pid int, when time.Time) bool { return pid != 4711 || !when.Equal(moment) }
			c.change(&o.Process)
			b, dir := newBackend(t)
			require.NoError(t, b.Create(t.Context(), testRef, nil))
			text := orText(c.text, `{"pid":4711,"username":"u","hostname":"h","timestamp":"2026-11-20T12:00:00Z"}`)
			put(t, filepath.Join(dir, "locks/organization/p/dev/x.json"), text)
			mine, err := Open(b.URL(), o)
			require.NoError(t, err)
			s, err := mine.Begin(t.Context(), testRef, b64Options)
			if c.taken {
				require.NoError(t, err)
				require.NoError(t, s.Close())
				require.Empty(t, filesBelow(t, filepath.Join(dir, "locks")))
				return
			}
			require.ErrorAs(t, err, new(*LockedError))
			require.ErrorContains(t, err, c.says)
		})
	}
}

func orText(text, fallback string) string {
	if text != "" {
		return text
	}
	return fallback
}

// aliveAt reports true for this process at any time since its start, and false for an unused PID.
func TestAliveAt(t *testing.T) {
	t.Parallel()
	require.True(t, aliveAt(os.Getpid(), time.Now()))
	require.False(t, stopped(os.Getpid()))
	if startOf(os.Getpid()) != "" {
		require.False(t, aliveAt(os.Getpid(), time.Now().Add(-1000*time.Hour)), "the number was used again since")
	}
	const nobody = 1 << 30
	require.False(t, aliveAt(nobody, time.Now()))
}

// The stamp of the lock file shows when it was removed, overwritten with a text of the same length, or replaced.
func TestLockFileStamp(t *testing.T) { // D14
	t.Parallel()
	text, one, err := disk.Real{}.ReadUnless("fence.go", disk.Stamp{})
	require.NoError(t, err)
	require.Equal(t, read(t, "fence.go"), string(text))
	text, again, err := disk.Real{}.ReadUnless("fence.go", one)
	require.NoError(t, err)
	require.Equal(t, one, again)
	require.Equal(t, one != disk.Stamp{}, text == nil, "only a system that cannot tell reads again")
	text, other, err := disk.Real{}.ReadUnless("lock.go", one)
	require.NoError(t, err)
	require.True(t, one != other || one == disk.Stamp{})
	require.Equal(t, read(t, "lock.go"), string(text))
	_, _, err = disk.Real{}.ReadUnless(filepath.Join(t.TempDir(), "none"), one)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = disk.Real{}.ReadUnless(t.TempDir(), one)
	require.Error(t, err, "a folder has no text")
	for name, c := range map[string]struct {
		change func(t *testing.T, path string, text []byte)
		lost   bool
	}{
		"nothing": {func(*testing.T, string, []byte) {}, false},
		"touched": {func(t *testing.T, path string, _ []byte) {
			require.NoError(t, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)))
		}, false},
		"removed": {func(t *testing.T, path string, _ []byte) { require.NoError(t, os.Remove(path)) }, true},
		"written over": {func(t *testing.T, path string, text []byte) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, []byte(strings.ToUpper(string(text))), 0o600))
			require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()), "its time is as before")
		}, true},
		"replaced": {func(t *testing.T, path string, text []byte) {
			require.NoError(t, os.WriteFile(path+".new", []byte(strings.ToUpper(string(text))), 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := newBackend(t)
			require.NoError(t, b.Create(t.Context(), testRef, nil))
			held, err := b.files.locksOf(testRef).lockFolder()
			require.NoError(t, err)
			old := time.Now().Add(-time.Hour)
			for range 3 {
				require.NoError(t, held.checkHeld())
				require.NoError(t, os.Chtimes(held.path, old, old))
			}
			c.change(t, held.path, held.text)
			err = held.checkHeld()
			if !c.lost {
				require.NoError(t, err)
				require.NoError(t, held.checkHeld())
				require.NoError(t, held.release())
				return
			}
			require.ErrorAs(t, err, new(*LockLostError))
			require.ErrorAs(t, held.checkHeld(), new(*LockLostError), "for good")
		})
	}
}
