package yamlnode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/corpus"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// TestDocumentsPlainly joins random texts, some of them broken by an edit, as documents of one text. The fast parser
// must read the same documents as the YAML library, or leave the text to it.
func TestDocumentsPlainly(t *testing.T) {
	t.Parallel()
	texts := slices.Concat(corpus.Awkward, plainTexts, []string{"# nothing\n", string(corpus.Resources(2))})
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var whole []byte
		for range rapid.IntRange(1, 4).Draw(t, "documents") {
			text := []byte(rapid.SampledFrom(texts).Draw(t, "text"))
			if rapid.Bool().Draw(t, "edited") {
				start, end, replacement := corpus.Edit(random, text)
				text = slices.Concat(text[:start], []byte(replacement), text[min(end, len(text)):])
			}
			whole = append(append(whole, text...), rapid.SampledFrom([]string{"---\n", "--- \n", "...\n", ""}).Draw(t, "end")...)
		}
		tree := NewTree(diag.NewSource("a.yaml", whole))
		if tree.Screen() != nil {
			return
		}
		quick, ok := plainDocuments(whole)
		if !ok {
			return
		}
		plain++
		documents, d := tree.documents()
		require.Nil(t, d, "%q", whole)
		documents = slices.DeleteFunc(documents, func(d *Document) bool { return IsNull(d.Root) && d.Root.End == d.Root.Start })
		require.Len(t, quick, len(documents), "%q", whole)
		for i := range quick {
			require.Empty(t, sameTree(quick[i], documents[i].Root), "%q", whole)
		}
	})
	require.Positive(t, plain)
}

// TestEncodeReadsBack encodes random texts that were read with their comments. The result must have the same nodes.
func TestEncodeReadsBack(t *testing.T) {
	t.Parallel()
	texts := slices.Concat(corpus.Awkward, plainTexts, []string{"# above\na: &x [1, 2] # behind\nb: *x\n# below\n"})
	read := 0
	for _, text := range texts {
		tree := NewTree(diag.NewSource("a.yaml", []byte(text)))
		if tree.Screen() != nil {
			continue
		}
		document, err := tree.Commented()
		if err != nil || document == nil {
			continue // not every awkward text is YAML
		}
		read++
		encoded, err := document.Encode()
		require.NoError(t, err, "%q", text)
		again, d := Documents(diag.NewSource("b.yaml", encoded))
		require.Nil(t, d, "%q", encoded)
		require.Len(t, again, 1, "%q", encoded)
		require.Equal(t, values(document.Root), values(again[0]), "%q becomes %q", text, encoded)
	}
	require.Greater(t, read, len(texts)*3/4)
}

// values lists the tags, values and anchors of a tree.
func values(n *Node) []string {
	list := []string{n.TagText(), n.Value, n.Anchor()}
	if IsNull(n) {
		list[1] = "" // null can be written in several ways
	}
	for _, child := range n.Content {
		list = append(list, values(child)...)
	}
	return list
}
