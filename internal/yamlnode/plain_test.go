package yamlnode

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
)

// sameTree describes the first difference between two trees; empty if there is none.
func sameTree(a, b *Node) string {
	x, y := *a, *b
	x.Content, y.Content = nil, nil
	if x.Kind != y.Kind || x.Style != y.Style || x.TagText() != y.TagText() || x.Value != y.Value ||
		x.Anchor() != y.Anchor() || x.Kind == Alias || x.Start != y.Start || x.End != y.End || x.indent != y.indent {
		return describeNode(a) + " and " + describeNode(b)
	}
	if len(a.Content) != len(b.Content) {
		return describeNode(a) + " has another number of members"
	}
	for i := range a.Content {
		if found := sameTree(a.Content[i], b.Content[i]); found != "" {
			return found
		}
	}
	return ""
}

func describeNode(n *Node) string {
	return fmt.Sprintf("%s %s %q from %d to %d, in column %d, style %d", KindName(n), n.TagText(), diag.Excerpt(n.Value),
		n.Start, n.End, n.indent, n.Style)
}

// agrees compares the trees of plainTree and the YAML parser for one text. It returns false if plainTree does not
// support the text.
func agrees(t testing.TB, text []byte) bool {
	t.Helper()
	plain := plainTree(text)
	if plain == nil {
		return false
	}
	if lexed := lex(text); lexed.TooDeep >= 0 {
		return false // it is rejected before it is parsed
	}
	root, err := unmarshalAny(text, text)
	require.NoError(t, err, "%q", text)
	require.NotNil(t, root, "%q", text)
	require.Empty(t, sameTree(plain, root), "%q", text)
	return true
}

func FuzzPlainTree(f *testing.F) {
	for _, text := range slices.Concat(corpus.Awkward, plainTexts) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agrees(t, text) })
}

var plainTexts = []string{
	"a: b\n", "a:\n  b: c # d\n\n# e\n  f: [g, 'h i', {j: k, \"l\":1}]\n", "a:\n- b\n- c: d\n  e:\nf:\n",
	"a: |\n  b\n\n  c\nd: >-\n  e\n  f\n", "{\"a\": {\"b\": [1, 2.5, null, true]},\n \"c\": \"d\\n\"}\n",
	"a: 0x1F\nb: 010\nc: 1_000\nd: 2001-01-01\ne: .5\nf: ~\ng: 1e3\n", "a:\n  - - b\n    - c\n  -\n    d\n",
	"a : b\n\"c d\" : 'it''s'\n", "a: ${b}\nc: [\"${d}\"]\n", "a: b:c#d\ne: -f\n",
}

// TestPlainTree compares plainTree with the YAML parser for the programs of the archives and for random edits of them.
// plainTree must support more than half of the unedited programs.
func TestPlainTree(t *testing.T) {
	t.Parallel()
	var texts [][]byte
	for _, pattern := range []string{"../../parser/testdata/*.txtar", "../../check/testdata/*.txtar", "../../eval/testdata/*/*.txtar",
		"../../examples/*/Pulumi.yaml", "../../examples/*/Main.yaml"} {
		paths := testfile.Match(t, pattern)
		for _, path := range paths {
			data := testfile.Bytes(t, path)
			if !strings.HasSuffix(path, ".txtar") {
				texts = append(texts, data)
				continue
			}
			for _, file := range txtar.Parse(data).Files {
				if ext := filepath.Ext(file.Name); ext == ".yaml" || ext == ".json" {
					texts = append(texts, file.Data)
				}
			}
		}
	}
	for _, text := range plainTexts {
		require.True(t, agrees(t, []byte(text)), text)
		texts = append(texts, []byte(text))
	}
	texts = append(texts, corpus.Resources(3))
	require.True(t, agrees(t, corpus.Resources(20)))
	for _, text := range corpus.Awkward {
		texts = append(texts, []byte(text))
	}
	plain, edited := 0, 0
	random := rand.New(rand.NewPCG(1, 1))
	for _, text := range texts {
		if agrees(t, text) {
			plain++
		}
		for range 8 {
			changed := text
			for range 1 + random.IntN(3) {
				start, end, text := corpus.Edit(random, changed)
				changed = slices.Concat(changed[:start], []byte(text), changed[min(end, len(changed)):])
			}
			if agrees(t, changed) {
				edited++
			}
		}
	}
	t.Logf("%d of %d texts are plain, and %d of those made of them", plain, len(texts), edited)
	require.Greater(t, plain*2, len(texts))
}
