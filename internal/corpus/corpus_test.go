package corpus_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/testfile"
)

func upper(_ *testing.T, a *txtar.Archive) []txtar.File {
	return []txtar.File{{Name: "out/upper", Data: bytes.ToUpper(a.Files[0].Data)}}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txtar")
	require.NoError(t, os.WriteFile(path,
		[]byte("what it is about\n-- in --\ntext\n-- out/upper --\nstale\n-- out/gone --\nx\n"), 0o600))
	run := func(update bool) {
		t.Run("run", func(t *testing.T) { corpus.Run(t, update, upper, filepath.Join(dir, "*.txtar")) })
	}
	run(true)
	text := testfile.Text(t, path)
	require.Equal(t, "what it is about\n-- in --\ntext\n-- out/upper --\nTEXT\n", text)
	run(false)
}
