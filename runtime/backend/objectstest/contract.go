// Package objectstest has the tests that every implementation of backend.Objects passes.
package objectstest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
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
// those. Each promise has a test of its own with keys of its own, so that a store that breaks several shows all.
func Contract(t *testing.T, o backend.Objects) {
	t.Helper()
	for _, promise := range []struct {
		name string
		test func(*testing.T, backend.Objects)
	}{
		{"a missing object", missing}, {"conditions", conditions}, {"lists", lists}, {"deep lists", deep}, {"many at once", bulk},
		{"many removals", removals},
		{"one of many creations succeeds", func(t *testing.T, o backend.Objects) { rivals(t, o, true) }},
		{"one of many replacements succeeds", func(t *testing.T, o backend.Objects) { rivals(t, o, false) }},
	} {
		t.Run(promise.name, func(t *testing.T) { promise.test(t, o) })
	}
}

// missing tests that a missing object is an error of its own, and that removing one is none.
func missing(t *testing.T, o backend.Objects) {
	_, err := o.Get(t.Context(), "missing/b.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, o.Delete(t.Context(), "missing/b.json"))
	_, err = o.Put(t.Context(), "missing/b.json", []byte("zero"), backend.Condition{Version: "0"})
	require.ErrorIs(t, err, backend.ErrChanged)
}

// conditions tests that an object is written only if it is as the condition says.
func conditions(t *testing.T, o backend.Objects) {
	ctx, key := t.Context(), "conditions/b.json"
	first, err := o.Put(ctx, key, []byte("one"), backend.Condition{Absent: true})
	require.NoError(t, err)
	_, err = o.Put(ctx, key, []byte("two"), backend.Condition{Absent: true})
	require.ErrorIs(t, err, backend.ErrChanged)
	got, err := o.Get(ctx, key)
	require.NoError(t, err)
	require.Equal(t, "one", string(got.Data))
	require.Equal(t, first, got.Version)
	require.WithinDuration(t, time.Now(), got.Modified, time.Hour)

	second, err := o.Put(ctx, key, []byte("two"), backend.Condition{Version: first})
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	for _, stale := range []string{first, "0"} {
		_, err = o.Put(ctx, key, []byte("three"), backend.Condition{Version: stale})
		require.ErrorIs(t, err, backend.ErrChanged)
	}
	third, err := o.Put(ctx, key, []byte("any"), backend.Condition{})
	require.NoError(t, err)
	require.NotEqual(t, second, third)
	got, err = o.Get(ctx, key)
	require.NoError(t, err)
	require.Equal(t, "any", string(got.Data))
}

// fill writes some objects below a folder.
func fill(t *testing.T, o backend.Objects, folder string) {
	t.Helper()
	for _, key := range []string{"b.json", "c.json", "d/e", "d/f", "b.json.bak"} {
		_, err := o.Put(t.Context(), folder+key, []byte(key), backend.Condition{})
		require.NoError(t, err)
	}
	_, err := o.Put(t.Context(), "beside", nil, backend.Condition{})
	require.NoError(t, err)
}

// lists tests that a list has the objects of a prefix in order, those behind a slash as one folder.
func lists(t *testing.T, o backend.Objects) {
	fill(t, o, "lists/")
	list := func(prefix string) (keys []string) {
		found, err := o.List(t.Context(), prefix)
		require.NoError(t, err)
		for _, f := range found {
			keys = append(keys, f.Key)
		}
		return keys
	}
	require.Equal(t, []string{"lists/b.json", "lists/b.json.bak", "lists/c.json", "lists/d/"}, list("lists/"))
	require.Equal(t, []string{"lists/b.json", "lists/b.json.bak"}, list("lists/b"))
	require.Empty(t, list("none/"))
	require.NoError(t, o.Delete(t.Context(), "lists/d/e"))
	require.Equal(t, []string{"lists/d/f"}, list("lists/d/"))
}

// deep tests the list of backend.Deep, which has no folders, but the versions of objects.
func deep(t *testing.T, o backend.Objects) {
	deep, ok := o.(backend.Deep)
	if !ok {
		t.Skip("the store has no such list")
	}
	fill(t, o, "deep/")
	all, err := deep.ListAll(t.Context(), "deep/")
	require.NoError(t, err)
	var keys []string
	_, isBulk := o.(backend.Bulk) // whose lists need no versions, since it reads objects in as many requests
	for _, l := range all {
		keys = append(keys, l.Key)
		require.False(t, l.Modified.IsZero())
		if l.Version != "" || !isBulk {
			got, err := o.Get(t.Context(), l.Key)
			require.NoError(t, err)
			require.Equal(t, got.Version, l.Version, l.Key)
		}
	}
	require.Equal(t, []string{"deep/b.json", "deep/b.json.bak", "deep/c.json", "deep/d/e", "deep/d/f"}, keys)
}

// removals tests that backend.Remover removes those objects and no other, more than fit one request of any store, and
// that missing ones are no error.
func removals(t *testing.T, o backend.Objects) {
	store, ok := o.(backend.Remover)
	if !ok {
		t.Skip("the store removes one by one")
	}
	const many = 1010
	keys := make([]string, many)
	for i := range keys {
		keys[i] = fmt.Sprintf("removals/a/%04d &+%%", i)
		if i < 5 || i >= many-5 {
			_, err := o.Put(t.Context(), keys[i], []byte("a"), backend.Condition{})
			require.NoError(t, err)
		}
	}
	_, err := o.Put(t.Context(), "removals/b", []byte("b"), backend.Condition{})
	require.NoError(t, err)
	err = store.DeleteAll(t.Context(), keys)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the server removes one by one")
	}
	require.NoError(t, err)
	left, err := o.List(t.Context(), "removals/")
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "removals/b", left[0].Key)
}

// bulk tests the request of backend.Bulk for many objects.
func bulk(t *testing.T, o backend.Objects) {
	bulk, ok := o.(backend.Bulk)
	if !ok {
		t.Skip("the store has no such request")
	}
	fill(t, o, "bulk/")
	objects, err := bulk.GetAll(t.Context(), []string{"bulk/b.json", "bulk/d/f", "none"})
	require.NoError(t, err)
	want := map[string]backend.Object{}
	for _, key := range []string{"bulk/b.json", "bulk/d/f"} {
		want[key], err = bulk.Get(t.Context(), key)
		require.NoError(t, err)
	}
	require.Equal(t, want, objects)
}

// rivals tests that of many concurrent writes under the same condition exactly one succeeds, and that its content is
// there afterwards.
func rivals(t *testing.T, o backend.Objects, absent bool) {
	const many = 8
	key, c := "rivals/"+strconv.FormatBool(absent), backend.Condition{Absent: absent}
	if !absent {
		var err error
		c.Version, err = o.Put(t.Context(), key, nil, backend.Condition{})
		require.NoError(t, err)
	}
	var group sync.WaitGroup
	won := make(chan string, many)
	for i := range many {
		group.Go(func() {
			if _, err := o.Put(context.Background(), key, []byte{byte('A' + i)}, c); err == nil {
				won <- string(rune('A' + i))
			} else if !errors.Is(err, backend.ErrChanged) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	require.Len(t, won, 1)
	got, err := o.Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, <-won, string(got.Data))
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
