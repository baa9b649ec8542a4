package editor_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestActionsAnywhere requests actions all over the programs of the archives. Edits must not overlap, and no action may
// cause a new finding, except those that fill in properties with example values.
func TestActionsAnywhere(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("../eval/testdata/*/*.txtar")
	require.NoError(t, err)
	more, err := filepath.Glob("../eval/testdata/*.txtar")
	require.NoError(t, err)
	archives = append(archives, more...)
	require.Greater(t, len(archives), 50)
	offered := map[editor.ActionKind]int{}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		for _, f := range archive.Files {
			if filepath.Base(f.Name) != "Pulumi.yaml" && filepath.Base(f.Name) != "Main.yaml" || len(f.Data) > 4000 {
				continue
			}
			text := string(f.Data)
			s := snapshotOf(text)
			_, found := looked(t, text)
			for i := 0; i < len(text); i += 23 {
				actions, err := editor.Actions(t.Context(), s, file, i, min(i+i%3*11, len(text)))
				require.NoError(t, err)
				for _, action := range actions {
					offered[action.Kind]++
					require.False(t, overlapping(action.Edits[file]), "%s: %s at %d", path, action.Title, i)
					if action.Kind == editor.FillAction {
						continue
					}
					after := applied(text, action.Edits[file])
					_, foundAfter := looked(t, after)
					for code, n := range foundAfter {
						require.LessOrEqual(t, n, max(found[code], 0), "%s: %s: %s in\n%s", path, action.Title, code, after)
					}
				}
			}
		}
	}
	require.NotEmpty(t, offered[editor.InlineAction])
	require.NotEmpty(t, offered[editor.RewriteAction])
}

func overlapping(edits []diag.Edit) bool {
	for i, a := range edits {
		for _, b := range edits[i+1:] {
			if a.Range.Start < b.Range.End && b.Range.Start < a.Range.End {
				return true
			}
		}
	}
	return false
}
