package backend

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/runtime/state/statetest"
)

// TestPast finds the states after operations by their stamps, in every compression, and single resources in them. The
// revision changes with each operation and each lock.
func TestPast(t *testing.T) {
	t.Parallel()
	for _, packing := range []Compression{Plain, Gzip, Zstd} {
		t.Run(string(packing), func(t *testing.T) {
			b, _ := newBackend(t, func(o *Options) { o.Compression = packing })
			require.NoError(t, b.Create(t.Context(), testRef, nil))
			past, err := PastOf(b, testRef)
			require.NoError(t, err)
			revisions := map[string]bool{}
			note := func() {
				revision, err := past.Revision()
				require.NoError(t, err)
				require.False(t, revisions[revision], "nothing has changed")
				revisions[revision] = true
			}
			note()
			for _, names := range [][]string{{"a"}, {"a", "b"}, {"b"}} {
				session, err := b.Begin(t.Context(), testRef, BeginOptions{Command: "update"})
				require.NoError(t, err)
				note()
				final := &state.Snapshot{}
				for _, name := range names {
					final.Resources = append(final.Resources, statetest.Resource(name))
				}
				_ = session.Commit(t.Context(), final, &Record{Kind: "update", Message: names[0]})
				note()
			}
			entries, err := past.Entries(t.Context(), 0)
			require.NoError(t, err)
			require.Len(t, entries, 3)
			for i, want := range []int{1, 2, 1} {
				s, err := past.State(t.Context(), entries[i].Stamp)
				require.NoError(t, err)
				require.Len(t, s.Resources, want)
			}
			for i, want := range []bool{false, true, true} {
				r, err := past.Resource(t.Context(), entries[i].Stamp, statetest.URN("a"))
				require.NoError(t, err)
				require.Equal(t, want, r != nil)
				require.True(t, r == nil || r.URN == statetest.URN("a"))
			}
			none, err := past.State(t.Context(), 1)
			require.NoError(t, err)
			require.Nil(t, none)
			nobody, err := past.Resource(t.Context(), entries[0].Stamp, urn.URN("no"))
			require.NoError(t, err)
			require.Nil(t, nobody)
		})
	}
	_, err := PastOf(&Backend{}, Ref{Project: "..", Stack: "x"})
	require.Error(t, err)
}
