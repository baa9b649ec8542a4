package lsp

import "go.lsp.dev/protocol"

func yes() *bool {
	b := true
	return &b
}

// capabilities lists the requests and commands that the server supports, and how it counts positions.
func capabilities(positions encoding, commands []string) protocol.ServerCapabilities {
	change := protocol.TextDocumentSyncKindIncremental
	return protocol.ServerCapabilities{
		PositionEncoding: positions.kind(),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{OpenClose: yes(), Change: &change,
			Save: protocol.Boolean(true)},
		DiagnosticProvider: &protocol.DiagnosticOptions{InterFileDependencies: true,
			WorkspaceDiagnostics: true},
		CompletionProvider: &protocol.CompletionOptions{TriggerCharacters: []string{":", ".", "{", " ", "\""},
			ResolveProvider: yes()},
		DocumentFormattingProvider:       protocol.Boolean(true),
		DocumentRangeFormattingProvider:  protocol.Boolean(true),
		DocumentOnTypeFormattingProvider: protocol.DocumentOnTypeFormattingOptions{FirstTriggerCharacter: "\n"},
		CodeLensProvider:                 &protocol.CodeLensOptions{},
		TypeDefinitionProvider:           protocol.Boolean(true),
		Workspace:                        fileOperations(),
		HoverProvider:                    protocol.Boolean(true),
		SignatureHelpProvider:            &protocol.SignatureHelpOptions{TriggerCharacters: []string{"(", ","}},
		DefinitionProvider:               protocol.Boolean(true),
		ReferencesProvider:               protocol.Boolean(true),
		DocumentHighlightProvider:        protocol.Boolean(true),
		RenameProvider:                   &protocol.RenameOptions{PrepareProvider: yes()},
		DocumentSymbolProvider:           protocol.Boolean(true),
		WorkspaceSymbolProvider:          protocol.Boolean(true),
		FoldingRangeProvider:             protocol.Boolean(true),
		SelectionRangeProvider:           protocol.Boolean(true),
		DocumentLinkProvider:             &protocol.DocumentLinkOptions{},
		InlayHintProvider:                protocol.Boolean(true),
		CallHierarchyProvider:            protocol.Boolean(true),
		LinkedEditingRangeProvider:       protocol.Boolean(true),
		SemanticTokensProvider: &protocol.SemanticTokensOptions{Legend: legend(), Range: protocol.Boolean(true),
			Full: &protocol.SemanticTokensFullDelta{Delta: yes()}},
		ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: commands},
		CodeActionProvider: &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{
			protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactorExtract, protocol.CodeActionKindRefactorInline,
			protocol.CodeActionKindRefactorRewrite}},
	}
}
