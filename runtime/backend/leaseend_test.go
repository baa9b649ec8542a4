package backend

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/secrets"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// What a run leaves in the lease never misleads others. Runs that change something or nothing, that edit the state, end
// early, crash or are cancelled follow each other, with the Pulumi CLI and people who remove copies in between. After
// each, the overview in a list is that of the state and its history, and the state at the end of each operation is
// found, unless its copy was removed.
func TestLeaseEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		m.now = clock
		pid := 0
		process := func() *Backend {
			pid++
			return openMemory(t, deepMemory{m}, pid, func(o *Options) { o.Now, o.Compression = clock, Plain })
		}
		require.NoError(rt, process().Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
		ends := map[int64][]urn.URN{} // the resources at the end of each operation, by its stamp
		removed := map[int64]bool{}   // copies
		next := 0
		begin := func() *Session {
			s := begin(rt, process())
			return s
		}
		add := func(s *Session) {
			next++
			id := journal.ID(len(s.Base().Resources) + 1)
			require.NoError(rt, s.Append(t.Context(),
				journal.Entry{Add: []journal.Amended{{ID: id, Resource: resource(next)}}}))
		}
		record := func() *Record { return &Record{Kind: "update", Result: "succeeded", EndTime: now.Unix()} }
		acts := map[string]func(){
			"change": func() { s := begin(); add(s); require.NoError(rt, s.Commit(t.Context(), nil, record())) },
			"nothing": func() {
				s := begin()
				require.NoError(rt, s.Commit(t.Context(), s.Base(), record()))
			},
			"edit": func() {
				s := begin()
				edited := *s.Base()
				if len(edited.Resources) > 0 {
					edited.Resources = edited.Resources[1:]
				}
				require.NoError(rt, s.Commit(t.Context(), &edited, nil))
			},
			"end early": func() { require.NoError(rt, begin().Close()) },
			"fail":      func() { s := begin(); add(s); require.NoError(rt, s.Close()) },
			"crash":     func() { s := begin(); s.tools.held.(*storeLock).lease.renewer.halt() },
			"crash with a journal": func() {
				s := begin()
				add(s)
				s.tools.held.(*storeLock).lease.renewer.halt()
			},
			"cancel": func() {
				s := begin()
				_, err := process().Cancel(testRef)
				require.NoError(rt, err)
				require.ErrorAs(rt, s.Commit(t.Context(), nil, record()), new(*LockLostError))
			},
			"the Pulumi CLI": func() {
				b := process()
				loaded, err := b.Load(t.Context(), testRef, openB64)
				require.NoError(rt, err)
				if loaded.Recovered != nil {
					return
				}
				other := *loaded.Snapshot
				next++
				other.Manifest.Time, other.Resources = now, append(slices.Clone(other.Resources), resource(next))
				text, err := state.EncodeCheckpoint(&state.Checkpoint{Stack: testRef.QualifiedName(), Snapshot: &other}, secrets.B64{})
				require.NoError(rt, err)
				history, err := record().encode()
				require.NoError(rt, err)
				name := fmt.Sprintf(".pulumi/history/p/dev/dev-%d", now.UnixNano())
				for key, data := range map[string][]byte{".pulumi/stacks/p/dev.json": text, name + ".history.json": history,
					name + ".checkpoint.json": text} {
					_, err := m.Put(t.Context(), key, data, Condition{})
					require.NoError(rt, err)
				}
			},
			"remove a copy": func() {
				for _, key := range m.keys() {
					if strings.HasSuffix(key, ".checkpoint.json") && rapid.Bool().Draw(rt, "this one") {
						require.NoError(rt, m.Delete(t.Context(), key))
						var stamp int64
						_, err := fmt.Sscanf(key, ".pulumi/history/p/dev/dev-%d.", &stamp)
						require.NoError(rt, err)
						removed[stamp] = true
					}
				}
			},
		}
		names := slices.Sorted(maps.Keys(acts))
		for _, act := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 12).Draw(rt, "acts") {
			now = now.Add(time.Duration(rapid.IntRange(1, 3000).Draw(rt, "milliseconds")) * time.Millisecond)
			acts[act]()
			b := process()
			loaded, err := b.Load(t.Context(), testRef, openB64)
			require.NoError(rt, err)
			want, err := b.Overview(t.Context(), testRef)
			require.NoError(rt, err)
			ahead, err := process().Prefetch("p")
			require.NoError(rt, err)
			got, err := ahead.Overview(t.Context(), testRef)
			require.NoError(rt, err)
			require.Equal(rt, want, got, "after %s", act)
			entries, err := Past{b, testRef}.Entries(t.Context(), 0)
			require.NoError(rt, err)
			for _, e := range entries {
				if _, known := ends[e.Stamp]; !known {
					ends[e.Stamp] = urns(loaded.Snapshot)
				}
				then, err := Past{b, testRef}.State(t.Context(), e.Stamp)
				require.NoError(rt, err)
				if then == nil {
					require.True(rt, removed[e.Stamp] || removed[e.Checkpoint], "the copy of %d is gone", e.Stamp)
					continue
				}
				require.Equal(rt, ends[e.Stamp], urns(then), "after %s", act)
			}
		}
	})
}

// deepMemory is a store in memory that implements Deep.
type deepMemory struct{ *memory }

func (m deepMemory) ListAll(ctx context.Context, prefix string) (found []Listed, err error) {
	for _, key := range m.keys() {
		if strings.HasPrefix(key, prefix) {
			o, err := m.Get(ctx, key)
			if err != nil {
				return nil, err
			}
			found = append(found, Listed{key, o.Modified, o.Version})
		}
	}
	return found, nil
}

// While the Pulumi CLI holds its lock, only the first run that is refused writes anything, and it takes all of it back.
func TestRefusedRunsOnlyLook(t *testing.T) { // F6.9
	t.Parallel()
	m := newMemory()
	require.NoError(t, openMemory(t, m, 1).Create(t.Context(), testRef, nil))
	_, err := m.Put(t.Context(), ".pulumi/locks/organization/p/dev/stock.json", []byte(`{"pid":5}`), Condition{})
	require.NoError(t, err)
	keys, versions := m.keys(), m.versions
	for run := range 3 {
		_, err := openMemory(t, m, 1).Begin(t.Context(), testRef, b64Options)
		require.ErrorAs(t, err, new(*LockedError))
		require.Equal(t, keys, m.keys())
		if run == 0 {
			require.Equal(t, versions+3, m.versions, "the lease taken and given back, and the lock")
			versions = m.versions
		}
		require.Equal(t, versions, m.versions)
	}
	require.NoError(t, m.Delete(t.Context(), ".pulumi/locks/organization/p/dev/stock.json"))
	require.NoError(t, other(openMemory(t, m, 1), 1))
}

// A run that lost its lease before its first write leaves no link: the next one, which ended in order, saw no chain.
func TestLateClaimLeavesNothing(t *testing.T) { // D14
	t.Parallel()
	for name, noticed := range map[string]bool{"by the write": false, "by a renewal": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			a := openMemory(t, m, 1)
			require.NoError(t, a.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
			s := begin(t, a)
			require.NoError(t, other(openMemory(t, m, 2), 1), "it takes the process of a for dead")
			held := s.tools.held.(*storeLock)
			if noticed {
				require.ErrorAs(t, held.lease.renew(), new(*LockLostError))
			}
			require.ErrorAs(t, held.chain.mark(markGuard), new(*LockLostError))
			require.NoError(t, held.release())
			for _, key := range m.keys() {
				require.NotContains(t, key, "/journal/")
			}
		})
	}
}

// A store that was copied while a run went on may have a lease that says that there is no journal, an older state and
// the journal of the run. The journal counts.
func TestLeaseEndOfAnotherMoment(t *testing.T) {
	t.Parallel()
	m := newMemory()
	b := openMemory(t, m, 1)
	require.NoError(t, b.Create(t.Context(), testRef, &state.SecretsProvider{Type: "b64"}))
	require.NoError(t, other(b, 1))
	s, err := b.Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), journal.Entry{Add: []journal.Amended{{ID: 2, Resource: resource(2)}}}))
	during := m.copy()
	require.NoError(t, s.Commit(t.Context(), nil, nil))
	lease := ".pulumi/yamlhost/p/dev/lease.json"
	during.objects[lease] = m.objects[lease]
	s, err = openMemory(t, during, 2).Begin(t.Context(), testRef, b64Options)
	require.NoError(t, err)
	require.ElementsMatch(t, []urn.URN{resource(1).URN, resource(2).URN}, urns(s.Base()))
	require.NotNil(t, s.Recovered())
	require.NoError(t, s.Close())
}
