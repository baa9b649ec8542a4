package lsp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"pgregory.net/rapid"
)

// newTexts returns all texts that an answer would insert.
func newTexts(t *rapid.T, answer any) (texts []string) {
	data, err := json.Marshal(answer)
	require.NoError(t, err)
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, item := range v {
				if text, ok := item.(string); ok && key == "newText" {
					texts = append(texts, text)
				}
				walk(item)
			}
		}
	}
	var tree any
	require.NoError(t, json.Unmarshal(data, &tree))
	walk(tree)
	return texts
}

// Whatever the server inserts into a text with line breaks of Windows has those too: actions, fixes, completions and
// the formatted text.
func TestEditsKeepLineBreaks(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../examples/*/Pulumi.yaml")
	require.NoError(t, err)
	paths = append(paths, "")
	c, lines := connect(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		text := "resources:\n  a:\n    type: random:RandomPet\n    \noutputs:\n  b: ${a}\n  c: [1, {d: two}]\n"
		if path := rapid.SampledFrom(paths).Draw(rt, "program"); path != "" {
			data, err := os.ReadFile(path)
			require.NoError(rt, err)
			text = string(data)
		}
		all := strings.Split(text, "\n")
		line := rapid.IntRange(0, len(all)-1).Draw(rt, "line")
		at := protocol.Position{Line: uint32(line), Character: uint32(rapid.IntRange(0, len(all[line])).Draw(rt, "character"))}
		end := protocol.Position{Line: at.Line, Character: uint32(len(all[line]))}
		c.open(strings.ReplaceAll(text, "\n", "\r\n"))
		id := protocol.TextDocumentIdentifier{URI: c.uri}
		var texts []string
		for _, r := range []protocol.Range{{Start: at, End: at}, {Start: at, End: end}} {
			actions, err := c.server.CodeAction(t.Context(), &protocol.CodeActionParams{TextDocument: id, Range: r})
			require.NoError(rt, err)
			texts = append(texts, newTexts(rt, actions)...)
		}
		completed, err := c.server.Completion(t.Context(), &protocol.CompletionParams{
			TextDocumentPositionParams: protocol.TextDocumentPositionParams{TextDocument: id, Position: at}})
		require.NoError(rt, err)
		formatted, err := c.server.Formatting(t.Context(), &protocol.DocumentFormattingParams{TextDocument: id})
		require.NoError(rt, err)
		for _, text := range append(append(texts, newTexts(rt, completed)...), newTexts(rt, formatted)...) {
			lines += strings.Count(text, "\n")
			require.Equal(rt, strings.Count(text, "\n"), strings.Count(text, "\r\n"), "%q", text)
		}
	})
	require.Positive(t, lines, "some texts have several lines")
}
