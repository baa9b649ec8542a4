package lsp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"
)

// TestRenamedFiles requests the edits that update links before a file is renamed.
func TestRenamedFiles(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("outputs:\n  a: {fn::readFile: ./a.txt}\n")
	edit, err := c.server.WillRenameFiles(t.Context(), &protocol.RenameFilesParams{Files: []protocol.FileRename{
		{OldURI: "file:///project/a.txt", NewURI: "file:///project/sub/b.txt"}}})
	require.NoError(t, err)
	require.Len(t, edit.Changes[c.uri], 1)
	require.Equal(t, "./sub/b.txt", edit.Changes[c.uri][0].NewText)
	none, err := c.server.WillRenameFiles(t.Context(), &protocol.RenameFilesParams{Files: []protocol.FileRename{
		{OldURI: "file:///project/c.txt", NewURI: "file:///project/d.txt"}}})
	require.NoError(t, err)
	require.Nil(t, none)
}

// TestWorkspaceDiagnostics checks that the findings of an open text equal the published ones.
func TestWorkspaceDiagnostics(t *testing.T) {
	t.Parallel()
	c := connect(t)
	pushed := c.open(sample)
	report, err := c.server.DiagnosticWorkspace(t.Context(),
		&protocol.WorkspaceDiagnosticParams{PreviousResultIds: []protocol.PreviousResultId{}})
	require.NoError(t, err)
	require.Len(t, report.Items, 2, "and that of a program that is closed")
	item := report.Items[0].(*protocol.WorkspaceFullDocumentDiagnosticReport)
	require.Equal(t, pushed.Diagnostics, item.Items)
	require.Equal(t, c.uri, item.URI)
	require.EqualValues(t, 1, *item.Version)
}

// TestWorkspaceDiagnosticsOfClosedPrograms checks that the findings of a workspace include closed programs, which have
// no version, and each file once.
func TestWorkspaceDiagnosticsOfClosedPrograms(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open(sample)
	report, err := c.server.DiagnosticWorkspace(t.Context(),
		&protocol.WorkspaceDiagnosticParams{PreviousResultIds: []protocol.PreviousResultId{}})
	require.NoError(t, err)
	versions := map[string]bool{}
	for _, item := range report.Items {
		full := item.(*protocol.WorkspaceFullDocumentDiagnosticReport)
		require.NotContains(t, versions, full.URI.FsPath())
		versions[full.URI.FsPath()] = full.Version != nil
	}
	require.Equal(t, map[string]bool{"/project/Pulumi.yaml": true, "/other/Pulumi.yaml": false}, versions)
}

// TestFormattingOfAPart formats a range, and indents a new line.
func TestFormattingOfAPart(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("variables:\n  a:   1\n  b:   2\noutputs:\n\n")
	document := protocol.TextDocumentIdentifier{URI: c.uri}
	edits, err := c.server.RangeFormatting(t.Context(), &protocol.DocumentRangeFormattingParams{TextDocument: document,
		Range: protocol.Range{Start: protocol.Position{Line: 2}, End: protocol.Position{Line: 2, Character: 3}}})
	require.NoError(t, err)
	require.Len(t, edits, 1)
	require.EqualValues(t, 2, edits[0].Range.Start.Line)
	indented, err := c.server.OnTypeFormatting(t.Context(),
		&protocol.DocumentOnTypeFormattingParams{TextDocument: document,
			Position: protocol.Position{Line: 4}, Ch: "\n"})
	require.NoError(t, err)
	require.Len(t, indented, 1)
	require.Equal(t, "  ", indented[0].NewText)
	other, err := c.server.OnTypeFormatting(t.Context(), &protocol.DocumentOnTypeFormattingParams{TextDocument: document,
		Position: protocol.Position{Line: 4}, Ch: "x"})
	require.NoError(t, err)
	require.Empty(t, other)
}

// TestTypesAndLenses requests the declaration of a component, and the lenses without a selected stack.
func TestTypesAndLenses(t *testing.T) {
	t.Parallel()
	c := connect(t)
	c.open("components:\n  Pets:\n    outputs: {n: 1}\nresources:\n  mine:\n    type: components:Pets\n")
	params := &protocol.TypeDefinitionParams{}
	params.TextDocument.URI, params.Position = c.uri, protocol.Position{Line: 4, Character: 3}
	found, err := c.server.TypeDefinition(t.Context(), params)
	require.NoError(t, err)
	require.EqualValues(t, 1, found.(protocol.LocationSlice)[0].Range.Start.Line)
	lenses, err := c.server.CodeLens(t.Context(),
		&protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri}})
	require.NoError(t, err)
	require.Empty(t, lenses)
}
