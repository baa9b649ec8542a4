package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

// TestCallHierarchy requests the dependents and dependencies of a variable.
func TestCallHierarchy(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  one: 1\n  two: \"😀 ${one}\"\noutputs:\n  o: ${two}\n")
	params := &protocol.CallHierarchyPrepareParams{}
	params.TextDocument.URI, params.Position = c.uri, protocol.Position{Line: 2, Character: 3}
	items, err := c.server.PrepareCallHierarchy(t.Context(), params)
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Equal(t, "two", items[0].Name)
	require.Equal(t, c.uri, items[0].URI)
	onLine := func(line, start, end uint32) protocol.Range {
		return protocol.Range{Start: protocol.Position{Line: line, Character: start},
			End: protocol.Position{Line: line, Character: end}}
	}
	require.Equal(t, onLine(2, 2, 5), items[0].SelectionRange)
	incoming, err := c.server.IncomingCalls(t.Context(), &protocol.CallHierarchyIncomingCallsParams{Item: items[0]})
	require.NoError(t, err)
	require.Len(t, incoming, 1)
	require.Equal(t, "o", incoming[0].From.Name)
	require.Equal(t, []protocol.Range{onLine(4, 7, 10)}, incoming[0].FromRanges)
	outgoing, err := c.server.OutgoingCalls(t.Context(), &protocol.CallHierarchyOutgoingCallsParams{Item: items[0]})
	require.NoError(t, err)
	require.Len(t, outgoing, 1)
	require.Equal(t, "one", outgoing[0].To.Name)
	require.Equal(t, []protocol.Range{onLine(2, 13, 16)}, outgoing[0].FromRanges)
}
