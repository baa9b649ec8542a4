package backend

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// bulkMemory is a store in memory that implements Bulk and counts requests. GetAll leaves out the last of several keys.
type bulkMemory struct {
	*memory
	mu       sync.Mutex // guards requests
	requests int
}

func (m *bulkMemory) count() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
}

func (m *bulkMemory) Get(ctx context.Context, key string) (Object, error) {
	m.count()
	return m.memory.Get(ctx, key)
}

func (m *bulkMemory) List(ctx context.Context, prefix string) ([]Listed, error) {
	m.count()
	return m.memory.List(ctx, prefix)
}

func (m *bulkMemory) ListAll(ctx context.Context, prefix string) (found []Listed, err error) {
	m.count()
	for _, key := range m.keys() {
		if strings.HasPrefix(key, prefix) {
			o, err := m.memory.Get(ctx, key)
			if err != nil {
				return nil, err
			}
			found = append(found, Listed{key, o.Modified, o.Version})
		}
	}
	return found, nil
}

func (m *bulkMemory) GetAll(ctx context.Context, keys []string) (map[string]Object, error) {
	m.count()
	found := map[string]Object{}
	for _, key := range keys[:max(1, len(keys)-1)] {
		o, err := m.memory.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		found[key] = o
	}
	return found, nil
}

// TestPrefetch checks that the stacks of Prefetch have the same overviews and locks as when read one by one, with few
// requests: a Bulk store gets few for all stacks, another Deep one one for each whose last run has ended in order.
func TestPrefetch(t *testing.T) {
	t.Parallel()
	store := &bulkMemory{memory: newMemory()}
	t.Run("bulk", func(t *testing.T) {
		t.Parallel()
		prefetches(t, store, store, func(int) int { return 30 })
	})
	deep := &bulkMemory{memory: newMemory()}
	t.Run("deep", func(t *testing.T) {
		t.Parallel()
		prefetches(t, deep, struct{ Deep }{deep}, func(stacks int) int { return 10 + stacks })
	})
}

// prefetches is TestPrefetch for one kind of store, which counts its requests in count. most returns how many there may
// be for a number of stacks.
func prefetches(t *testing.T, count *bulkMemory, store Objects, most func(stacks int) int) {
	b := openMemory(t, count.memory, 1, func(o *Options) { o.OpenObjects = func(string) (Objects, error) { return store, nil } })
	const many = 60
	for n := range many {
		r := Ref{Project: "p", Stack: fmt.Sprint("s", n)}
		require.NoError(t, b.Create(t.Context(), r, nil))
		if n%3 == 0 {
			s, err := b.Begin(t.Context(), r, BeginOptions{Command: "update"})
			require.NoError(t, err)
			require.NoError(t, s.Commit(t.Context(), nil, &Record{Kind: "update", Result: "succeeded",
				EndTime: int64(1000 + n)}))
		}
	}
	for _, name := range []string{"dev", "dev-eu", "dev.eu"} {
		require.NoError(t, b.Create(t.Context(), Ref{Project: "p", Stack: name}, nil))
	}
	require.NoError(t, b.Create(t.Context(), Ref{Project: "q", Stack: "dev"}, nil))
	s, err := b.Begin(t.Context(), Ref{Project: "p", Stack: "dev-eu"}, BeginOptions{Command: "update"}) // stays open
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()

	for _, project := range []string{"p", ""} {
		before := count.requests
		g, err := b.Prefetch(project)
		require.NoError(t, err)
		refs, err := g.Stacks(t.Context(), project)
		require.NoError(t, err)
		type seen struct {
			overview Overview
			locked   bool
		}
		look := func(b *Backend, r Ref) seen {
			o, err := b.Overview(t.Context(), r)
			require.NoError(t, err)
			locks, err := b.Locks(r)
			require.NoError(t, err)
			return seen{o, len(locks) > 0}
		}
		got := map[Ref]seen{}
		looks := make([]seen, len(refs))
		Each(refs, func(i int, r Ref) { looks[i] = look(g, r) })
		for i, r := range refs {
			got[r] = looks[i]
		}
		require.Less(t, count.requests-before, most(len(refs)))
		want, err := b.Stacks(t.Context(), project)
		require.NoError(t, err)
		require.Equal(t, want, refs)
		for _, r := range want {
			require.Equal(t, look(b, r), got[r], r)
		}
		require.True(t, got[Ref{Project: "p", Stack: "dev-eu"}].locked)
		require.False(t, got[Ref{Project: "p", Stack: "dev"}].locked)
	}
	folder, err := b.Prefetch("p")
	require.NoError(t, err)
	_, err = folder.Overview(t.Context(), Ref{Project: "p", Stack: "none"})
	require.ErrorAs(t, err, new(*NotFoundError))
}
