package backend

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// A state that cannot be read back never replaces the state file. The file and the journal stay unchanged, Rescue
// works, and the next run has everything.
func TestUnreadableStateIsNotWritten(t *testing.T) {
	t.Parallel()
	for _, packing := range []Compression{Plain, Gzip, Zstd} {
		b, dir := newBackend(t, func(o *Options) { o.Compression = packing })
		require.NoError(t, b.Create(t.Context(), testRef, nil))
		path := filepath.Join(dir, "stacks/p/dev.json"+string(packing))
		before := read(t, path)
		s := begin(t, b)
		require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1, Begin: &state.Operation{Resource: resource(1),
			Kind: state.Creating}}))
		require.NoError(t, s.Append(t.Context(), journal.Entry{Step: 1,
			Add: []journal.Amended{{ID: 1, Resource: resource(1)}}}))
		broken := &state.Snapshot{Resources: []*state.Resource{resource(1)},
			Unknown: map[string]json.RawMessage{"other": json.RawMessage(`{"half":`)}}
		err := s.Commit(t.Context(), broken, nil)
		var unreadable *UnreadableError
		require.ErrorAs(t, err, &unreadable)
		require.Equal(t, path, unreadable.Path)
		require.False(t, s.Written())
		require.Equal(t, before, read(t, path), "the state is what it was")
		require.FileExists(t, filepath.Join(dir, "stacks/p/dev.yamlhost-journal"))

		text, complete, err := s.Rescue(broken)
		require.NoError(t, err, "the journal knows it too, and can be written")
		require.True(t, complete)
		rescued, err := state.DecodeExport(text, nil)
		require.NoError(t, err)
		require.Equal(t, resource(1).URN, rescued.Resources[0].URN)

		next, err := Open(b.URL(), testOptions(2))
		require.NoError(t, err)
		again := begin(t, next)
		require.Len(t, again.Base().Resources, 1)
		require.NoError(t, again.Commit(t.Context(), nil, nil))
	}
}
