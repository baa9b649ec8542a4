package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/backend/disk"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

var errCrashed = errors.New("the machine is off")

// simDisk is a file system in memory that can drop what would be lost when the process or the machine stops. Content is
// durable once its file was synced, a name once its folder was.
type simDisk struct {
	mu      sync.Mutex
	names   map[string]*simFile // includes folders
	durable map[string]*simFile
	budget  int // changes until everything stops; negative for never
	changes int
	clock   int64
	guarded map[string]bool // folders with a guard
}

type simFile struct {
	folder  bool
	data    []byte
	durable []byte
	at      time.Time
}

func newSimDisk() *simDisk {
	root := &simFile{folder: true}
	drive, state := filepath.FromSlash("/"), filepath.FromSlash("/state")
	return &simDisk{names: map[string]*simFile{drive: root, state: root},
		durable: map[string]*simFile{drive: root, state: root}, budget: -1}
}

// change counts a change before it is made. It fails once the budget is used up.
func (d *simDisk) change() error {
	if d.budget == 0 {
		return errCrashed
	}
	d.budget--
	d.changes++
	d.clock++
	return nil
}

func pathError(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

func (d *simDisk) ReadFile(path string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[path]
	if f == nil || f.folder {
		return nil, pathError("open", path, fs.ErrNotExist)
	}
	return slices.Clone(f.data), nil
}

func (d *simDisk) Open(path string) (io.ReadSeekCloser, error) {
	data, err := d.ReadFile(path)
	return inMemory{bytes.NewReader(data)}, err
}

func (d *simDisk) ReadDir(path string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[path] == nil {
		return nil, pathError("open", path, fs.ErrNotExist)
	}
	var names []string
	for name, f := range d.names {
		if filepath.Dir(name) == path && name != path {
			base := filepath.Base(name)
			if f.folder {
				base += "/"
			}
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (d *simDisk) ModTime(path string) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.names[path]; f != nil {
		return f.at, nil
	}
	return time.Time{}, pathError("stat", path, fs.ErrNotExist)
}

func (d *simDisk) ReadUnless(path string, seen disk.Stamp) (text []byte, now disk.Stamp, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[path]
	if f == nil {
		return nil, now, pathError("open", path, fs.ErrNotExist)
	}
	now = disk.Stamp{Size: int64(len(f.data)), Modified: f.at.UnixNano(), Changed: f.at.UnixNano()}
	if now == seen {
		return nil, now, nil
	}
	return bytes.Clone(f.data), now, nil
}

func (d *simDisk) Mkdir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.names[path] != nil:
		return pathError("mkdir", path, fs.ErrExist)
	case d.names[filepath.Dir(path)] == nil:
		return pathError("mkdir", path, fs.ErrNotExist)
	}
	if err := d.change(); err != nil {
		return err
	}
	d.names[path] = &simFile{folder: true}
	return nil
}

func (d *simDisk) Create(path string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[filepath.Dir(path)] == nil {
		return nil, pathError("open", path, fs.ErrNotExist)
	}
	if err := d.change(); err != nil {
		return nil, err
	}
	f := &simFile{at: time.Unix(d.clock, 0)}
	d.names[path] = f
	return &simHandle{d, f}, nil
}

func (d *simDisk) Append(path string) (journal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.names[path]; f != nil && !f.folder {
		return &simHandle{d, f}, nil
	}
	return nil, pathError("open", path, fs.ErrNotExist)
}

// changing begins a change of a file that must exist. The caller holds mu.
func (d *simDisk) changing(what, path string) error {
	if d.names[path] == nil {
		return pathError(what, path, fs.ErrNotExist)
	}
	return d.change()
}

func (d *simDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.changing("rename", from); err != nil {
		return err
	}
	if d.names[to] == d.names[from] { // two names of one file: as in rename(2), both stay
		return nil
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	return nil
}

func (d *simDisk) Link(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.changing("link", from); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	return nil
}

func (d *simDisk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.changing("remove", path); err != nil {
		return err
	}
	delete(d.names, path)
	return nil
}

func (d *simDisk) SyncDir(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.change(); err != nil {
		return err
	}
	for name := range d.durable {
		if filepath.Dir(name) == path && name != path && d.names[name] == nil {
			delete(d.durable, name)
		}
	}
	for name, f := range d.names {
		if filepath.Dir(name) == path {
			d.durable[name] = f
		}
	}
	return nil
}

func (d *simDisk) Guard(folder string) (release func(), free bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.guarded[folder] {
		return func() {}, false
	}
	if d.guarded == nil {
		d.guarded = map[string]bool{}
	}
	d.guarded[folder] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.guarded, folder)
	}, true
}

func (d *simDisk) Guarding(string) int { return 0 }

type simHandle struct {
	d *simDisk
	f *simFile
}

func (h *simHandle) Write(p []byte) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.change(); err != nil {
		return 0, err
	}
	h.f.data = append(h.f.data, p...)
	h.f.at = time.Unix(h.d.clock, 0)
	return len(p), nil
}

func (h *simHandle) Sync() error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if err := h.d.change(); err != nil {
		return err
	}
	h.f.durable = slices.Clone(h.f.data)
	return nil
}

func (h *simHandle) Close() error { return nil }

// after returns the disk as the next process finds it. A killed process leaves everything it wrote. A machine without
// power leaves only durable data and half of the later writes.
func (d *simDisk) after(power bool) *simDisk {
	next := &simDisk{names: map[string]*simFile{}, budget: -1, clock: d.clock + 1}
	source := d.names
	if power {
		source = d.durable
	}
	for name, f := range source {
		left := &simFile{folder: f.folder, data: slices.Clone(f.data), at: f.at}
		if power && !f.folder {
			left.data = slices.Clone(f.durable)
			if strings.HasPrefix(string(f.data), string(f.durable)) {
				unsynced := f.data[len(f.durable):]
				left.data = append(left.data, unsynced[:len(unsynced)/2]...)
			}
		}
		left.durable = slices.Clone(left.data)
		next.names[name] = left
	}
	next.durable = map[string]*simFile{}
	maps.Copy(next.durable, next.names)
	return next
}

var testRef = Ref{Project: "p", Stack: "dev"}

func testOptions(pid int) Options {
	clock := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	return Options{Version: "test", Process: Process{PID: pid, User: "u", Host: "h", Machine: "m",
		Alive: func(p int, _ string) bool { return p == pid }},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			clock = clock.Add(time.Minute)
			return clock
		}}
}

func resource(i int) *state.Resource {
	return &state.Resource{URN: urn.New("dev", "p", "", "pkg:index:Res", fmt.Sprint("r", i)), Type: "pkg:index:Res",
		Custom: true,
		ID:     fmt.Sprint("id", i), Inputs: value.MapOf(value.Entry{Key: "password",
			Value: value.String("hidden").Secret()}),
		Outputs: value.EmptyMap()}
}

func openB64(state.SecretsProvider) (secrets.Manager, error) { return secrets.B64{}, nil }

var b64Options = BeginOptions{Command: "update", Secrets: secrets.B64{}, Open: openB64}

// inline runs background work at once, so that all changes have a fixed order.
func inline(f func()) { f() }

// never is a deferral that does not end during a test. It keeps deferred entries from being synced in the background,
// so that syncs have a fixed order too.
const never = time.Hour

// work is the run that the tests crash. It creates five resources and adds each to acknowledged once Append has
// confirmed its end.
func work(b *Backend, acknowledged *[]urn.URN) error {
	_, err := creating(b, func(s *Session, begin, end journal.Entry) error {
		if err := s.Append(context.Background(), begin); err != nil {
			return err
		}
		if err := s.Append(context.Background(), end); err != nil {
			return err
		}
		*acknowledged = append(*acknowledged, end.Add[0].Resource.URN)
		return nil
	})
	return err
}

// deferring is work with deferred ends, as in the engine. An entry is in written once it is deferred: a killed process
// does not lose it. It is in acknowledged once a later beginning is confirmed.
func deferring(b *Backend, acknowledged, written *[]urn.URN) error {
	s, err := creating(b, func(s *Session, begin, end journal.Entry) error {
		if err := s.Append(context.Background(), begin); err != nil {
			return err
		}
		*acknowledged = append([]urn.URN(nil), *written...)
		if err := s.Defer(context.Background(), end); err != nil {
			return err
		}
		*written = append(*written, end.Add[0].Resource.URN)
		return nil
	})
	if s != nil && s.Written() {
		*acknowledged = *written
	}
	return err
}

// creating runs an operation that creates five resources and journals each with record.
func creating(b *Backend, record func(s *Session, begin, end journal.Entry) error) (*Session, error) {
	s, err := b.Begin(context.Background(), testRef, b64Options)
	if err != nil {
		return nil, err
	}
	last := journal.ID(len(s.Base().Resources))
	for i := range 5 {
		step := int64(i + 1)
		begin := journal.Entry{Step: step, Begin: &state.Operation{Resource: resource(i), Kind: state.Creating}}
		end := journal.Entry{Step: step, Add: []journal.Amended{{ID: last + journal.ID(i+1), Resource: resource(i)}}}
		if err := record(s, begin, end); err != nil {
			return nil, err
		}
	}
	return s, s.Commit(context.Background(), nil, &Record{Kind: "update", Result: "succeeded"})
}

// A deferred end of a step survives a killed process at once. It survives a power failure once a later beginning in the
// journal is confirmed.
func TestCrashAtEveryChangeDeferred(t *testing.T) { // D9
	t.Parallel()
	for _, leastJournal := range []int64{defaultLeastJournal, 1} {
		run := func(cut int) (d *simDisk, acknowledged, written []urn.URN, err error) {
			d = newSimDisk()
			b, err := open("file:///state", testOptions(1), d)
			require.NoError(t, err)
			b.schedule.leastJournal, b.schedule.background, b.schedule.deferral = leastJournal, inline, never
			require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
			before := d.changes
			d.budget = cut
			err = deferring(b, &acknowledged, &written)
			d.changes -= before
			return d, acknowledged, written, err
		}
		d, acknowledged, _, err := run(-1)
		require.NoError(t, err)
		require.Len(t, acknowledged, 5)
		total := d.changes
		syncs := 0
		for cut := range total {
			d, acknowledged, written, err := run(cut)
			require.ErrorIs(t, err, errCrashed)
			if len(written) > len(acknowledged) {
				syncs++
			}
			path := fmt.Sprintf("cut at %d of %d", cut, total)
			checkAfterCrash(t, d.after(false), written, path)
			checkAfterCrash(t, d.after(true), acknowledged, path+", power")
		}
		require.NotZero(t, syncs, "the machine stops between the end of a step and its sync")
	}
}

func TestCrashAtEveryChange(t *testing.T) { // D9
	t.Parallel()
	plainTotal, betweenTotal := crashEverywhere(t, defaultLeastJournal), crashEverywhere(t, 1)
	require.Greater(t, betweenTotal, plainTotal+5, "the state file is written in between")
}

// crashEverywhere stops a run after each of its changes in turn, and returns their number.
func crashEverywhere(t *testing.T, leastJournal int64) int {
	prepare := func() (*simDisk, *Backend) {
		d := newSimDisk()
		b, err := open("file:///state", testOptions(1), d)
		require.NoError(t, err)
		b.schedule.leastJournal, b.schedule.background, b.schedule.deferral = leastJournal, inline, never
		require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
		return d, b
	}
	d, b := prepare()
	before := d.changes
	var all []urn.URN
	require.NoError(t, work(b, &all))
	total := d.changes - before
	require.Greater(t, total, 20)
	for cut := range total {
		for _, power := range []bool{false, true} {
			d, b := prepare()
			d.budget = cut
			var acknowledged []urn.URN
			require.ErrorIs(t, work(b, &acknowledged), errCrashed)
			checkAfterCrash(t, d.after(power), acknowledged, fmt.Sprintf("cut at %d of %d, power=%v", cut, total, power))
		}
	}
	return total
}

// checkAfterCrash requires that a reader without the lock and the next session see everything acknowledged, even if a
// session in between is stopped after some of its changes.
func checkAfterCrash(t *testing.T, d *simDisk, acknowledged []urn.URN, path string) {
	t.Helper()
	b, err := open("file:///state", testOptions(2), d)
	require.NoError(t, err, path)
	loaded, err := b.Load(t.Context(), testRef, openB64)
	require.NoError(t, err, path)
	checkSnapshot(t, loaded.Snapshot, acknowledged, path)

	for cut := 0; ; cut += 3 {
		again := d.after(false)
		again.budget = cut
		b, err := open("file:///state", testOptions(2), again)
		require.NoError(t, err, path)
		s, err := b.Begin(t.Context(), testRef, b64Options)
		if err == nil {
			checkSnapshot(t, s.Base(), acknowledged, path)
			break
		}
		require.ErrorIs(t, err, errCrashed, path)
		third, err := open("file:///state", testOptions(3), again.after(true))
		require.NoError(t, err, path)
		s, err = third.Begin(t.Context(), testRef, b64Options)
		require.NoError(t, err, path)
		checkSnapshot(t, s.Base(), acknowledged, path)
		if s.Recovered() != nil {
			require.False(t, s.Recovered().Foreign, path)
		}
		require.NoError(t, s.Close(), path)
	}
}

func checkSnapshot(t *testing.T, s *state.Snapshot, acknowledged []urn.URN, path string) {
	t.Helper()
	require.NoError(t, s.Verify(), path)
	var got []urn.URN
	for _, r := range s.Resources {
		got = append(got, r.URN)
		password, _ := r.Inputs.Lookup("password")
		require.True(t, value.Equal(value.String("hidden").Secret(), password), path)
	}
	require.GreaterOrEqual(t, len(got), len(acknowledged), path)
	require.Equal(t, append([]urn.URN{}, acknowledged...), append([]urn.URN{}, got[:len(acknowledged)]...), path)
	require.LessOrEqual(t, len(got), len(acknowledged)+1, path)
}

// The local copy of a hosted state survives a power failure. The journal of an operation that the service does not know
// of is replayed onto it.
func TestCopyOfHostedStateIsDurable(t *testing.T) {
	t.Parallel()
	d := newSimDisk()
	b, err := open("file:///state", testOptions(1), d)
	require.NoError(t, err)
	copied := b.files.stateOf(testRef)
	require.NoError(t, copied.copyDown([]byte(`{"version":3,"deployment":{"manifest":{},"resources":[]}}`)))
	b, err = open("file:///state", testOptions(1), d.after(true))
	require.NoError(t, err)
	found, err := b.files.stateOf(testRef).exists()
	require.NoError(t, err)
	require.True(t, found)
}
