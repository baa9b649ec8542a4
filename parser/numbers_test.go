package parser

import (
	"fmt"
	"math/big"
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

// Whole numbers in all notations are what big numbers say, around the largest one that a double has exactly too.
func TestParseNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetUint64(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 99),
			rapid.Uint64Range(1<<53-9, 1<<53+9)).Draw(t, "number"))
		base := rapid.SampledFrom([]int{2, 8, 10, 16}).Draw(t, "base")
		prefix := map[int]string{2: "0b", 8: "0o", 10: "", 16: "0X"}[base]
		sign := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign")
		number, integer, exact, ok := parseNumber(sign + prefix + n.Text(base))
		if sign == "-" {
			n.Neg(n)
		}
		want, _ := new(big.Float).SetInt(n).Float64()
		require.Equal(t, []any{want, true, keepsDigits(n, want), true}, []any{number, integer, exact, ok})
	})
}
