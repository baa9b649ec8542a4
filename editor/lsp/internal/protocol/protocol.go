// Package protocol is the part of the Language Server Protocol, version 3.18, that the server uses: the messages with
// the fields that are read or written, and the connection that carries them. A library of the whole protocol weighs ten
// times as much in the program: docs/design/size.md. Tests speak to the server with such a library.
package protocol

import (
	"encoding/json"

	"go.lsp.dev/uri"
)

// Position is a place in a text; lines and characters count from 0, characters in the units that were agreed on.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is a stretch of a text. End is behind it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a stretch of a file.
type Location struct {
	URI   uri.URI `json:"uri"`
	Range Range   `json:"range"`
}

// TextDocument names a text. It has a version in what the client says about one that is open, and its text where the
// client opens it.
type TextDocument struct {
	URI     uri.URI `json:"uri"`
	Version int32   `json:"version"`
	Text    string  `json:"text"`
}

// InitializeParams are what a client says at first.
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

// Capabilities are what a client can do, as far as answers depend on it.
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

// None are the parameters of a message of which nothing is read.
type None struct{}

// TextParams are a request about a text, or a notification. Besides the text, each has the fields that its method
// defines.
type TextParams struct {
	TextDocument TextDocument `json:"textDocument"`
	Position     Position     `json:"position"`
	Positions    []Position   `json:"positions"` // of selections
	Range        Range        `json:"range"`
	Context      struct {
		IncludeDeclaration bool     `json:"includeDeclaration"` // among references
		Only               []string `json:"only"`               // the kinds of code actions that are wanted; empty for all
	} `json:"context"`
	NewName          string `json:"newName"`          // of a rename
	Ch               string `json:"ch"`               // that was typed
	PreviousResultID string `json:"previousResultId"` // of the tokens that the client has
}

// DidChangeParams are edits of a text, one after the other.
type DidChangeParams struct {
	TextDocument   TextDocument `json:"textDocument"`
	ContentChanges []struct {
		Range *Range `json:"range"` // nil for the whole text
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

// SymbolParams ask for declarations by a part of their names.
type SymbolParams struct {
	Query string `json:"query"`
}

// CommandParams ask for a command.
type CommandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// RenameFilesParams are files that will get other names.
type RenameFilesParams struct {
	Files []struct {
		OldURI string `json:"oldUri"`
		NewURI string `json:"newUri"`
	} `json:"files"`
}

// CallParams ask for the calls of a declaration.
type CallParams struct {
	Item CallHierarchyItem `json:"item"`
}
