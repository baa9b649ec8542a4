package yamlnode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
)

// FuzzLocate checks that every scalar of a YAML text can be decoded again from its range, and that the ranges of
// collections contain those of their members and end with the closing bracket.
func FuzzLocate(f *testing.F) {
	archives := testfile.Match(f, "../../parser/testdata/*.txtar")
	for _, path := range archives {
		data := testfile.Bytes(f, path)
		f.Add(data)
	}
	for _, text := range corpus.Awkward {
		f.Add([]byte(text))
	}
	f.Add(corpus.Resources(3))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree := Tree{Text: Text{Source: diag.NewSource("Main.yaml", text), Bytes: text}}
		if tree.Screen() != nil {
			return
		}
		root, err := Parse(text)
		if err != nil || root == nil {
			return
		}
		located(t, &tree.Text, root)
	})
}

func located(t *testing.T, p *Text, n *Node) {
	t.Helper()
	require.NotNil(t, p.Span(n).Source)
	require.LessOrEqual(t, n.End, len(p.Bytes))
	source := string(p.Bytes[n.Start:n.End])
	switch n.Kind {
	case Scalar:
		if m := mapScalar(p.Bytes, n); m == nil {
			t.Fatalf("the scalar %q cannot be read again from %q", n.Value, source)
		}
		if n.doubleQuoted() {
			require.True(t, strings.HasSuffix(source, `"`), source)
		}
	case Map, List:
		for _, child := range n.Content {
			require.LessOrEqual(t, n.Start, child.Start)
			require.LessOrEqual(t, child.End, n.End)
			located(t, p, child)
		}
		if content := contentStart(p.Bytes, n); n.Flow() && content < len(p.Bytes) {
			switch p.Bytes[content] {
			case '[':
				require.True(t, strings.HasSuffix(source, "]"), source)
			case '{':
				require.True(t, strings.HasSuffix(source, "}"), source)
			}
		}
	}
}
