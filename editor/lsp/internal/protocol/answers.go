package protocol

import (
	"encoding/json"

	"go.lsp.dev/uri"
)

// Units of the characters of positions.
const (
	UTF8  = "utf-8"
	UTF16 = "utf-16"
)

// Kinds of code actions.
const (
	QuickFix        = "quickfix"
	RefactorExtract = "refactor.extract"
	RefactorInline  = "refactor.inline"
	RefactorMove    = "refactor.move"
	RefactorRewrite = "refactor.rewrite"
)

// Severities of diagnostics.
const (
	SeverityError = 1 + iota
	SeverityWarning
	SeverityInformation
	SeverityHint
)

// Tags of diagnostics and completions.
const (
	TagUnnecessary          = 1
	TagDeprecated           = 2
	CompletionTagDeprecated = 1
)

// Kinds of completions.
const (
	CompletionFunction = 3
	CompletionVariable = 6
	CompletionClass    = 7
	CompletionModule   = 9
	CompletionProperty = 10
	CompletionValue    = 12
	CompletionKeyword  = 14
	CompletionFile     = 17
)

// Kinds of symbols.
const (
	SymbolClass    = 5
	SymbolField    = 8
	SymbolVariable = 13
	SymbolConstant = 14
	SymbolObject   = 19
	SymbolEvent    = 24
)

// HintType is the kind of a hint that is a type, and HighlightText that of a highlight.
const (
	HintType      = 1
	HighlightText = 1
)

// InitializeResult is what the server says at first: its capabilities by their names, and itself.
type InitializeResult struct {
	Capabilities map[string]any `json:"capabilities"`
	ServerInfo   ServerInfo     `json:"serverInfo"`
}

// ServerInfo is a name and a version.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Markup is Markdown.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Markdown makes Markdown.
func Markdown(text string) *Markup { return &Markup{Kind: "markdown", Value: text} }

// PublishDiagnosticsParams are the findings about a file. Version is nil for a file that is not open.
type PublishDiagnosticsParams struct {
	URI         uri.URI      `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Diagnostic is a finding.
type Diagnostic struct {
	Range    Range     `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Tags     []int     `json:"tags,omitempty"`
	Related  []Related `json:"relatedInformation,omitempty"`
}

// Related is a place that explains a finding.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// DiagnosticReport is the findings about a file, where they are asked for. Its kind is "full".
type DiagnosticReport struct {
	Kind  string       `json:"kind"`
	Items []Diagnostic `json:"items"`
}

// FileReport is a report of one file among others. Version is nil for a file that is not open.
type FileReport struct {
	DiagnosticReport
	URI     uri.URI `json:"uri"`
	Version *int32  `json:"version"`
}

// WorkspaceReport are the reports of many files.
type WorkspaceReport struct {
	Items []FileReport `json:"items"`
}

// TextEdit replaces a stretch.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// SnippetEdit replaces a stretch by a text with places to fill in.
type SnippetEdit struct {
	Range   Range   `json:"range"`
	Snippet Snippet `json:"snippet"`
}

// Snippet is the text of a SnippetEdit; its kind is "snippet".
type Snippet struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// WorkspaceEdit changes files: by Changes, or for clients that understand them by DocumentChanges, each of which is a
// TextDocumentEdit or a RenameFile.
type WorkspaceEdit struct {
	Changes         map[uri.URI][]TextEdit `json:"changes,omitempty"`
	DocumentChanges []any                  `json:"documentChanges,omitempty"`
}

// TextDocumentEdit changes a file by values of type TextEdit or SnippetEdit. Version is nil for a file that is not
// open.
type TextDocumentEdit struct {
	TextDocument struct {
		URI     uri.URI `json:"uri"`
		Version *int32  `json:"version"`
	} `json:"textDocument"`
	Edits []any `json:"edits"`
}

// RenameFile gives a file another name; its kind is "rename".
type RenameFile struct {
	Kind   string  `json:"kind"`
	OldURI uri.URI `json:"oldUri"`
	NewURI uri.URI `json:"newUri"`
}

// CodeAction is an edit that a person may choose.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit"`
}

// CompletionList is what may be written at a place.
type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

// CompletionItem is one of the things that may be written.
type CompletionItem struct {
	Label         string          `json:"label"`
	Kind          int             `json:"kind"`
	Tags          []int           `json:"tags,omitempty"`
	Detail        string          `json:"detail,omitempty"`
	Documentation *Markup         `json:"documentation,omitempty"`
	SortText      string          `json:"sortText"`
	FilterText    string          `json:"filterText"`
	TextEdit      TextEdit        `json:"textEdit"`
	Data          json.RawMessage `json:"data,omitempty"`
}

// Hover explains a stretch.
type Hover struct {
	Contents *Markup `json:"contents"`
	Range    Range   `json:"range"`
}

// SignatureHelp shows a function.
type SignatureHelp struct {
	Signatures      []Signature `json:"signatures"`
	ActiveParameter *int        `json:"activeParameter,omitempty"`
}

// Signature is a function, or a parameter of one.
type Signature struct {
	Label         string      `json:"label"`
	Documentation *Markup     `json:"documentation"`
	Parameters    []Signature `json:"parameters,omitempty"`
}

// DocumentHighlight is a use of a name.
type DocumentHighlight struct {
	Range Range `json:"range"`
	Kind  int   `json:"kind"`
}

// RenamePlaceholder is a name that can be changed.
type RenamePlaceholder struct {
	Range       Range  `json:"range"`
	Placeholder string `json:"placeholder"`
}

// DocumentSymbol is a declaration in a file.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children"`
}

// WorkspaceSymbol is a declaration in a workspace.
type WorkspaceSymbol struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location Location `json:"location"`
}

// CallHierarchyItem is a declaration that others need, and that needs others.
type CallHierarchyItem struct {
	Name           string  `json:"name"`
	Kind           int     `json:"kind"`
	Detail         string  `json:"detail"`
	URI            uri.URI `json:"uri"`
	Range          Range   `json:"range"`
	SelectionRange Range   `json:"selectionRange"`
}

// IncomingCall is a declaration that needs one, and where.
type IncomingCall struct {
	From       CallHierarchyItem `json:"from"`
	FromRanges []Range           `json:"fromRanges"`
}

// OutgoingCall is a declaration that one needs, and where.
type OutgoingCall struct {
	To         CallHierarchyItem `json:"to"`
	FromRanges []Range           `json:"fromRanges"`
}

// InlayHint is a text that is shown behind a place.
type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind,omitempty"`
	PaddingLeft bool     `json:"paddingLeft,omitempty"`
}

// CodeLens is a text that is shown above a stretch.
type CodeLens struct {
	Range   Range   `json:"range"`
	Command Command `json:"command"`
}

// Command is what a lens shows; it does nothing where Command is empty.
type Command struct {
	Title   string `json:"title"`
	Command string `json:"command"`
}

// LinkedEditingRanges are the places of a name that change together.
type LinkedEditingRanges struct {
	Ranges      []Range `json:"ranges"`
	WordPattern string  `json:"wordPattern"`
}

// DocumentLink is a file that a text names.
type DocumentLink struct {
	Range  Range   `json:"range"`
	Target uri.URI `json:"target"`
}

// FoldingRange is a stretch of lines that can be hidden.
type FoldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

// SelectionRange is a stretch and what is around it.
type SelectionRange struct {
	Range  Range           `json:"range"`
	Parent *SelectionRange `json:"parent,omitempty"`
}

// SemanticTokens are the tokens of a text, five numbers each.
type SemanticTokens struct {
	ResultID string   `json:"resultId,omitempty"`
	Data     []uint32 `json:"data"`
}

// SemanticTokensDelta is how tokens have changed.
type SemanticTokensDelta struct {
	ResultID string               `json:"resultId"`
	Edits    []SemanticTokensEdit `json:"edits"`
}

// SemanticTokensEdit replaces some numbers by others.
type SemanticTokensEdit struct {
	Start       int      `json:"start"`
	DeleteCount int      `json:"deleteCount"`
	Data        []uint32 `json:"data,omitempty"`
}
