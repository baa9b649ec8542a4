package lsp_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

// TestSemanticTokens requests the tokens of a file and of some of its lines, with columns in UTF-16 units.
func TestSemanticTokens(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  two: 2\n  smile: \"😀 ${two}\"\n")
	document := protocol.TextDocumentIdentifier{URI: c.uri}
	full, err := c.server.SemanticTokensFull(t.Context(), &protocol.SemanticTokensParams{TextDocument: document})
	require.NoError(t, err)
	const keyword, variable, operator = 0, 2, 9
	require.Equal(t, []uint32{
		0, 0, 9, keyword, 0,
		1, 2, 3, variable, 1,
		1, 2, 5, variable, 1,
		0, 11, 2, operator, 0,
		0, 2, 3, variable, 0,
		0, 3, 1, operator, 0,
	}, full.Data)
	part, err := c.server.SemanticTokensRange(t.Context(), &protocol.SemanticTokensRangeParams{TextDocument: document,
		Range: protocol.Range{Start: protocol.Position{Line: 1}, End: protocol.Position{Line: 2}}})
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 2, 3, variable, 1}, part.Data)
}

// TestSemanticTokenDeltas applies the returned deltas to the previous tokens after each edit. The result must equal the
// tokens of the whole text.
func TestSemanticTokenDeltas(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  one: 1\n  two: ${one}\n")
	document := protocol.TextDocumentIdentifier{URI: c.uri}
	full := func() *protocol.SemanticTokens {
		all, err := c.server.SemanticTokensFull(t.Context(), &protocol.SemanticTokensParams{TextDocument: document})
		require.NoError(t, err)
		return all
	}
	first := full()
	known, name := first.Data, *first.ResultID
	for i, change := range []protocol.TextDocumentContentChangeEvent{
		partial(1, 0, 1, 0, "  zero: 0\n"), partial(1, 0, 1, 0, ""), partial(1, 0, 1, 0, "# a comment\n"),
		partial(1, 0, 1, 0, "  three: ${one}\n"), partial(0, 0, 0, 0, "# at the top\n\n"),
		partial(3, 2, 3, 7, "thirty"), partial(3, 0, 4, 0, ""), partial(0, 0, 2, 0, ""),
		partial(2, 7, 2, 7, " "), partial(4, 0, 4, 0, "outputs:\n  o: ${two}\n  p: \"😀 ${one}\"\n"),
		partial(5, 0, 6, 0, ""), partial(0, 0, 6, 0, ""), partial(0, 0, 0, 0, "variables:\n  a: ${a}\n"),
	} {
		c.change(change)
		answer, err := c.server.SemanticTokensFullDelta(t.Context(),
			&protocol.SemanticTokensDeltaParams{TextDocument: document, PreviousResultID: name})
		require.NoError(t, err)
		delta, ok := answer.(*protocol.SemanticTokensDelta)
		require.True(t, ok, "%T", answer)
		for _, e := range delta.Edits {
			known = slices.Concat(known[:e.Start], e.Data, known[e.Start+e.DeleteCount:])
		}
		all := full()
		require.Equal(t, all.Data, append([]uint32{}, known...), "edit %d", i)
		name = *all.ResultID
	}
	answer, err := c.server.SemanticTokensFullDelta(t.Context(),
		&protocol.SemanticTokensDeltaParams{TextDocument: document, PreviousResultID: "other"})
	require.NoError(t, err)
	require.IsType(t, &protocol.SemanticTokens{}, answer, "of an answer that is not known, all is told")
}
