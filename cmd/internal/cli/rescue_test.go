package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/runtime/backend"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// A state that cannot be read back is not written. The messages name the rescue file and the journal that stays.
func TestUnreadableStateIsRescued(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := backend.Open("file://"+filepath.ToSlash(dir), backend.Options{Version: "test"})
	require.NoError(t, err)
	ref := backend.Ref{Project: "p", Stack: "dev"}
	require.NoError(t, b.Create(t.Context(), ref, nil))
	session, err := b.Begin(t.Context(), ref, backend.BeginOptions{Command: "update"})
	require.NoError(t, err)
	var said bytes.Buffer
	own := &project.Project{Dir: dir}
	own.Name.Text = "p"
	a := &console.Console{Streams: console.Streams{Err: &said},
		World: console.World{Now: func() time.Time { return time.Unix(7, 0) }}}
	err = operation.Commit(t.Context(), a, &console.Stack{Project: own, Backend: b, Ref: ref}, session,
		&state.Snapshot{Unknown: map[string]json.RawMessage{"other": json.RawMessage("{")}}, nil)
	require.ErrorContains(t, err, "was not replaced: the new state could not be read back:")
	require.FileExists(t, filepath.Join(dir, "p.dev.rescue-7.json"))
	require.Contains(t, said.String(), filepath.Join(dir, "p.dev.rescue-7.json"))
	require.Contains(t, said.String(), "the journal stays")
	_, err = b.Load(t.Context(), ref, nil)
	require.NoError(t, err)
}
