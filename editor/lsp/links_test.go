package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// TestDocumentLink requests the links of a text.
func TestDocumentLink(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  smile: \"😀 ${readFile('a.txt')}\"\n  b:\n    fn::readFile: ./b.txt\n")
	found, err := c.server.DocumentLink(t.Context(),
		&protocol.DocumentLinkParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}})
	require.NoError(t, err)
	target := uri.File("/project/b.txt")
	require.Contains(t, found, protocol.DocumentLink{Target: &target, Range: protocol.Range{
		Start: protocol.Position{Line: 3, Character: 18}, End: protocol.Position{Line: 3, Character: 25}}})
}
