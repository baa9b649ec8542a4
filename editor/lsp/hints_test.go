package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

// TestInlayHint requests the hints for a range of a file.
func TestInlayHint(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("config:\n  a: {type: string}\noutputs:\n  \"😀\": ${a}\n  o: ${a}\n")
	found, err := c.server.InlayHint(t.Context(),
		&protocol.InlayHintParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri},
			Range: protocol.Range{Start: protocol.Position{Line: 2}, End: protocol.Position{Line: 4}}})
	require.NoError(t, err)
	require.Equal(t, []protocol.InlayHint{{Position: protocol.Position{Line: 3, Character: 12},
		Label: protocol.String(": string"), Kind: protocol.InlayHintKindType}}, found)
}
