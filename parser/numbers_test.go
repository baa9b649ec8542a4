package parser

import (
	"fmt"
	"math/big"
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
		n, _ := new(big.Int).SetString(digits, 10)
		_, accuracy := new(big.Float).SetInt(n).Float64()
		for _, value := range []string{digits, "${" + digits + "}", "${[" + digits + "]}"} {
			_, found := Parse(diag.NewSource("Main.yaml", fmt.Appendf(nil, "variables:\n  a: %s\n", value)), Options{})
			warned := 0
			for _, d := range found {
				if d.Code == diag.BadNumber && d.Severity == diag.Warning {
					warned++
				}
			}
			require.Equal(rt, accuracy != big.Exact, warned == 1, value)
		}
	})
}
