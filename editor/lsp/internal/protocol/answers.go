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

// HintType is the kind of type hints, HighlightText the kind of plain highlights.
const (
	HintType      = 1
	HighlightText = 1
)

// Markup is Markdown.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Markdown returns text as Markdown content.
func Markdown(text string) *Markup { return &Markup{Kind: "markdown", Value: text} }

// Diagnostic is the protocol's form of a finding.
type Diagnostic struct {
	Range    Range     `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Tags     []int     `json:"tags,omitempty"`
	Related  []Related `json:"relatedInformation,omitempty"`
}

// Related is a location that helps to explain a finding.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// TextEdit replaces a range of a text.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// CodeAction is an edit that the user may apply.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        map[string]any `json:"edit"` // a workspace edit
}

// CompletionList is the answer to a completion request.
type CompletionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []CompletionItem `json:"items"`
}

// CompletionItem is one completion.
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

// Signature is a function, or a parameter of one.
type Signature struct {
	Label         string      `json:"label"`
	Documentation *Markup     `json:"documentation"`
	Parameters    []Signature `json:"parameters,omitempty"`
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

// CallHierarchyItem is a declaration in the dependency graph.
type CallHierarchyItem struct {
	Name           string  `json:"name"`
	Kind           int     `json:"kind"`
	Detail         string  `json:"detail"`
	URI            uri.URI `json:"uri"`
	Range          Range   `json:"range"`
	SelectionRange Range   `json:"selectionRange"`
}

// InlayHint is a text shown at a position.
type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	Kind        int      `json:"kind,omitempty"`
	PaddingLeft bool     `json:"paddingLeft,omitempty"`
}

// FoldingRange is a range of lines, counted from 0, that can be collapsed.
type FoldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

// SelectionRange is a range and the next larger range around it.
type SelectionRange struct {
	Range  Range           `json:"range"`
	Parent *SelectionRange `json:"parent,omitempty"`
}

// SemanticTokens holds the tokens of a text, five numbers each.
type SemanticTokens struct {
	ResultID string   `json:"resultId,omitempty"`
	Data     []uint32 `json:"data"`
}

// SemanticTokensEdit replaces DeleteCount numbers at Start by Data.
type SemanticTokensEdit struct {
	Start       int      `json:"start"`
	DeleteCount int      `json:"deleteCount"`
	Data        []uint32 `json:"data,omitempty"`
}
