package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// archived returns the programs of the repository's archives by name.
func archived(tb testing.TB) map[string]string {
	tb.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"../parser/testdata/*.txtar", "testdata/corpus/*.txtar", "../eval/testdata/*/*.txtar",
		"../cmd/internal/cli/testdata/*/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(tb, err)
		for _, path := range paths {
			archive, err := txtar.ParseFile(path)
			require.NoError(tb, err)
			for _, f := range archive.Files {
				if strings.HasSuffix(f.Name, ".yaml") {
					texts[path+"/"+f.Name] = string(f.Data)
				}
			}
		}
	}
	paths, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(tb, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(tb, err)
		texts[path] = string(text)
	}
	return texts
}

// whole returns the findings as a user sees them, in order.
func whole(diags diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags.Sorted() {
		fmt.Fprintf(&b, "%d-%d %s %s: %s (%s)\n", d.Subject.Start, d.Subject.End, d.Severity, d.Code, d.Summary, d.Detail)
		for _, r := range d.Related {
			fmt.Fprintf(&b, "  %d-%d %s\n", r.Range.Start, r.Range.End, r.Message)
		}
		for _, fix := range d.Fixes {
			for _, e := range fix.Edits {
				fmt.Fprintf(&b, "  %s: %d-%d %q\n", fix.Label, e.Range.Start, e.Range.End, e.Text)
			}
		}
	}
	return b.String()
}

// TestBlocksAreCheckedAsAWhole checks every program twice: parsed by blocks, and parsed as one text. Findings and graph
// must be equal.
func TestBlocksAreCheckedAsAWhole(t *testing.T) {
	t.Parallel()
	programs := archived(t)
	require.Greater(t, len(programs), 200)
	for name, text := range programs {
		options := check.Options{Project: "p", Schemas: loader()}
		file, parsed := parser.Parse(diag.NewSource("x", []byte(text)), parser.Options{})
		program, found := check.Check(t.Context(), file, options)
		parsed.Add(found...)
		document := parser.NewDocument(diag.NewSource("x", []byte(text)))
		blocks, parsedToo := document.File(parser.Options{})
		same, foundToo := check.Check(t.Context(), blocks, options)
		parsedToo.Add(foundToo...)
		require.Equal(t, whole(parsed), whole(blocks.Origins.Findings(parsedToo)), name)
		require.Equal(t, program.Graph(), same.Graph(), name)
	}
}
