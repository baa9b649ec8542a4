package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

// TestLinkedEditing requests the linked ranges and the highlights of a name, which must be equal.
func TestLinkedEditing(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  one: 1\n  two: \"😀 ${one}\"\n")
	onLine := func(line, start, end uint32) protocol.Range {
		return protocol.Range{Start: protocol.Position{Line: line, Character: start},
			End: protocol.Position{Line: line, Character: end}}
	}
	places := []protocol.Range{onLine(1, 2, 5), onLine(2, 13, 16)}
	params := &protocol.LinkedEditingRangeParams{}
	params.TextDocument.URI, params.Position = c.uri, protocol.Position{Line: 2, Character: 14}
	linked, err := c.server.LinkedEditingRange(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, places, linked.Ranges)
	highlight := &protocol.DocumentHighlightParams{TextDocumentPositionParams: params.TextDocumentPositionParams}
	shown, err := c.server.DocumentHighlight(t.Context(), highlight)
	require.NoError(t, err)
	require.Len(t, shown, 2)
	for i := range shown {
		require.Equal(t, places[i], shown[i].Range)
	}
	params.Position = protocol.Position{Line: 1, Character: 7}
	linked, err = c.server.LinkedEditingRange(t.Context(), params)
	require.NoError(t, err)
	require.Nil(t, linked)
}

// TestCapabilities checks the announced capabilities.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	c := connect(t)
	said, err := c.server.Initialize(t.Context(), &protocol.InitializeParams{})
	require.NoError(t, err)
	has := said.Capabilities
	require.Equal(t, protocol.Boolean(true), has.FoldingRangeProvider)
	require.Equal(t, protocol.Boolean(true), has.SelectionRangeProvider)
	require.Equal(t, protocol.Boolean(true), has.InlayHintProvider)
	require.Equal(t, protocol.Boolean(true), has.CallHierarchyProvider)
	require.Equal(t, protocol.Boolean(true), has.LinkedEditingRangeProvider)
	require.NotNil(t, has.DocumentLinkProvider)
	tokens := has.SemanticTokensProvider.(*protocol.SemanticTokensOptions)
	require.Equal(t, []string{"keyword", "parameter", "variable", "class", "enumMember", "event", "type", "function",
		"property", "operator"}, tokens.Legend.TokenTypes)
	require.Equal(t, []string{"declaration"}, tokens.Legend.TokenModifiers)
	actions := has.CodeActionProvider.(*protocol.CodeActionOptions)
	require.Equal(t, []protocol.CodeActionKind{"quickfix", "refactor.extract", "refactor.inline", "refactor.move",
		"refactor.rewrite"}, actions.CodeActionKinds)
}
