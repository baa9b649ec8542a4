package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// FuzzFindings checks arbitrary texts. Every check must end, ranges must lie inside the text, fixes must apply, and a
// second check must give the same findings.
func FuzzFindings(f *testing.F) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(f, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(graphProgram))
	l := loader()
	f.Fuzz(func(t *testing.T, text []byte) {
		run := func() (*diag.Source, diag.Diagnostics) {
			src := diag.NewSource("x", text)
			file, found := parser.Parse(src, parser.Options{})
			_, more := check.Check(t.Context(), file, check.Options{Project: "p", Schemas: l})
			return src, append(found, more...).Sorted()
		}
		src, first := run()
		for _, d := range first {
			require.NotEmpty(t, d.Summary)
			require.NotEmpty(t, d.Code)
			require.GreaterOrEqual(t, d.Subject.Start, int32(0))
			require.LessOrEqual(t, int(d.Subject.End), len(text))
			require.LessOrEqual(t, d.Subject.Start, d.Subject.End)
		}
		diag.ApplyFixes(src, first)
		_, second := run()
		require.Equal(t, len(first), len(second))
		for i := range first {
			require.Equal(t, first[i].Summary, second[i].Summary)
			require.Equal(t, first[i].Detail, second[i].Detail)
			require.Equal(t, first[i].Subject.Start, second[i].Subject.Start)
		}
	})
}
