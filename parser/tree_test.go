package parser

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestTree checks the byte offsets of nodes in a text with multi-byte characters, and that an alias refers to the node
// of its anchor.
func TestTree(t *testing.T) {
	t.Parallel()
	text := []byte("é: &a [ü, {b: |2\n   x\n}]\nc: *a\n")
	_, err := readTree(text, lex(text))
	require.Error(t, err) // a literal scalar cannot be inside of brackets
	text = []byte("é: &a [ü, {b: 1}]\nc: *a\nd:\n  e: |\n    x\n")
	root, err := readTree(text, lex(text))
	require.NoError(t, err)
	source := func(n *node) string { return string(text[n.start:n.end]) }
	require.Equal(t, strings.TrimSuffix(string(text), "\n"), source(root))
	list := root.content[1]
	require.Equal(t, "&a [ü, {b: 1}]", source(list))
	require.Equal(t, "ü", source(list.content[0]))
	require.Equal(t, "{b: 1}", source(list.content[1]))
	require.Same(t, list, root.content[3].target())
	require.Equal(t, "*a", source(root.content[3]))
	literal := root.content[5].content[1]
	require.Equal(t, "|\n    x", source(literal))
	require.Equal(t, 2, literal.indent)
}

// TestPassage converts offsets in a block, which is parsed behind the key of its section, to the whole text and back.
func TestPassage(t *testing.T) {
	t.Parallel()
	whole := "variables:\n  a: 1\n  b: 2\n"
	lead, origin := "variables:\n", strings.Index(whole, "  b")
	p := passage{src: diag.NewSource("Main.yaml", []byte(whole)), text: []byte(lead + whole[origin:]), lead: len(lead),
		origin: origin}
	rng := p.at(len(lead)+2, len(lead)+3)
	require.Equal(t, "b", rng.Text())
	require.Equal(t, len(lead)+2, p.offset(rng.Start))
	require.Equal(t, 3, p.shownLine(rng))
	require.True(t, p.namesLines)
	require.Empty(t, p.at(0, 3).Text(), "what stands in front is not a part of the text")
}

// TestAliases checks the limit on nodes read through aliases. Only the first node beyond it is reported as such.
func TestAliases(t *testing.T) {
	t.Parallel()
	var a aliases
	n := &node{}
	ok, _ := a.tally()
	require.True(t, ok, "nothing is counted outside of an alias")
	require.Zero(t, a.expanded)
	a.enter(n)
	require.True(t, a.inside[n])
	a.expanded = maxExpansion - 1
	var told int
	for i := range 3 {
		ok, first := a.tally()
		require.Equal(t, i == 0, ok)
		if first {
			told++
		}
	}
	require.Equal(t, 1, told)
	a.leave(0)
	require.False(t, a.inside[n])
	require.False(t, a.any())
}

// TestMend repairs lines by increasingly strong means. The length of the text must not change, and the repairs and lost
// keys must be recorded.
func TestMend(t *testing.T) {
	t.Parallel()
	text := []byte("a: [1\nkey\n  b: 2\nc: 3\n")
	length := len(text)
	var r repairs
	require.True(t, r.mend(text, 1, 0))
	require.Equal(t, "a: xx\nkey\n  b: 2\nc: 3\n", string(text))
	require.True(t, r.mended(3))
	require.True(t, r.mend(text, 2, 0))
	require.Equal(t, "a: xx\nke:\n  b: 2\nc: 3\n", string(text))
	fix, ok := r.mendedKey(6)
	require.True(t, ok)
	require.Equal(t, "key", fix.key)
	require.True(t, r.mend(text, 2, 0), "the line goes, and what stands below it")
	require.Equal(t, "a: xx\n   \n      \nc: 3\n", string(text))
	require.Equal(t, []string{"ke", "b"}, r.lost)
	require.False(t, r.mend(text, 2, 0))
	require.Len(t, text, length)
}
