package parser

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// An integer in a text and in an expression keeps its value, or there is a warning that it does not, in both alike.
func TestIntegersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		digits := rapid.StringMatching(`[1-9][0-9]{0,24}`).Draw(rt, "digits")
		number, err := strconv.ParseFloat(digits, 64)
		require.NoError(rt, err)
		kept := strconv.FormatFloat(number, 'f', -1, 64) == digits
		for _, value := range []string{digits, "${" + digits + "}", "${[" + digits + "]}"} {
			_, found := Parse(diag.NewSource("Main.yaml", fmt.Appendf(nil, "variables:\n  a: %s\n", value)), Options{})
			warned := 0
			for _, d := range found {
				if d.Code == diag.BadNumber && d.Severity == diag.Warning {
					warned++
				}
			}
			require.Equal(rt, !kept, warned == 1, value)
		}
	})
}
