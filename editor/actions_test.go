package editor_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
)

var update = flag.Bool("update", false, "write what comes out into the archives")

// marked returns a text without its marks, and the offsets of the selection or cursor that they mark.
func marked(t *testing.T, text string) (plain string, start, end int) {
	t.Helper()
	if before, after, ok := strings.Cut(text, "¦"); ok {
		return before + after, len(before), len(before)
	}
	before, rest, ok := strings.Cut(text, "«")
	require.True(t, ok, "no mark in %s", text)
	selected, after, ok := strings.Cut(rest, "»")
	require.True(t, ok, "no end of the mark in %s", text)
	return before + selected + after, len(before), len(before) + len(selected)
}

func applied(text string, edits []diag.Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b diag.Edit) int { return int(b.Range.Start - a.Range.Start) })
	for _, e := range edits {
		text = text[:e.Range.Start] + e.Text + text[e.Range.End:]
	}
	return text
}

func snapshotOf(text string) *editor.Snapshot {
	s := editor.NewSession(newOpener())
	s.Open(file, text)
	return s.Snapshot()
}

// looked returns the graph of a program and the number of its findings by code.
func looked(t *testing.T, text string) (graph []check.Vertex, found map[diag.Code]int) {
	t.Helper()
	p, err := snapshotOf(text).Program(t.Context(), file)
	require.NoError(t, err)
	found = map[diag.Code]int{}
	for _, d := range p.Findings {
		if d.Severity <= diag.Info {
			found[d.Code]++
		}
	}
	for _, v := range p.Checked.Graph() {
		v.Line = 0
		slices.Sort(v.Needs)
		graph = append(graph, v)
	}
	return graph, found
}

// TestActions applies the actions offered at marked positions. No resulting program may have a new finding, and actions
// that rewrite or fill in must not change the graph.
func TestActions(t *testing.T) {
	t.Parallel()
	corpus.Run(t, *update, func(t *testing.T, archive *txtar.Archive) (out []txtar.File) {
		for _, f := range archive.Files {
			name := strings.TrimPrefix(f.Name, "case/")
			text, start, end := marked(t, string(f.Data))
			actions, err := editor.Actions(t.Context(), snapshotOf(text), file, start, end)
			require.NoError(t, err, name)
			graph, found := looked(t, text)
			var b strings.Builder
			for _, action := range actions {
				require.Len(t, action.Edits, 1, name)
				after := applied(text, action.Edits[file])
				fmt.Fprintf(&b, "== %s\n%s", action.Title, after)
				if action.Snippet != "" {
					fmt.Fprintf(&b, "== as a snippet%s\n", action.Snippet)
				}
				if action.Renamed != "" {
					fmt.Fprintf(&b, "== as %s\n", action.Renamed)
				}
				graphAfter, foundAfter := looked(t, after)
				for code, n := range foundAfter {
					require.LessOrEqual(t, n, found[code], "%s: %s: %s in\n%s", name, action.Title, code, after)
				}
				if action.Kind == editor.RewriteAction || action.Kind == editor.FillAction {
					require.Equal(t, graph, graphAfter, "%s: %s", name, action.Title)
				}
			}
			out = append(out, txtar.File{Name: corpus.Outcome + name, Data: []byte(b.String())})
		}
		return out
	}, "testdata/actions.txtar")
}
