package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

// TestFoldingRanges requests the folds of a file.
func TestFoldingRanges(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("# one\n# two\n" + sample)
	folds, err := c.server.FoldingRanges(t.Context(),
		&protocol.FoldingRangeParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}})
	require.NoError(t, err)
	require.Equal(t, []protocol.FoldingRange{{StartLine: 0, EndLine: 1, Kind: protocol.FoldingRangeKindComment},
		{StartLine: 2, EndLine: 4}, {StartLine: 5, EndLine: 6}}, folds)
}

// TestSelectionRange requests the ranges around a position behind a character of two UTF-16 units.
func TestSelectionRange(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open(sample)
	found, err := c.server.SelectionRange(t.Context(), &protocol.SelectionRangeParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}, Positions: []protocol.Position{{Line: 1, Character: 16}}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	var columns [][2]uint32
	for r := &found[0]; r != nil && r.Range.Start.Line == r.Range.End.Line; r = r.Parent {
		columns = append(columns, [2]uint32{r.Range.Start.Character, r.Range.End.Character})
	}
	require.Equal(t, [][2]uint32{{15, 22}, {13, 23}, {10, 23}, {9, 24}, {2, 24}}, columns)
}
