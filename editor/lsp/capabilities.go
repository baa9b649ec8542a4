package lsp

import "github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"

// object is a JSON object.
type object = map[string]any

// capabilities lists the requests and commands that the server supports, and how it counts positions.
func capabilities(positions encoding, commands []string) object {
	const incremental = 2
	return object{
		"positionEncoding": positions.kind(),
		"textDocumentSync": object{"openClose": true, "change": incremental, "save": true},

		"diagnosticProvider": object{"interFileDependencies": true, "workspaceDiagnostics": true},
		"completionProvider": object{"triggerCharacters": []string{":", ".", "{", " ", "\""}, "resolveProvider": true},

		"documentFormattingProvider":       true,
		"documentRangeFormattingProvider":  true,
		"documentOnTypeFormattingProvider": object{"firstTriggerCharacter": "\n"},

		"codeLensProvider":           object{},
		"typeDefinitionProvider":     true,
		"workspace":                  object{"fileOperations": fileOperations()},
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
