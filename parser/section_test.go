package parser

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

// TestEntriesApart reads long sections in parallel and sequentially. Trees and findings must be equal, also with
// duplicate entries, names with white space, aliases, and more findings than the limit.
func TestEntriesApart(t *testing.T) {
	t.Parallel()
	faulty := func(n int) string {
		return strings.ReplaceAll(string(corpus.Resources(n)), "    properties:\n",
			"    bogus: 1\n    properties:\n      a b: ${a b}\n      \"c\": ${d\n      \"c\": 1\n")
	}
	texts := []string{string(corpus.Resources(200)), faulty(150), faulty(1100),
		"variables:\n  a: &x {b: 1}\n" + strings.Repeat("  y: *x\n", 300)}
	random := rand.New(rand.NewPCG(*seed, 3))
	for range 10 {
		text := corpus.Resources(150)
		for range 20 {
			e := edit(random, text)
			text = bytes.Join([][]byte{text[:e.Start], []byte(e.Text), text[min(e.End, len(text)):]}, nil)
		}
		texts = append(texts, string(text))
	}
	apart := 0
	for i, text := range texts {
		src := diag.NewSource("Main.yaml", []byte(text))
		file, diags := Parse(src, Options{})
		whole := newText(src)
		o := whole.outline(Options{}, false)
		if o == nil {
			continue
		}
		if o.in.independent {
			apart++
		}
		o.in.independent = false
		alone, found := o.finish()
		var trees [2]bytes.Buffer
		require.NoError(t, asttest.Dump(&trees[0], alone))
		require.NoError(t, asttest.Dump(&trees[1], file))
		require.Equal(t, trees[0].String(), trees[1].String(), i)
		require.Equal(t, fmt.Sprintf("%+v", []diag.Diagnostic(found)), fmt.Sprintf("%+v", []diag.Diagnostic(diags)), i)
	}
	require.GreaterOrEqual(t, apart, 2)
}
