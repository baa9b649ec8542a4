package parser

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// sameTree describes the first difference between two trees; empty if there is none.
func sameTree(a, b *node) string {
	x, y := *a, *b
	x.content, y.content = nil, nil
	if x.kind != y.kind || x.style != y.style || x.tag != y.tag || x.value != y.value || x.anchor != y.anchor ||
		x.alias != nil || y.alias != nil || x.start != y.start || x.end != y.end || x.indent != y.indent {
		return describeNode(a) + " and " + describeNode(b)
	}
	if len(a.content) != len(b.content) {
		return describeNode(a) + " has another number of members"
	}
	for i := range a.content {
		if found := sameTree(a.content[i], b.content[i]); found != "" {
			return found
		}
	}
	return ""
}

func describeNode(n *node) string {
	return fmt.Sprintf("%s %s %q from %d to %d, in column %d, style %d", kindName(n), n.tag, shorten(n.value), n.start,
		n.end, n.indent, n.style)
}

// agrees compares the trees of plainTree and the YAML parser for one text. It returns false if plainTree does not
// support the text.
func agrees(t testing.TB, text []byte) bool {
	t.Helper()
	plain := plainTree(text)
	if plain == nil {
		return false
	}
	if lexed := lex(text); lexed.tooDeep >= 0 {
		return false // it is rejected before it is parsed
	}
	root, err := unmarshalAny(text, text)
	require.NoError(t, err, "%q", text)
	require.NotNil(t, root, "%q", text)
	require.Empty(t, sameTree(plain, root), "%q", text)
	return true
}

func FuzzPlainTree(f *testing.F) {
	seeds(f)
	for _, text := range plainTexts {
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
	for _, pattern := range []string{"testdata/*.txtar", "../check/testdata/*.txtar", "../eval/testdata/*/*.txtar",
		"../examples/*/Pulumi.yaml", "../examples/*/Main.yaml"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
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
	texts = append(texts, generated(3))
	require.True(t, agrees(t, generated(20)))
	for _, text := range awkward {
		texts = append(texts, []byte(text))
	}
	plain, edited := 0, 0
	random := rand.New(rand.NewPCG(*seed, 1))
	for _, text := range texts {
		if agrees(t, text) {
			plain++
		}
		for range *edits {
			changed := text
			for range 1 + random.IntN(3) {
				e := edit(random, changed)
				changed = slices.Concat(changed[:e.Start], []byte(e.Text), changed[min(e.End, len(changed)):])
			}
			if agrees(t, changed) {
				edited++
			}
		}
	}
	t.Logf("%d of %d texts are plain, and %d of those made of them", plain, len(texts), edited)
	require.Greater(t, plain*2, len(texts))
}
