package lsp

import (
	"encoding/json"
	"slices"

	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// client is what the client says of itself in its first request. It is immutable.
type client struct {
	positions encoding
	folders   []string // of the workspace
	snippets  bool     // it understands edits with places to fill in
	renames   bool     // it understands edits that rename files
	lazyDocs  bool     // it asks for the documentation of completions one by one
	trusted   bool     // it trusts the workspace: the project's code may run when a person asks for it
}

func clientOf(params *protocol.InitializeParams) *client {
	can := params.Capabilities
	edit, completion := can.Workspace.WorkspaceEdit, can.TextDocument.Completion
	c := &client{
		positions: utf16,
		snippets:  edit.SnippetEditSupport && edit.DocumentChanges,
		renames:   slices.Contains(edit.ResourceOperations, "rename"),
		lazyDocs:  slices.Contains(completion.CompletionItem.ResolveSupport.Properties, "documentation"),
	}
	if slices.Contains(can.General.PositionEncodings, protocol.UTF8) {
		c.positions = utf8
	}
	for _, f := range params.WorkspaceFolders {
		c.folders = append(c.folders, pathOf(f.URI))
	}
	// Clients that know no workspace folders send it.
	if root := params.RootURI; len(c.folders) == 0 && root != nil {
		c.folders = []string{pathOf(*root)}
	}
	var options struct {
		Trusted bool `json:"trusted"`
	}
	c.trusted = json.Unmarshal(params.InitializationOptions, &options) == nil && options.Trusted
	return c
}
