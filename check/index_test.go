package check_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// An index with a fraction has exactly one finding, and a whole one has none, also behind a variable.
func TestIndexesAreWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		index := float64(rapid.IntRange(0, 11).Draw(rt, "quarters")) / 4
		written := strconv.FormatFloat(index, 'f', -1, 64)
		text := "variables:\n  list: [a, b, c]\n  n: " + written + "\noutputs: {a: \"${list[" +
			rapid.SampledFrom([]string{written, "n"}).Draw(rt, "index") + "]}\"}\n"
		_, found := checkText(t, "Main.yaml", text)
		found = withoutNotes(found)
		if index == math.Trunc(index) {
			require.Empty(rt, found, text)
			return
		}
		require.Len(rt, found, 1, text)
		require.Equal(rt, diag.NotIndexable, found[0].Code, text)
	})
}

// withoutNotes returns the errors and warnings.
func withoutNotes(found diag.Diagnostics) (faults diag.Diagnostics) {
	for _, d := range found {
		if d.Severity != diag.Portability {
			faults.Add(d)
		}
	}
	return faults
}
