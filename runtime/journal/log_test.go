package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// memoryFile records what was written and how much of it was synced.
type memoryFile struct {
	mu     sync.Mutex
	data   []byte
	synced int
	syncs  int
	fail   error
	gate   chan struct{} // Sync waits for it; may be nil
}

func (f *memoryFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return 0, f.fail
	}
	f.data = append(f.data, p...)
	return len(p), nil
}

func (f *memoryFile) Sync() error {
	if f.gate != nil {
		<-f.gate
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced, f.syncs = len(f.data), f.syncs+1
	return f.fail
}

func (f *memoryFile) Close() error { return nil }

var testHeader = Header{Stack: "organization/p/dev", Base: IdentityOf([]byte("base")), PID: 7, Host: "h",
	Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Command: "update"}

func someEntries() []Entry {
	secret := res(1)
	secret.Inputs = value.MapOf(value.Entry{Key: "password", Value: value.String("hidden text").Secret()})
	return []Entry{
		{Step: 1, Begin: &state.Operation{Resource: secret, Kind: state.Creating}},
		{Step: 1, Add: []Amended{{1, secret}}},
		{Step: 2, Begin: &state.Operation{Resource: res(2, 1), Kind: state.Creating}},
		{Amend: []Amended{{1, secret}}},
		{Step: 2, Add: []Amended{{2, res(2, 1)}}, Retried: `urn:pulumi:s::p::t:m:R::"name"`},
		{Step: 3, Begin: &state.Operation{Resource: secret, Kind: state.Deleting}},
		{Remove: []ID{2}},
	}
}

func TestLogRoundTrip(t *testing.T) {
	t.Parallel()
	f := &memoryFile{}
	m := secrets.NewLazy("", secrets.Options{Passphrase: func(secrets.Purpose) (string, error) { return "p", nil }})
	log, err := Create(f, testHeader, LogOptions{Secrets: m})
	require.NoError(t, err)
	require.Equal(t, len(f.data), f.synced)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Append ignores a cancelled context, because the entry has happened already
	for _, e := range someEntries() {
		require.NoError(t, log.Append(ctx, e))
		require.Equal(t, len(f.data), f.synced, "durable once Append returns")
	}
	require.EqualValues(t, len(f.data), log.Size())
	require.NoError(t, log.Close())
	require.ErrorContains(t, log.Append(ctx, Entry{}), "closed")
	require.NotContains(t, string(f.data), "hidden text", "D9: secrets are never at rest in plain text")

	c, err := Read(f.data, m)
	require.NoError(t, err)
	require.Equal(t, testHeader, c.Header)
	require.Equal(t, someEntries(), c.Entries)
	require.Equal(t, &state.SecretsProvider{Type: "passphrase", State: m.State()}, c.Secrets, "came to be in the middle")
	require.Zero(t, c.Torn)

	blind, err := Read(f.data, nil)
	require.NoError(t, err)
	replayer, done, err := blind.Replayer(nil, IdentityOf([]byte("base")))
	require.NoError(t, err)
	require.False(t, done)
	s, err := replayer.Snapshot()
	require.NoError(t, err)
	text, err := state.Encode(s, nil)
	require.NoError(t, err, "recovered without a passphrase")
	require.Contains(t, string(text), `"ciphertext":"v1:`)
	require.Equal(t, state.Deleting, replayer.InFlight()[0].Kind)
}

func TestTornTail(t *testing.T) {
	t.Parallel()
	f := &memoryFile{}
	log, err := Create(f, testHeader, LogOptions{Secrets: secrets.B64{}})
	require.NoError(t, err)
	ends := []int{len(f.data)}
	for _, e := range someEntries() {
		require.NoError(t, log.Append(t.Context(), e))
		ends = append(ends, len(f.data))
	}
	for cut := range len(f.data) + 1 {
		c, err := Read(f.data[:cut], nil)
		require.NoError(t, err)
		if cut < ends[0] { // a journal without its header is damaged
			_, _, err := c.Replayer(nil, testHeader.Base)
			require.ErrorAs(t, err, new(*DamageError), cut)
			continue
		}
		whole, entries := 0, 0
		for i, end := range ends {
			if end <= cut {
				whole, entries = end, i
			}
		}
		require.Equal(t, whole, c.Whole, cut)
		require.Equal(t, cut-whole, c.Torn, cut)
		require.Len(t, c.Entries, entries, cut)
	}
	zeros := append(bytes.Clone(f.data), make([]byte, 4096)...) // some file systems leave zeros after a crash
	c, err := Read(zeros, nil)
	require.NoError(t, err)
	require.Equal(t, 4096, c.Torn)

	_, err = Read([]byte("{\"version\":3}"), nil)
	require.ErrorIs(t, err, ErrNotAJournal)
	_, err = Read([]byte(signature[:7]+"\x02"), nil)
	require.ErrorIs(t, err, ErrNewerFormat)
}

func TestSharedSync(t *testing.T) {
	t.Parallel()
	f := &memoryFile{}
	log, err := Create(f, testHeader, LogOptions{})
	require.NoError(t, err)
	f.gate = make(chan struct{})
	const n = 50
	var waits []func() error
	for i := range n {
		record, err := Encode(Entry{Step: int64(i + 1), Begin: &state.Operation{Resource: res(i), Kind: state.Creating}}, nil)
		require.NoError(t, err)
		waits = append(waits, log.Put(record, false))
		if i == 0 { // the first one keeps the disk busy while the others arrive
			done := make(chan error)
			first := waits[0]
			go func() { done <- first() }()
			for {
				f.mu.Lock()
				started := len(f.data) > f.synced
				f.mu.Unlock()
				if started {
					break
				}
			}
			waits[0] = func() error { return <-done }
		}
	}
	close(f.gate)
	var wg sync.WaitGroup
	for _, wait := range waits {
		wg.Go(func() {
			if err := wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 3, f.syncs, "the header, the first entry, and all others together")
	c, err := Read(f.data, nil)
	require.NoError(t, err)
	for i, e := range c.Entries {
		require.EqualValues(t, i+1, e.Step, "in the order of Put")
	}
	require.Len(t, c.Entries, n)
}

func TestFailedLogStaysFailed(t *testing.T) {
	t.Parallel()
	f := &memoryFile{}
	log, err := Create(f, testHeader, LogOptions{})
	require.NoError(t, err)
	full := errors.New("disk full")
	f.fail = full
	require.ErrorIs(t, log.Append(t.Context(), Entry{}), full)
	f.fail = nil
	require.ErrorIs(t, log.Append(t.Context(), Entry{}), full)

	secret := res(1)
	secret.Inputs = value.MapOf(value.Entry{Key: "password", Value: value.String("hidden text").Secret()})
	log, err = Create(&memoryFile{}, testHeader, LogOptions{})
	require.NoError(t, err)
	err = log.Append(t.Context(), Entry{Add: []Amended{{1, secret}}})
	require.ErrorContains(t, err, `the secret "inputs.password"`)
	require.NoError(t, log.Append(t.Context(), Entry{}), "what cannot be sealed leaves the log usable")
}

func TestBookOfAnotherState(t *testing.T) {
	t.Parallel()
	f := &memoryFile{}
	log, err := Create(f, testHeader, LogOptions{Secrets: secrets.B64{}})
	require.NoError(t, err)
	for _, e := range someEntries()[:2] {
		require.NoError(t, log.Append(t.Context(), e))
	}
	mid := IdentityOf([]byte("written in between"))
	require.NoError(t, log.Covered(mid, Origin{IDs: []ID{1}, Added: 1}, log.Size()))
	read := func() *Contents {
		c, err := Read(f.data, nil)
		require.NoError(t, err)
		return c
	}
	_, done, err := read().Replayer(&state.Snapshot{Resources: []*state.Resource{res(1)}}, mid)
	require.NoError(t, err)
	require.True(t, done, "the file holds it all")

	require.NoError(t, log.Append(t.Context(), Entry{Add: []Amended{{2, res(2, 1)}}}))
	for _, c := range []struct {
		name string
		base *state.Snapshot
		at   Identity
	}{
		{"the file was written", &state.Snapshot{Resources: []*state.Resource{res(1)}}, mid},
		{"the file was not written", nil, testHeader.Base},
	} {
		replayer, done, err := read().Replayer(c.base, c.at)
		require.NoError(t, err, c.name)
		require.False(t, done, c.name)
		s, err := replayer.Snapshot()
		require.NoError(t, err)
		require.Len(t, s.Resources, 2, c.name)
		require.NoError(t, s.Verify())
	}
	var mismatch *MismatchError
	_, _, err = read().Replayer(nil, IdentityOf([]byte("another tool's")))
	require.ErrorAs(t, err, &mismatch)
}

func FuzzRead(f *testing.F) {
	file := &memoryFile{}
	log, err := Create(file, testHeader, LogOptions{Secrets: secrets.B64{}})
	require.NoError(f, err)
	for _, e := range someEntries() {
		require.NoError(f, log.Append(f.Context(), e))
	}
	f.Add(file.data)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(data, nil)
		if err != nil {
			return
		}
		if c.Whole+c.Torn != len(data) {
			t.Fatalf("%d and %d do not make %d", c.Whole, c.Torn, len(data))
		}
		if replayer, _, err := c.Replayer(nil, c.Header.Base); err == nil && replayer != nil {
			_, _ = replayer.Snapshot()
		}
		// A rewritten journal has the same entries.
		if text, err := c.Covering(Identity{}); err == nil && c.Whole > 0 {
			again, err := Read(text, nil)
			require.NoError(t, err)
			require.Len(t, again.Entries, len(c.Entries))
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		for _, parallel := range []int{1, 8} {
			b.Run(fmt.Sprintf("sync=%v/parallel=%d", sync, parallel), func(b *testing.B) {
				f, err := os.Create(filepath.Join(b.TempDir(), "journal"))
				if err != nil {
					b.Fatal(err)
				}
				log, err := Create(f, testHeader, LogOptions{NoSync: !sync})
				if err != nil {
					b.Fatal(err)
				}
				e := Entry{Add: []Amended{{1, res(1, 2, 3, 4)}}}
				b.SetParallelism(parallel)
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := log.Append(context.Background(), e); err != nil {
							b.Error(err)
						}
					}
				})
				b.StopTimer()
				if err := log.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			base := &state.Snapshot{}
			var entries []Entry
			for i := range n {
				base.Resources = append(base.Resources, res(i))
				entries = append(entries,
					Entry{Step: int64(i + 1), Begin: &state.Operation{Resource: res(i), Kind: state.Updating}},
					Entry{Step: int64(i + 1), Remove: []ID{ID(i + 1)}, Add: []Amended{{ID(n + i + 1), res(i)}}})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Replay(base, entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
