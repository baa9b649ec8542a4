package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// openMemory opens a backend on a store as process pid, which considers all other processes dead.
func openMemory(t *testing.T, m Objects, pid int, change ...func(*Options)) *Backend {
	t.Helper()
	o := testOptions(pid)
	still := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	o.Now = func() time.Time { return still } // as for a paused process, in the worst case
	o.OpenObjects = func(string) (Objects, error) { return m, nil }
	for _, c := range change {
		c(&o)
	}
	b, err := Open("mem://bucket/?secret=1", o)
	require.NoError(t, err)
	b.files.objects.patience = 0
	return b
}

func TestObjectsLayout(t *testing.T) { // F6.3, F6.4, F6.9
	t.Parallel()
	m := newMemory()
	b := openMemory(t, m, 1)
	require.Equal(t, "mem://bucket/?secret=1", b.URL())
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	require.Equal(t, []string{".pulumi/meta.yaml", ".pulumi/stacks/p/dev.json", ".pulumi/stacks/p/dev.json.bak",
		".pulumi/yamlhost/p/dev/lease.json"}, m.keys())
	s := begin(t, b)
	var locks, links int
	for _, key := range m.keys() {
		switch {
		case strings.HasPrefix(key, ".pulumi/locks/organization/p/dev/") && strings.HasSuffix(key, ".json"):
			locks++
		case strings.HasPrefix(key, ".pulumi/yamlhost/p/dev/journal/000000000002/"):
			links++
		}
	}
	require.Equal(t, 1, locks)
	require.Zero(t, links, "nothing is written yet")
	require.NoError(t, s.Close())
	var acknowledged []urn.URN
	require.NoError(t, work(b, &acknowledged))
	require.NoError(t, b.files.historyOf(testRef).setTags(map[string]string{"a": "b"}))
	for _, key := range m.keys() {
		require.NotContains(t, key, "/journal/")
		require.NotContains(t, key, "/locks/")
	}
	records, err := b.History(t.Context(), testRef, 0)
	require.NoError(t, err)
	require.Len(t, records, 1)
	refs, err := b.Stacks(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []Ref{testRef}, refs)
	require.NoError(t, b.Rename(t.Context(), testRef, Ref{Project: "p", Stack: "other"}))
	require.NoError(t, b.Remove(t.Context(), Ref{Project: "p", Stack: "other"}, RemoveOptions{Force: true, Backups: true}))
	refs, err = b.Stacks(t.Context(), "p")
	require.NoError(t, err)
	require.Empty(t, refs)
}

// TestObjectsRequests counts the requests of a run that changes nothing, and of one that reads only: the time that they
// take in a distant store.
func TestObjectsRequests(t *testing.T) {
	t.Parallel()
	m := newMemory()
	b := openMemory(t, m, 1)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	var requests []string
	m.before = func(do, key string) error {
		requests = append(requests, do+" "+key)
		return nil
	}
	for range 3 {
		b = openMemory(t, m, 1)
		s := begin(t, b)
		requests = nil // the first run has copied the state into the history, the next ones find it there
		require.NoError(t, s.Commit(t.Context(), s.Base(), &Record{Kind: "update", Result: "succeeded"}))
	}
	require.Len(t, requests, 5, "the history listed, the lease read, the record written, lock and lease given back: %q", requests)
	requests = nil
	b = openMemory(t, m, 1)
	s, err := b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.Len(t, requests, 7, "meta.yaml, the state found, the lease read and taken, the lock, a look at others', the state: %q",
		requests)
	require.NoError(t, s.Close())
	requests = nil
	_, err = openMemory(t, m, 1).Load(t.Context(), testRef, openB64)
	require.NoError(t, err)
	require.Len(t, requests, 4, "meta.yaml, chains, the state found and read: %q", requests)
	requests = nil
	loss, err := LossOf(b, testRef)
	require.NoError(t, err)
	require.Nil(t, loss)
	require.Empty(t, requests, "the list that found the state has shown that there is no loss")
	_, err = LossOf(b, testRef)
	require.NoError(t, err)
	require.Len(t, requests, 1, "there may be one since")
}

// cutOff makes the store fail for good at the change after the first n, before or after it takes effect; a negative n
// means never. It returns the count of changes.
func (m *memory) cutOff(n int, after bool) (changes *int) {
	changes = new(int)
	var mu sync.Mutex
	stop := fmt.Errorf("%w: %w", ErrRefused, errCrashed)
	m.before = func(do, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if n >= 0 && *changes > n {
			return stop
		}
		if do == "put" || do == "delete" {
			if *changes++; n >= 0 && *changes > n && !after {
				return stop
			}
		}
		return nil
	}
	m.after = func(do, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if n >= 0 && *changes > n && (do == "put" || do == "delete") {
			return stop
		}
		return nil
	}
	return changes
}

func (m *memory) copy() *memory {
	next := newMemory()
	next.versions = m.versions
	maps.Copy(next.objects, m.objects)
	return next
}

func TestObjectsCrashAtEveryChange(t *testing.T) { // D9: the machine is lost, and another one continues
	t.Parallel()
	for _, leastJournal := range []int64{defaultLeastJournal, 1} {
		minutes := func(o *Options) { o.Now = testOptions(1).Now }
		prepare := func() (*memory, *Backend) {
			m := newMemory()
			b := openMemory(t, m, 1, minutes)
			b.schedule.leastJournal = leastJournal
			require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
			return m, b
		}
		m, b := prepare()
		changes := m.cutOff(-1, false)
		var all []urn.URN
		require.NoError(t, work(b, &all))
		total := *changes
		require.Greater(t, total, 20)
		for cut := range total {
			for _, after := range []bool{false, true} {
				path := fmt.Sprintf("cut at %d of %d, after=%v, journal from %d", cut, total, after, leastJournal)
				m, b := prepare()
				m.cutOff(cut, after)
				var acknowledged []urn.URN
				if err := work(b, &acknowledged); err != nil {
					require.ErrorIs(t, err, errCrashed, path)
				}
				checkObjectsAfterCrash(t, m.copy(), acknowledged, path)
			}
		}
	}
}

func checkObjectsAfterCrash(t *testing.T, m *memory, acknowledged []urn.URN, path string) {
	t.Helper()
	b := openMemory(t, m, 2)
	loaded, err := b.Load(t.Context(), testRef, openB64)
	require.NoError(t, err, path)
	checkSnapshot(t, loaded.Snapshot, acknowledged, path)
	for cut := 0; ; cut += 2 {
		again := m.copy()
		again.cutOff(cut, cut%4 == 0)
		s, err := openMemory(t, again, 2).Begin(t.Context(), testRef, b64Options)
		again = again.copy()
		if err == nil {
			checkSnapshot(t, s.Base(), acknowledged, path)
			break
		}
		require.ErrorIs(t, err, errCrashed, path)
		path := fmt.Sprintf("%s; the next at %d", path, cut)
		s, err = openMemory(t, again, 3).Begin(t.Context(), testRef, b64Options)
		require.NoError(t, err, path)
		checkSnapshot(t, s.Base(), acknowledged, path)
		if s.Recovered() != nil {
			require.False(t, s.Recovered().Foreign, path)
		}
		require.NoError(t, s.Close(), path)
		merged, err := openMemory(t, again, 4).Begin(t.Context(), testRef, b64Options)
		require.NoError(t, err, path)
		require.Nil(t, merged.Recovered(), path)
		checkSnapshot(t, merged.Base(), acknowledged, path)
		require.NoError(t, merged.Close(), path)
	}
}

// other runs an operation that creates one resource.
func other(b *Backend, name int) error {
	s, err := b.Begin(context.Background(), testRef, b64Options)
	if err != nil {
		return err
	}
	id := journal.ID(len(s.Base().Resources) + 1)
	if err := s.Append(context.Background(),
		journal.Entry{Add: []journal.Amended{{ID: id, Resource: resource(name)}}}); err != nil {
		return err
	}
	return s.Commit(context.Background(), nil, nil)
}

// A run is paused before or after each of its requests, another one takes over and completes, and the first one
// continues with a clock that stood still. None of its writes takes effect, and it gets an error.
func TestObjectsPausedRunCannotWrite(t *testing.T) { // D9
	t.Parallel()
	overtaken := 0
	defer func() { require.Greater(t, overtaken, 100) }()
	for _, leastJournal := range []int64{defaultLeastJournal, 1} {
		for _, when := range []string{"before", "after"} {
			for request := 0; ; request++ {
				path := fmt.Sprintf("paused %s request %d, journal from %d", when, request, leastJournal)
				m := newMemory()
				a := openMemory(t, m, 1)
				a.schedule.leastJournal = leastJournal
				a.schedule.interval = time.Nanosecond
				require.NoError(t, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
				paused, resume := make(chan struct{}), make(chan struct{})
				var mu sync.Mutex
				count := 0
				hold := func(string, string) error {
					mu.Lock()
					count++
					mine := count == request+1
					mu.Unlock()
					if mine {
						close(paused)
						<-resume
					}
					return nil
				}
				if m.before = hold; when == "after" {
					m.before, m.after = nil, hold
				}
				var acknowledged []urn.URN
				done := make(chan error, 1)
				go func() { done <- work(a, &acknowledged) }()
				select {
				case <-paused:
				case err := <-done:
					require.NoError(t, err)
					require.Greater(t, request, 40)
					goto next
				}
				{
					sofar := len(acknowledged)
					var lease leaseFile
					require.NoError(t, json.Unmarshal(m.look(".pulumi/yamlhost/p/dev/lease.json").Data, &lease), path)
					held := lease.Holder != nil && lease.Holder.PID == 1
					b := openMemory(t, m, 2)
					require.NoError(t, other(b, 7), path)
					before, err := b.Load(t.Context(), testRef, openB64)
					require.NoError(t, err, path)
					text := m.look(".pulumi/stacks/p/dev.json")
					close(resume)
					err = <-done
					after, failed := b.Load(t.Context(), testRef, openB64)
					require.NoError(t, failed, path)
					if held {
						require.Equal(t, urns(before.Snapshot), urns(after.Snapshot), path)
						if len(acknowledged) > sofar { // its entry was written before the other run began
							require.Subset(t, urns(before.Snapshot), acknowledged, path)
						}
						require.Equal(t, text.Version, m.look(".pulumi/stacks/p/dev.json").Version, path)
						if err == nil { // only the cleanup was left
							require.Len(t, acknowledged, 5, path)
						} else {
							require.ErrorAs(t, err, new(*LockLostError), path)
						}
						overtaken++
					} else {
						require.NoError(t, err, path)
					}
					// The next run finds everything that was acknowledged to either run.
					s, failed := openMemory(t, m, 3).Begin(t.Context(), testRef, b64Options)
					require.NoError(t, failed, path)
					require.NoError(t, s.Base().Verify(), path)
					for _, u := range append(acknowledged, resource(7).URN) {
						require.Contains(t, urns(s.Base()), u, path)
					}
					require.NoError(t, s.Close(), path)
				}
			}
		next:
		}
	}
}

func urns(s *state.Snapshot) (all []urn.URN) {
	for _, r := range s.Resources {
		all = append(all, r.URN)
	}
	return all
}

func TestObjectsLocks(t *testing.T) { // F6.9
	t.Parallel()
	m := newMemory()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	clock := start
	m.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); clock = clock.Add(d) }
	elsewhere := func(o *Options) { o.Process.Machine, o.Process.Host = "another", "far" }
	a, b := openMemory(t, m, 1), openMemory(t, m, 2, elsewhere)
	require.NoError(t, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))

	s, err := a.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	var locked *LockedError
	_, err = b.Begin(t.Context(), testRef, b64Options)
	require.ErrorAs(t, err, &locked)
	require.Equal(t, start.Add(20*time.Second), locked.Locks[0].Until)
	require.Contains(t, err.Error(), "u@h (pid 1)")
	require.Contains(t, err.Error(), "runs out at")
	found, err := b.Locks(testRef)
	require.NoError(t, err)
	require.Len(t, found, 1)

	pass(21 * time.Second) // the lease was not renewed
	taken := begin(t, b)
	err = s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 1, Resource: resource(1)}}})
	var lost *LockLostError
	require.ErrorAs(t, err, &lost)
	require.Contains(t, err.Error(), "u@far holds it now")
	require.ErrorAs(t, s.Commit(t.Context(), nil, nil), &lost)
	found, err = a.Locks(testRef)
	require.NoError(t, err)
	require.Len(t, found, 1, "the lock of the one who lost is gone, that of the other is not")

	// Cancel takes the lock from any holder.
	removed, err := a.Cancel(testRef)
	require.NoError(t, err)
	require.Len(t, removed.Locks, 1)
	require.ErrorAs(t, taken.tools.held.(*storeLock).lease.renew(), &lost, "the next beat tells")
	require.ErrorAs(t, taken.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 1, Resource: resource(1)}}}),
		&lost)
	require.ErrorAs(t, taken.Commit(t.Context(), nil, nil), &lost)
	require.NoError(t, other(a, 1))

	// A lock file of the Pulumi CLI has no lease and still counts.
	_, err = m.Put(t.Context(), ".pulumi/locks/organization/p/dev/stock.json",
		[]byte(`{"pid":5,"username":"x","hostname":"y","timestamp":"2026-11-20T12:00:00Z"}`), Condition{})
	require.NoError(t, err)
	_, err = a.Begin(t.Context(), testRef, b64Options)
	require.ErrorAs(t, err, &locked)
	require.Contains(t, err.Error(), "x@y (pid 5)")
	_, err = b.Cancel(testRef)
	require.NoError(t, err)
	require.NoError(t, other(b, 2))

	// `pulumi cancel` removes only lock files. The run notices that at its next renewal.
	s, err = a.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	for _, key := range m.keys() {
		if strings.Contains(key, "/locks/") {
			require.NoError(t, m.Delete(t.Context(), key))
		}
	}
	require.ErrorAs(t, s.tools.held.(*storeLock).lease.renew(), &lost)
	require.Contains(t, s.Append(t.Context(),
		journal.Entry{Add: []journal.Amended{{ID: 9, Resource: resource(9)}}}).Error(), "removed by cancel")
	_ = s.Close()
}

// A lock file that the Pulumi CLI writes while the lease is being taken wins: Begin fails and releases everything.
func TestObjectsStockHostComesBetween(t *testing.T) { // F6.9
	t.Parallel()
	m := newMemory()
	a := openMemory(t, m, 1)
	require.NoError(t, a.Create(t.Context(), testRef, nil))
	m.after = func(do, key string) error {
		if do == "put" && strings.HasSuffix(key, "lease.json") {
			m.mu.Lock()
			m.objects[".pulumi/locks/organization/p/dev/stock.json"] = Object{Data: []byte(`{"pid":5}`), Version: "x"}
			m.mu.Unlock()
		}
		return nil
	}
	_, err := a.Begin(t.Context(), testRef, b64Options)
	require.ErrorAs(t, err, new(*LockedError))
	m.after = nil
	require.NoError(t, m.Delete(t.Context(), ".pulumi/locks/organization/p/dev/stock.json"))
	for _, key := range m.keys() {
		require.NotContains(t, key, "/locks/")
	}
	require.NoError(t, other(a, 1))
}

// A store that ignores conditions cannot keep two runs apart, and is rejected before a state is written.
func TestObjectsCarelessStore(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.careless = true
	err := openMemory(t, m, 1).Create(t.Context(), testRef, nil)
	require.ErrorAs(t, err, new(*UnfitStoreError))
	require.Contains(t, err.Error(), "mem://bucket")
	_, err = m.Get(t.Context(), ".pulumi/stacks/p/dev.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A store is tested once for each stack and URL: one that a stack was moved to may be careless.
func TestObjectsAreTestedOnce(t *testing.T) {
	t.Parallel()
	m := newMemory()
	require.NoError(t, openMemory(t, m, 1).Create(t.Context(), testRef, nil))
	m.careless = true
	begin := func(url string) error {
		b := openMemory(t, m, 2)
		b.files.url = url
		s, err := b.Begin(t.Context(), testRef, b64Options)
		if err == nil {
			err = s.Close()
		}
		return err
	}
	require.NoError(t, begin(openMemory(t, m, 2).URL()), "not tested again")
	for range 2 {
		require.ErrorAs(t, begin("mem://elsewhere"), new(*UnfitStoreError))
	}
}

// Of two runs that begin at the same time exactly one succeeds.
func TestObjectsRaces(t *testing.T) {
	t.Parallel()
	const races = 200
	m := newMemory()
	elsewhere := func(o *Options) { o.Process.Machine = "another" }
	a, b := openMemory(t, m, 1), openMemory(t, m, 2, elsewhere)
	require.NoError(t, a.Create(t.Context(), testRef, nil))
	for range races {
		var won [2]*Session
		var faults [2]error
		var group sync.WaitGroup
		for i, b := range []*Backend{a, b} {
			group.Go(func() { won[i], faults[i] = b.Begin(context.Background(), testRef, b64Options) })
		}
		group.Wait()
		winner := 0
		if won[0] == nil {
			winner = 1
		}
		require.NotNil(t, won[winner], faults)
		require.ErrorAs(t, faults[1-winner], new(*LockedError))
		require.NoError(t, won[winner].Close())
	}
}

// A write whose reply is lost does no harm.
func TestObjectsLostReplies(t *testing.T) {
	t.Parallel()
	m := newMemory()
	a := openMemory(t, m, 1)
	a.files.objects.patience = time.Second
	var mu sync.Mutex
	n := 0
	m.after = func(do, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; do == "put" && n%3 == 0 {
			return errors.New("the line is dead")
		}
		return nil
	}
	require.NoError(t, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	require.NoError(t, other(a, 1))
	loaded, err := a.Load(t.Context(), testRef, openB64)
	require.NoError(t, err)
	require.Len(t, loaded.Snapshot.Resources, 1)
	require.Nil(t, loaded.Recovered)
}

// If another writer ignores the lock and changes the state during a run, the change stays and Commit fails.
func TestObjectsForeignWrite(t *testing.T) {
	t.Parallel()
	m := newMemory()
	a := openMemory(t, m, 1)
	require.NoError(t, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	s, err := a.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 1, Resource: resource(1)}}}))
	file := m.objects[".pulumi/stacks/p/dev.json"]
	_, err = m.Put(t.Context(), ".pulumi/stacks/p/dev.json", append(file.Data, '\n'), Condition{})
	require.NoError(t, err)
	err = s.Commit(t.Context(), nil, nil)
	var fault *FileError
	require.ErrorAs(t, err, &fault)
	require.ErrorIs(t, err, ErrChanged)
	s, err = a.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.True(t, s.Recovered().Foreign)
	require.Len(t, s.Recovered().Aside, 1)
	require.NoError(t, s.Close())
	s, err = a.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.Nil(t, s.Recovered())
	require.NoError(t, s.Close())
}

// Begin needs about as many requests after many crashed runs as after a few, and old fences are removed.
func TestObjectsManyCrashes(t *testing.T) {
	t.Parallel()
	m := newMemory()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return start }
	require.NoError(t, openMemory(t, m, 1).Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	var requests atomic.Int32 // several objects are deleted at the same time
	m.before = func(string, string) error { requests.Add(1); return nil }
	costs := map[int]int{}
	for crash := 1; crash <= 30; crash++ {
		requests.Store(0)
		s := begin(t, openMemory(t, m, crash+1))
		costs[crash] = int(requests.Load())
		require.Len(t, s.Base().Resources, crash-1)
		require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 100, Resource: resource(crash)}}}))
		s.tools.held.(*storeLock).lease.renewer.halt() // it crashes here
	}
	require.Less(t, costs[30], costs[5]+10, costs)
	loaded, err := openMemory(t, m, 99).Load(t.Context(), testRef, openB64)
	require.NoError(t, err)
	require.Len(t, loaded.Snapshot.Resources, 30)
	fences := func() (n int) {
		for _, key := range m.keys() {
			if strings.Contains(key, "/journal/") {
				n++
			}
		}
		return n
	}
	require.NoError(t, begin(t, openMemory(t, m, 49)).Close()) // removes what is left of the last journal
	before := fences()
	later := func(o *Options) { o.Now = func() time.Time { return start.Add(31 * 24 * time.Hour) } }
	round := func() {
		for range 40 {
			s := begin(t, openMemory(t, m, 50, later))
			require.NoError(t, s.Close())
		}
	}
	round()
	require.Equal(t, before, fences(), "a clock that is ahead removes no fence: a run may still be at work")
	m.now = func() time.Time { return start.Add(31 * 24 * time.Hour) }
	round()
	require.Less(t, fences(), before/2)
}

// Begin waits for the lease of an overdue holder to expire, until its context ends.
func TestObjectsWaiting(t *testing.T) {
	t.Parallel()
	m := newMemory()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return start }
	a := openMemory(t, m, 1)
	require.NoError(t, a.Create(t.Context(), testRef, nil))
	s, err := a.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	m.now = func() time.Time { return start.Add(15 * time.Second) }
	ctx, stop := context.WithCancel(t.Context())
	var notes []string
	b := openMemory(t, m, 2, func(o *Options) {
		o.Process.Machine = "another"
		o.Note = func(text string) { notes = append(notes, text); stop() }
	})
	_, err = b.Begin(ctx, testRef, b64Options)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"waiting for the lease of u@h, which seems to have ended, to run out (6s)"}, notes)
	require.NoError(t, s.Close())
}

// Concurrent edits of tags are all kept, in a folder and in a store.
func TestEditTagsTogether(t *testing.T) { // F6.13
	t.Parallel()
	m := newMemory()
	folder, _ := newBackend(t)
	for name, b := range map[string]*Backend{"store": openMemory(t, m, 1), "folder": folder} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, b.Create(t.Context(), testRef, nil))
			var group sync.WaitGroup
			faults := make([]error, 20)
			for i := range faults {
				group.Go(func() {
					faults[i] = b.EditTags(testRef, func(tags map[string]string) error { tags[fmt.Sprint("t", i)] = "v"; return nil })
				})
			}
			group.Wait()
			for _, err := range faults {
				require.NoError(t, err)
			}
			tags, err := b.Tags(testRef)
			require.NoError(t, err)
			require.Len(t, tags, 20)
			require.NoError(t, b.EditTags(testRef, func(tags map[string]string) error { clear(tags); return nil }))
			tags, err = b.Tags(testRef)
			require.NoError(t, err)
			require.Empty(t, tags)
			wrong := errors.New("wrong")
			require.ErrorIs(t, b.EditTags(testRef, func(map[string]string) error { return wrong }), wrong)
		})
	}
}

// silentObjects is a store that does not answer.
type silentObjects struct{ Objects }

func (silentObjects) Get(ctx context.Context, _ string) (Object, error) {
	<-ctx.Done()
	return Object{}, ctx.Err()
}

// Open waits for a store that does not answer until the context of Options.Opening ends. Later requests do not use that
// context.
func TestOpeningEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	opening := func(o *Options) {
		o.Opening = func(context.Context) (context.Context, func()) { return ctx, func() {} }
	}
	m := newMemory()
	b := openMemory(t, m, 1, opening)
	cancel()
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	o := testOptions(1)
	opening(&o)
	o.OpenObjects = func(string) (Objects, error) { return silentObjects{m}, nil }
	_, err := Open("mem://bucket", o)
	require.ErrorIs(t, err, context.Canceled)
}
