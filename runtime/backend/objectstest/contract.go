// Package objectstest has the tests that every implementation of backend.Objects passes.
package objectstest

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Contract tests a store against the contract of backend.Objects, and of backend.Deep and backend.Bulk if it implements
// those.
func Contract(t *testing.T, o backend.Objects) {
	t.Helper()
	ctx := t.Context()
	_, err := o.Get(ctx, "a/b.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, o.Delete(ctx, "a/b.json"), "that there is none is no error")

	_, err = o.Put(ctx, "a/b.json", []byte("zero"), backend.Condition{Version: "0"})
	require.ErrorIs(t, err, backend.ErrChanged)
	first, err := o.Put(ctx, "a/b.json", []byte("one"), backend.Condition{Absent: true})
	require.NoError(t, err)
	_, err = o.Put(ctx, "a/b.json", []byte("two"), backend.Condition{Absent: true})
	require.ErrorIs(t, err, backend.ErrChanged)
	got, err := o.Get(ctx, "a/b.json")
	require.NoError(t, err)
	require.Equal(t, "one", string(got.Data))
	require.Equal(t, first, got.Version)
	require.WithinDuration(t, time.Now(), got.Modified, time.Hour)

	second, err := o.Put(ctx, "a/b.json", []byte("two"), backend.Condition{Version: first})
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	for _, stale := range []string{first, "0"} {
		_, err = o.Put(ctx, "a/b.json", []byte("three"), backend.Condition{Version: stale})
		require.ErrorIs(t, err, backend.ErrChanged)
	}
	third, err := o.Put(ctx, "a/b.json", []byte("any"), backend.Condition{})
	require.NoError(t, err)
	require.NotEqual(t, second, third)

	for _, key := range []string{"a/c.json", "a/d/e", "a/d/f", "a/b.json.bak", "b"} {
		_, err = o.Put(ctx, key, []byte(key), backend.Condition{})
		require.NoError(t, err)
	}
	list := func(prefix string) (keys []string) {
		found, err := o.List(ctx, prefix)
		require.NoError(t, err)
		for _, f := range found {
			keys = append(keys, f.Key)
		}
		return keys
	}
	require.Equal(t, []string{"a/b.json", "a/b.json.bak", "a/c.json", "a/d/"}, list("a/"))
	require.Equal(t, []string{"a/b.json", "a/b.json.bak"}, list("a/b"))
	require.Empty(t, list("none/"))
	require.NoError(t, o.Delete(ctx, "a/d/e"))
	require.Equal(t, []string{"a/d/f"}, list("a/d/"))

	if deep, ok := o.(backend.Deep); ok {
		all, err := deep.ListAll(ctx, "a/")
		require.NoError(t, err)
		var keys []string
		for _, l := range all {
			keys = append(keys, l.Key)
			require.False(t, l.Modified.IsZero())
		}
		require.Equal(t, []string{"a/b.json", "a/b.json.bak", "a/c.json", "a/d/f"}, keys)
	}
	if bulk, ok := o.(backend.Bulk); ok {
		objects, err := bulk.GetAll(ctx, []string{"a/b.json", "a/d/f", "none"})
		require.NoError(t, err)
		require.Len(t, objects, 2)
		for key, o := range objects {
			alone, err := bulk.Get(ctx, key)
			require.NoError(t, err)
			require.Equal(t, alone, o)
		}
	}

	// Of many concurrent creations of an object, and of many replacements, exactly one succeeds.
	for _, c := range []backend.Condition{{Absent: true}, {}} {
		const key, rivals = "a/rivals", 8
		if !c.Absent {
			got, err := o.Get(ctx, key)
			require.NoError(t, err)
			c.Version = got.Version
		}
		var group sync.WaitGroup
		won := make(chan string, rivals)
		for i := range rivals {
			group.Go(func() {
				if _, err := o.Put(context.Background(), key, []byte{byte('A' + i), byte(len(c.Version))}, c); err == nil {
					won <- string(rune('A' + i))
				} else if !errors.Is(err, backend.ErrChanged) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.Len(t, won, 1)
		got, err := o.Get(ctx, key)
		require.NoError(t, err)
		require.Equal(t, <-won, string(got.Data[:1]))
	}
}

// Whole tests a store with a stack that two machines work on, from its creation to its removal.
func Whole(t *testing.T, url string, opener func(rawURL string) (backend.Objects, error)) {
	t.Helper()
	open := func(pid int) *backend.Backend {
		b, err := backend.Open(url, backend.Options{Version: "test", Process: backend.Process{PID: pid, User: "u", Host: "h",
			Machine: "m", Alive: func(p int, _ string) bool { return p == pid }},
			OpenObjects: opener})
		require.NoError(t, err)
		return b
	}
	ctx, ref := t.Context(), backend.Ref{Project: "p", Stack: "dev"}
	require.NoError(t, open(1).Create(ctx, ref, nil))
	s, err := open(1).Begin(ctx, ref, backend.BeginOptions{Command: "update"})
	require.NoError(t, err)
	r := &state.Resource{URN: "urn:pulumi:dev::p::pkg:index:Res::r", Type: "pkg:index:Res", Custom: true, ID: "id",
		Inputs: value.EmptyMap(), Outputs: value.EmptyMap()}
	require.NoError(t, s.Append(ctx, journal.Entry{Add: []journal.Amended{{ID: 1, Resource: r}}}))

	// The machine is lost. The next one finds everything acknowledged.
	loaded, err := open(2).Load(ctx, ref, nil)
	require.NoError(t, err)
	require.Len(t, loaded.Snapshot.Resources, 1)
	next, err := open(2).Begin(ctx, ref, backend.BeginOptions{Command: "update"})
	require.NoError(t, err)
	require.Equal(t, 1, next.Recovered().Entries)
	require.Len(t, next.Base().Resources, 1)

	// If the first one is alive after all, its writes fail.
	var lost *backend.LockLostError
	second := *r
	second.URN += "2"
	require.ErrorAs(t, s.Append(ctx, journal.Entry{Add: []journal.Amended{{ID: 2, Resource: &second}}}), &lost)
	require.ErrorAs(t, s.Commit(ctx, nil, nil), &lost)
	require.NoError(t, next.Commit(ctx, nil, &backend.Record{Kind: "update", Result: "succeeded"}))
	records, err := open(3).History(ctx, ref, 0)
	require.NoError(t, err)
	require.Len(t, records, 1)
	refs, err := open(3).Stacks(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []backend.Ref{ref}, refs)
	require.NoError(t, open(3).Remove(ctx, ref, backend.RemoveOptions{Force: true}))
}
