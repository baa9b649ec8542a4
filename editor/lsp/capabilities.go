package lsp

import "github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"

// object is a JSON object.
type object = map[string]any

// capabilities lists the requests and commands that the server supports, and how it counts positions.
func capabilities(positions encoding, commands []string) object {
	const incremental = 2
	// Renames of all files are asked about, since programs name files of any kind.
	allFiles := []object{{"scheme": "file", "pattern": object{"glob": "**/*"}}}
	unit := protocol.UTF16
	if positions == utf8 {
		unit = protocol.UTF8
	}
	return object{
		"positionEncoding": unit,
		"textDocumentSync": object{"openClose": true, "change": incremental, "save": true},

		"diagnosticProvider": object{"interFileDependencies": true, "workspaceDiagnostics": true},
		"completionProvider": object{"triggerCharacters": []string{":", ".", "{", " ", "\""}, "resolveProvider": true},

		"documentFormattingProvider":       true,
		"documentRangeFormattingProvider":  true,
		"documentOnTypeFormattingProvider": object{"firstTriggerCharacter": "\n"},

		"codeLensProvider":           object{},
		"typeDefinitionProvider":     true,
		"workspace":                  object{"fileOperations": object{"willRename": object{"filters": allFiles}}},
		"hoverProvider":              true,
		"signatureHelpProvider":      object{"triggerCharacters": []string{"(", ","}},
		"definitionProvider":         true,
		"referencesProvider":         true,
		"documentHighlightProvider":  true,
		"renameProvider":             object{"prepareProvider": true},
		"documentSymbolProvider":     true,
		"workspaceSymbolProvider":    true,
		"foldingRangeProvider":       true,
		"selectionRangeProvider":     true,
		"documentLinkProvider":       object{},
		"inlayHintProvider":          true,
		"callHierarchyProvider":      true,
		"linkedEditingRangeProvider": true,
		"semanticTokensProvider":     object{"legend": legend(), "range": true, "full": object{"delta": true}},
		"executeCommandProvider":     object{"commands": commands},
		"codeActionProvider": object{"codeActionKinds": []string{protocol.QuickFix, protocol.RefactorExtract,
			protocol.RefactorInline, protocol.RefactorRewrite}},
	}
}
