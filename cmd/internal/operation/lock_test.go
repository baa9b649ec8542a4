package operation

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/runtime/backend"
)

// hearing is a writer that calls do when a write contains text.
type hearing struct {
	text string
	do   func()
}

func (h hearing) Write(p []byte) (int, error) {
	if strings.Contains(string(p), h.text) {
		h.do()
	}
	return len(p), nil
}

// A run that creates its stack waits for the stack's lock, which another run can hold before the stack exists.
func TestCreatingWaitsForTheLock(t *testing.T) {
	t.Parallel()
	for _, made := range []bool{false, true} {
		dir := t.TempDir()
		b, err := backend.Open("file://"+filepath.ToSlash(dir), backend.Options{})
		require.NoError(t, err)
		ref := backend.Ref{Project: "p", Stack: "dev"}
		lock := filepath.Join(dir, ".pulumi", "locks", "organization", "p", "dev", "0.json")
		take := func() {
			require.NoError(t, os.MkdirAll(filepath.Dir(lock), 0o700))
			require.NoError(t, os.WriteFile(lock, []byte(`{"pid":1,"username":"u","hostname":"elsewhere"}`), 0o600))
		}
		take()
		s := &console.Stack{Backend: b, Ref: ref, Missing: true}
		a := &console.Console{Streams: console.Streams{Err: io.Discard}}
		err = createMissing(t.Context(), a, s, true, 0)
		require.ErrorAs(t, err, new(*backend.LockedError))
		a.Streams.Err = hearing{"Waiting up to 1m0s for u@elsewhere", func() {
			require.NoError(t, os.Remove(lock))
			if made { // the holder of the lock has created the stack
				require.NoError(t, b.Create(context.Background(), ref, nil))
			}
		}}
		require.NoError(t, createMissing(t.Context(), a, s, true, time.Minute))
		require.False(t, s.Missing)
		exists, err := b.Exists(ref)
		require.NoError(t, err)
		require.True(t, exists)
	}
}
