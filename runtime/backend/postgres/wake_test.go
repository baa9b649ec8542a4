//go:build !lean

package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/backend/postgres/postgrestest"
)

// A process that waits for the lock of a stack is notified when the lock is released.
func TestWaitersAreWoken(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t, programs)
	url := server.URL("states")
	store := openAt(t, url)
	b, err := backend.Open(url, backend.Options{Version: "test",
		OpenObjects: func(string) (backend.Objects, error) { return store, nil }})
	require.NoError(t, err)
	ref, other := backend.Ref{Project: "p", Stack: "dev"}, backend.Ref{Project: "p", Stack: "prod"}
	begin := func(r backend.Ref) *backend.Session {
		require.NoError(t, b.Create(t.Context(), r, nil))
		s, err := b.Begin(t.Context(), r, backend.BeginOptions{Command: "update"})
		require.NoError(t, err)
		return s
	}
	held, beside := begin(ref), begin(other)
	wakes, stop := b.Wakes(t.Context(), ref)
	require.NotNil(t, wakes)
	otherWakes, otherStop := b.Wakes(t.Context(), other)
	require.NoError(t, beside.Close())
	receive(t, otherWakes)
	select {
	case <-wakes:
		t.Error("the lock of another stack was given back")
	default:
	}
	require.NoError(t, held.Close())
	receive(t, wakes)
	stop()
	otherStop()
}

func receive(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("nobody was told")
	}
}
