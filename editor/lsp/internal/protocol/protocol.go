// Package protocol implements the part of the Language Server Protocol, version 3.18, that the server uses: messages
// with the fields that are read or written, and the connection. A library of the whole protocol would add ten times as
// much to the binary (docs/design/size.md). Tests use such a library as their client.
package protocol

import (
	"encoding/json"

	"go.lsp.dev/uri"
)

// Position is a position in a text. Lines and characters count from 0, characters in the negotiated units.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is a range of a text; End is exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a range of a file.
type Location struct {
	URI   uri.URI `json:"uri"`
	Range Range   `json:"range"`
}

// TextDocument identifies a text. Notifications about open texts set Version; only didOpen sets Text.
type TextDocument struct {
	URI     uri.URI `json:"uri"`
	Version int32   `json:"version"`
	Text    string  `json:"text"`
}

// InitializeParams are the parameters of the initialize request.
type InitializeParams struct {
	RootURI               *uri.URI        `json:"rootUri"`
	WorkspaceFolders      []Folder        `json:"workspaceFolders"`
	InitializationOptions json.RawMessage `json:"initializationOptions"`
	Capabilities          Capabilities    `json:"capabilities"`
}

// Folder is a folder that a client has open.
type Folder struct {
	URI uri.URI `json:"uri"`
}

// Capabilities are the client's capabilities that affect answers.
type Capabilities struct {
	General struct {
		PositionEncodings []string `json:"positionEncodings"`
	} `json:"general"`
	Workspace struct {
		WorkspaceEdit struct {
			DocumentChanges    bool     `json:"documentChanges"`
			SnippetEditSupport bool     `json:"snippetEditSupport"`
			ResourceOperations []string `json:"resourceOperations"`
		} `json:"workspaceEdit"`
	} `json:"workspace"`
	TextDocument struct {
		Completion struct {
			CompletionItem struct {
				ResolveSupport struct {
					Properties []string `json:"properties"`
				} `json:"resolveSupport"`
			} `json:"completionItem"`
		} `json:"completion"`
	} `json:"textDocument"`
}

// None are the parameters of a message with ignored parameters.
type None struct{}

// TextParams are the parameters of a request or notification about a text. Which fields are set depends on the method.
type TextParams struct {
	TextDocument TextDocument `json:"textDocument"`
	Position     Position     `json:"position"`
	Positions    []Position   `json:"positions"` // for selectionRange
	Range        Range        `json:"range"`
	Context      struct {
		IncludeDeclaration bool     `json:"includeDeclaration"` // for references
		Only               []string `json:"only"`               // wanted kinds of code actions; empty for all
	} `json:"context"`
	NewName          string `json:"newName"`          // for rename
	Ch               string `json:"ch"`               // the typed character, for onTypeFormatting
	PreviousResultID string `json:"previousResultId"` // identifies the client's tokens, for semanticTokens/full/delta
}

// DidChangeParams are edits of a text, to apply in order.
type DidChangeParams struct {
	TextDocument   TextDocument `json:"textDocument"`
	ContentChanges []struct {
		Range *Range `json:"range"` // nil for the whole text
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

// SymbolParams are the parameters of workspace/symbol.
type SymbolParams struct {
	Query string `json:"query"`
}

// CommandParams are the parameters of workspace/executeCommand.
type CommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// RenameFilesParams are the parameters of workspace/willRenameFiles.
type RenameFilesParams struct {
	Files []struct {
		OldURI string `json:"oldUri"`
		NewURI string `json:"newUri"`
	} `json:"files"`
}

// CallParams are the parameters of callHierarchy requests.
type CallParams struct {
	Item CallHierarchyItem `json:"item"`
}
