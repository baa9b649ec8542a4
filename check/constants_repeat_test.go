package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checker does not expand a constant that grows exponentially through variables. It leaves it to the evaluator,
// which has a budget.
func TestConstantsThatRepeat(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("variables:\n  v0: [a]\n")
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&b, "  v%d: ['${v%d}', '${v%d}']\n", i, i-1, i-1)
	}
	b.WriteString("outputs: {x: {fn::select: [5, '${v60}']}, y: {fn::select: [5, [a]]}}\n")
	text := b.String()
	_, diags := checkText(t, "Main.yaml", text)
	require.Len(t, diags, 1, "of what is short the fault is found")
	require.Contains(t, diags[0].Summary, "is past the end of the list")
}
