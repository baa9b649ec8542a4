package check_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// misspelt returns a program with n names and n uses of similar names.
func misspelt(n int) string {
	var b strings.Builder
	b.WriteString("variables:\n")
	for i := range n {
		fmt.Fprintf(&b, "  resource%05d: %d\n", i, i)
	}
	b.WriteString("outputs:\n")
	for i := range n {
		fmt.Fprintf(&b, "  o%d: [\"${resuorce%05d}\", \"${resource%05d}\"]\n", i, i, i)
	}
	return b.String()
}

// Each of thousands of misspelt names has a finding with a fix.
func TestManyMisspeltNames(t *testing.T) {
	t.Parallel()
	const n = 5000
	text := misspelt(n)
	_, found := checkText(t, "Main.yaml", text)
	require.Len(t, found, n)
	fixed, count := applied(text, found)
	require.Equal(t, n, count)
	require.NotContains(t, fixed, "resuorce")
}

// countedContext is cancelled after a number of calls of Err.
type countedContext struct {
	context.Context
	left atomic.Int64
}

func (c *countedContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A cancelled check ends at the next node and does not check the following ones.
func TestCancelledCheck(t *testing.T) {
	t.Parallel()
	file, _ := parser.Parse(diag.NewSource("Main.yaml", []byte(misspelt(2000))), parser.Options{})
	for _, looks := range []int64{0, 1, 1500, 2500, 3500} {
		ctx := &countedContext{Context: t.Context()}
		ctx.left.Store(looks)
		_, found := check.Check(ctx, file, check.Options{Project: "p"})
		require.Less(t, len(found), 2000, looks)
		require.Greater(t, ctx.left.Load(), int64(-50), "it goes on although nobody wants the answer")
	}
	_, found := check.Check(t.Context(), file, check.Options{Project: "p"})
	require.Len(t, found, 2000)
}
