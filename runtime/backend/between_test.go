package backend

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/backend/disk/disktest"
	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Steps continue while the state file is being written during a run. They are only in the journal until Commit, which
// waits for the write.
func TestStepsGoOnWhileStateIsWritten(t *testing.T) { // D9
	t.Parallel()
	d := prepared(t)
	began, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	armed := false
	b, err := open("file:///state", testOptions(1), disktest.Faulty(d, func(do, path string, done bool) error {
		if armed && do == "create" && !done && strings.HasPrefix(filepath.Base(path), "dev.json") &&
			!strings.Contains(path, ".bak") {
			once.Do(func() {
				close(began)
				<-goOn
			})
		}
		return nil
	}))
	require.NoError(t, err)
	b.schedule.leastJournal = 1
	s := begin(t, b)
	armed = true
	step := func(i int) {
		require.NoError(t, s.Append(t.Context(), journal.Entry{Step: int64(i), Begin: &state.Operation{Resource: resource(i),
			Kind: state.Creating}}))
		require.NoError(t, s.Defer(t.Context(), journal.Entry{Step: int64(i),
			Add: []journal.Amended{{ID: journal.ID(i), Resource: resource(i)}}}))
	}
	i := 1
	for waiting := true; waiting; i++ { // until the journal has outgrown the state file and a write has begun
		step(i)
		s.file.mu.Lock()
		waiting = !s.file.writing
		s.file.mu.Unlock()
	}
	<-began
	for range 5 {
		step(i)
		i++
	}
	reader, err := open("file:///state", testOptions(2), d)
	require.NoError(t, err)
	loaded, err := reader.Load(t.Context(), testRef, openB64)
	require.NoError(t, err)
	require.Len(t, loaded.Snapshot.Resources, i-1)

	ended := make(chan error)
	go func() { ended <- s.Commit(t.Context(), nil, nil) }()
	select {
	case err := <-ended:
		t.Fatal("ended while the state file was being written: ", err)
	default:
	}
	close(goOn)
	require.NoError(t, <-ended)
	loaded, err = reader.Load(t.Context(), testRef, openB64)
	require.NoError(t, err)
	require.Nil(t, loaded.Recovered)
	require.Len(t, loaded.Snapshot.Resources, i-1)
}
