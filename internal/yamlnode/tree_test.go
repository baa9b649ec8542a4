package yamlnode

import (
	"strings"
	"testing"
	"unsafe"

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
	source := func(n *Node) string { return string(text[n.Start:n.End]) }
	require.Equal(t, strings.TrimSuffix(string(text), "\n"), source(root))
	list := root.Content[1]
	require.Equal(t, "&a [ü, {b: 1}]", source(list))
	require.Equal(t, "ü", source(list.Content[0]))
	require.Equal(t, "{b: 1}", source(list.Content[1]))
	require.Same(t, list, root.Content[3].Target())
	require.Equal(t, "*a", source(root.Content[3]))
	literal := root.Content[5].Content[1]
	require.Equal(t, "|\n    x", source(literal))
	require.EqualValues(t, 2, literal.indent)
}

// TestText converts offsets in a block, which is parsed behind the key of its section, to the whole text and back.
func TestText(t *testing.T) {
	t.Parallel()
	whole := "variables:\n  a: 1\n  b: 2\n"
	lead, origin := "variables:\n", strings.Index(whole, "  b")
	p := Text{Source: diag.NewSource("Main.yaml", []byte(whole)), Bytes: []byte(lead + whole[origin:]), Lead: len(lead),
		Origin: origin}
	rng := p.At(len(lead)+2, len(lead)+3)
	require.Equal(t, "b", rng.Text())
	require.Equal(t, len(lead)+2, p.Offset(rng.Start))
	require.Equal(t, 3, p.ShownLine(rng))
	require.True(t, p.NamesLines)
	require.Empty(t, p.At(0, 3).Text(), "what stands in front is not a part of the text")
}

// TestMend repairs lines by increasingly strong means. The length of the text must not change, and the repairs and lost
// keys must be recorded.
func TestMend(t *testing.T) {
	t.Parallel()
	text := []byte("a: [1\nkey\n  b: 2\nc: 3\n")
	length := len(text)
	var r Repairs
	require.True(t, r.mend(text, 1, 0))
	require.Equal(t, "a: xx\nkey\n  b: 2\nc: 3\n", string(text))
	require.True(t, r.Mended(3))
	require.True(t, r.mend(text, 2, 0))
	require.Equal(t, "a: xx\nke:\n  b: 2\nc: 3\n", string(text))
	fix, ok := r.MendedKey(6)
	require.True(t, ok)
	require.Equal(t, "key", fix.Key)
	require.True(t, r.mend(text, 2, 0), "the line goes, and what stands below it")
	require.Equal(t, "a: xx\n   \n      \nc: 3\n", string(text))
	require.Equal(t, []string{"ke", "b"}, r.Lost)
	require.False(t, r.mend(text, 2, 0))
	require.Len(t, text, length)
}

// A large program has a million nodes, so that a field more for each of them is megabytes.
func TestSizeOfNode(t *testing.T) {
	t.Parallel()
	if unsafe.Sizeof(uintptr(0)) == 8 {
		require.EqualValues(t, 72, unsafe.Sizeof(Node{}))
	}
}

// Copies of a node are edited without a change of the original: what both have beside the usual fields is replaced.
func TestExtrasOfCopies(t *testing.T) {
	t.Parallel()
	root, err := Parse([]byte("a: &x !Ref b\nc: *x\nd: !!set {}\n"))
	require.NoError(t, err)
	n, alias := root.Content[1], root.Content[3]
	require.Equal(t, []any{OtherTag, "!Ref", "x"}, []any{n.Tag, n.TagText(), n.Anchor()})
	require.Equal(t, "!!set", root.Content[5].TagText())
	require.Same(t, n, alias.Target())
	copied := *n
	copied.SetHead("# above")
	copied.DropAnchor()
	require.Equal(t, []any{"!Ref", "", "# above"}, []any{copied.TagText(), copied.Anchor(), copied.Head()})
	copied.Tag = StringTag
	require.Equal(t, "!!str", copied.TagText())
	require.Equal(t, []any{"!Ref", "x", ""}, []any{n.TagText(), n.Anchor(), n.Head()})
}
