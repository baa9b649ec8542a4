// Package corpus reads the archives that passes are tested by: a comment, files that are given, and sections whose
// names begin with "out/", which are the expected results. Only tests import it.
package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// Outcome is the prefix of the sections that have to come out.
const Outcome = "out/"

// Given returns the files of an archive that are input; all others are expected output.
func Given(a *txtar.Archive) []txtar.File {
	given := make([]txtar.File, 0, len(a.Files))
	for _, f := range a.Files {
		if !strings.HasPrefix(f.Name, Outcome) {
			given = append(given, f)
		}
	}
	return given
}

// Run runs each archive that matches a pattern as a parallel test of its own: pass gets the comment and the given
// files, and returns the resulting sections, in order. They have to equal the archive's; with update they are written
// there instead. A pattern without a match is a failure.
func Run(t *testing.T, update bool, pass func(t *testing.T, a *txtar.Archive) []txtar.File, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
				t.Parallel()
				archive, err := txtar.ParseFile(path)
				require.NoError(t, err)
				given := Given(archive)
				got := pass(t, &txtar.Archive{Comment: archive.Comment, Files: given})
				for _, f := range got {
					require.True(t, strings.HasPrefix(f.Name, Outcome), "%s does not begin with %s", f.Name, Outcome)
				}
				whole := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: append(given, got...)})
				if update {
					require.NoError(t, os.WriteFile(path, whole, 0o644))
					return
				}
				require.Equal(t, string(txtar.Format(archive)), string(whole), "run with -update to accept")
			})
		}
	}
}
