package runlog

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := mask.New(value.String("canary-swordfish").Secret())
	head := Head{Where: "file:///x", Project: "shop", Stack: "dev", Command: "up", PID: 7}
	r := Begin(dir, head, m, nil)
	u := urn.New("dev", "shop", "", "x:y:Z", "a")
	step := &engine.Step{Op: engine.OpCreate, URN: u}
	r.Event(&engine.StepStarted{Step: step, Internal: true})
	r.Event(&engine.StepStarted{Step: step})
	r.Event(&engine.Message{URN: u, Severity: diag.Error, Text: "the password is canary-swordfish"})
	r.Event(&engine.Message{Debug: true, Text: "not for people"})
	r.Event(&engine.Message{URN: u, Policy: &engine.PolicyNote{Pack: "p", Policy: "q", Message: "no canary-swordfish"}})

	records, err := List(dir)
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Nil(t, records[0].End, "it runs")
	lines, next, err := Read(dir, records[0].ID, 0)
	require.NoError(t, err)
	require.Len(t, lines, 3)
	require.Equal(t, []Kind{Start, Message, Policy}, []Kind{lines[0].Kind, lines[1].Kind, lines[2].Kind})

	r.Event(&engine.StepFailed{Step: step})
	r.Event(&engine.Summary{Result: "failed", Changes: map[engine.Op]int{engine.OpCreate: 1}})
	r.Close()
	lines, _, err = Read(dir, records[0].ID, next)
	require.NoError(t, err)
	require.Equal(t, []Kind{Fail, End}, []Kind{lines[0].Kind, lines[1].Kind}, "only what is new")
	records, err = List(dir)
	require.NoError(t, err)
	require.Equal(t, "failed", records[0].End.Severity)
	require.Equal(t, 1, records[0].End.Policies)
	require.Equal(t, "shop", records[0].Project)
	text := testfile.Text(t, filepath.Join(dir, records[0].ID+extension))
	require.NotContains(t, text, "swordfish")
}

func TestNothingIsKeptWithoutTheFolder(t *testing.T) {
	t.Parallel()
	r := Begin(filepath.Join(t.TempDir(), "none"), Head{}, mask.New(), nil)
	require.Nil(t, r)
	r.Event(&engine.Finished{})
	r.Close()
	records, err := List(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Empty(t, records)
}

func TestOldRecordsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range kept + 5 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-1%s", i+1, extension)), []byte("{}\n"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	Begin(dir, Head{PID: 3}, mask.New(), nil).Close()
	ids, err := names(dir)
	require.NoError(t, err)
	require.Len(t, ids, kept)
	require.True(t, strings.HasSuffix(ids[0], "-3"))
	require.Equal(t, "7-1", ids[kept-1])
	require.FileExists(t, filepath.Join(dir, "notes.txt"))
	_, _, err = Read(dir, "../notes", 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
