package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

func (c *client) actions(only protocol.CodeActionKind, line, from, to uint32) []*protocol.CodeAction {
	c.t.Helper()
	params := &protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}, Range: protocol.Range{
		Start: protocol.Position{Line: line, Character: from}, End: protocol.Position{Line: line, Character: to}}}
	params.Context.Only = []protocol.CodeActionKind{only}
	found, err := c.server.CodeAction(c.t.Context(), params)
	require.NoError(c.t, err)
	var actions []*protocol.CodeAction
	for _, action := range found {
		actions = append(actions, action.(*protocol.CodeAction))
	}
	return actions
}

// TestActionsOfAKind requests actions of single kinds.
func TestActionsOfAKind(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  a: 1\noutputs:\n  o: ${a}\n  p: two\n")
	require.Len(t, c.actions("refactor", 3, 7, 7), 1)
	require.Empty(t, c.actions("refactor.extract", 3, 7, 7))
	inlined := c.actions("refactor.inline", 3, 7, 7)
	require.Len(t, inlined, 1)
	require.Equal(t, "Inline the variable a", inlined[0].Title)
	require.Len(t, inlined[0].Edit.Changes[c.uri], 2)
	require.Equal(t, "Extract to the variable p", c.actions("refactor.extract", 4, 5, 8)[0].Title)
}

// TestActionsThatRenameFiles checks that only clients that support renames are offered actions with one.
func TestActionsThatRenameFiles(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("outputs:\n  o: 1\n")
	require.Empty(t, c.actions("refactor.rewrite", 0, 0, 0))
	yes := true
	can := connectAs(t,
		protocol.ClientCapabilities{Workspace: &protocol.WorkspaceClientCapabilities{WorkspaceEdit: &protocol.WorkspaceEditClientCapabilities{
			DocumentChanges: &yes, ResourceOperations: []protocol.ResourceOperationKind{protocol.ResourceOperationKindRename}}}})
	can.open("outputs:\n  o: 1\n")
	actions := can.actions("refactor.rewrite", 0, 0, 0)
	require.Len(t, actions, 1)
	changes := actions[0].Edit.DocumentChanges
	require.Len(t, changes, 2)
	require.Equal(t, "{\n  \"outputs\": {\n    \"o\": 1\n  }\n}\n",
		changes[0].(*protocol.TextDocumentEdit).Edits[0].(*protocol.TextEdit).NewText)
	require.Equal(t, "file:///project/Pulumi.json", string(changes[1].(*protocol.RenameFile).NewURI))
}
