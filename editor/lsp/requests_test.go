package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

const asked = "variables:\n  size: 3\n  text: ${join(\"-\", [])}\noutputs:\n  o: ${size}\n"

func (c *client) at(line, character uint32) protocol.TextDocumentPositionParams {
	return protocol.TextDocumentPositionParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri},
		Position: protocol.Position{Line: line, Character: character}}
}

// answers compares a whole answer with its JSON.
func answers(t *testing.T, want string, answer any) {
	t.Helper()
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	require.JSONEq(t, want, string(text))
}

const (
	declared = `{"start":{"line":1,"character":2},"end":{"line":1,"character":6}}`
	used     = `{"start":{"line":4,"character":7},"end":{"line":4,"character":11}}`
	document = `"uri":"file:///project/Pulumi.yaml"`
)

// TestRequestsAtAPlace sends the requests about a position.
func TestRequestsAtAPlace(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open(asked)
	hover, err := c.server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: c.at(4, 8)})
	require.NoError(t, err)
	answers(t, `{"contents":{"kind":"markdown","value":"`+"```\\nvariable size: integer\\n```"+`"},"range":`+used+`}`, hover)
	help, err := c.server.SignatureHelp(t.Context(),
		&protocol.SignatureHelpParams{TextDocumentPositionParams: c.at(2, 15)})
	require.NoError(t, err)
	answers(t, `[{"label":"join(delimiter: string?, items: list<string or number or bool>) string",
		"documentation":{"kind":"markdown","value":"The items of a list as one string, with a delimiter between them."},
		"parameters":[
			{"label":"delimiter","documentation":{"kind":"markdown","value":"the string between two items; null for none"}},
			{"label":"items","documentation":{"kind":"markdown","value":"strings, numbers or booleans"}}]}]`, help.Signatures)
	found, err := c.server.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: c.at(4, 8)})
	require.NoError(t, err)
	answers(t, `[{`+document+`,"range":`+declared+`}]`, found)
	references := &protocol.ReferenceParams{TextDocumentPositionParams: c.at(1, 3)}
	references.Context.IncludeDeclaration = true
	uses, err := c.server.References(t.Context(), references)
	require.NoError(t, err)
	answers(t, `[{`+document+`,"range":`+declared+`},{`+document+`,"range":`+used+`}]`, uses)
	ready, err := c.server.PrepareRename(t.Context(),
		&protocol.PrepareRenameParams{TextDocumentPositionParams: c.at(4, 8)})
	require.NoError(t, err)
	answers(t, `{"range":`+used+`,"placeholder":"size"}`, ready)
	rename := &protocol.RenameParams{NewName: "width"}
	rename.TextDocumentPositionParams = c.at(4, 8)
	edit, err := c.server.Rename(t.Context(), rename)
	require.NoError(t, err)
	answers(t, `{"changes":{"file:///project/Pulumi.yaml":[{"range":`+declared+`,"newText":"width"},
		{"range":`+used+`,"newText":"width"}]}}`, edit)
}

// TestRequestsAboutAFile requests the symbols of a file and of the workspace, and the edits that format the file.
func TestRequestsAboutAFile(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  size:   3\n")
	symbols, err := c.server.DocumentSymbol(t.Context(),
		&protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}})
	require.NoError(t, err)
	answers(t, `[{"name":"size","detail":"variable","kind":13,"selectionRange":`+declared+`,"children":[],
		"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":11}}}]`, symbols)
	all, err := c.server.Symbols(t.Context(), &protocol.WorkspaceSymbolParams{Query: "siz"})
	require.NoError(t, err)
	answers(t, `[{"name":"size","kind":13,"location":{`+document+`,"range":`+declared+`}}]`, all)
	edits, err := c.server.Formatting(t.Context(),
		&protocol.DocumentFormattingParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}})
	require.NoError(t, err)
	answers(t, `[{"range":{"start":{"line":1,"character":8},"end":{"line":1,"character":10}},"newText":""}]`, edits)
}

// TestCompletionResolve checks that the list of completions leaves out documentation if the client can resolve it.
func TestCompletionResolve(t *testing.T) {
	t.Parallel()
	lazy := protocol.ClientCapabilities{TextDocument: &protocol.TextDocumentClientCapabilities{
		Completion: &protocol.CompletionClientCapabilities{CompletionItem: &protocol.ClientCompletionItemOptions{
			ResolveSupport: protocol.ClientCompletionItemResolveOptions{Properties: []string{"documentation"}}}}}}
	for name, capabilities := range map[string]protocol.ClientCapabilities{"lazy": lazy, "all": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connectAs(t, capabilities)
			c.open("outputs:\n  o: ${joi}\n")
			answer, err := c.server.Completion(t.Context(),
				&protocol.CompletionParams{TextDocumentPositionParams: c.at(1, 10)})
			require.NoError(t, err)
			list := answer.(*protocol.CompletionList)
			require.Len(t, list.Items, 1)
			item := list.Items[0]
			require.Equal(t, "join", item.Label)
			require.Equal(t, name == "all", item.Documentation != nil)
			whole, err := c.server.CompletionResolve(t.Context(), &item)
			require.NoError(t, err)
			answers(t, `{"kind":"markdown","value":"The items of a list as one string, with a delimiter between them."}`,
				whole.Documentation)
			item.Documentation, item.Data = nil, []byte("[0,0]")
			none, err := c.server.CompletionResolve(t.Context(), &item)
			require.NoError(t, err)
			require.Nil(t, none.Documentation, "of a list that is no more")
		})
	}
}

// TestFilesComeAndGo sends notifications about saved, changed and closed files.
func TestFilesComeAndGo(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open(sample)
	document := protocol.TextDocumentIdentifier{URI: c.uri}
	require.NoError(t, c.server.DidSave(t.Context(), &protocol.DidSaveTextDocumentParams{TextDocument: document}))
	require.Len(t, c.next().Diagnostics, 1, "what lies on disk is looked at again")
	require.NoError(t, c.server.DidChangeWatchedFiles(t.Context(), &protocol.DidChangeWatchedFilesParams{}))
	require.Len(t, c.next().Diagnostics, 1)
	require.NoError(t, c.server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: document}))
	for params := range c.published {
		if params.URI == c.uri && len(params.Diagnostics) == 0 {
			return // the findings of a closed text are withdrawn
		}
	}
}
