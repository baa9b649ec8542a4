package lsp

import (
	"context"
	"strconv"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
)

// tokenTypes are the protocol's types of tokens, by kind.
var tokenTypes = map[editor.TokenKind]protocol.SemanticTokenTypes{
	editor.KeywordToken: protocol.SemanticTokenTypesKeyword, editor.ConfigToken: protocol.SemanticTokenTypesParameter,
	editor.VariableToken: protocol.SemanticTokenTypesVariable, editor.ResourceToken: protocol.SemanticTokenTypesClass,
	editor.OutputToken: protocol.SemanticTokenTypesEnumMember, editor.HookToken: protocol.SemanticTokenTypesEvent,
	editor.TypeToken: protocol.SemanticTokenTypesType, editor.FunctionToken: protocol.SemanticTokenTypesFunction,
	editor.PropertyToken: protocol.SemanticTokenTypesProperty, editor.OperatorToken: protocol.SemanticTokenTypesOperator,
}

// legend names the types in the order of their kinds, and the one modifier.
func legend() protocol.SemanticTokensLegend {
	types := make([]string, len(tokenTypes))
	for kind, name := range tokenTypes {
		types[kind] = string(name)
	}
	modifiers := []string{string(protocol.SemanticTokenModifiersDeclaration)}
	return protocol.SemanticTokensLegend{TokenTypes: types, TokenModifiers: modifiers}
}

// colorer answers requests for tokens.
type colorer struct {
	*settings
	sent sentTokens
}

// SemanticTokensFull are the tokens of a file.
func (s *colorer) SemanticTokensFull(ctx context.Context,
	params *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
	document := moment(ctx).Text(pathOf(params.TextDocument.URI))
	if document == nil {
		return nil, nil
	}
	path := pathOf(params.TextDocument.URI)
	parts, err := editor.TokenParts(ctx, moment(ctx), path)
	if err != nil {
		return nil, failed(ctx)
	}
	tokens := &protocol.SemanticTokens{Data: s.sent.data(path, s.encoding(), parts)}
	s.sent.keep(path, tokens)
	return tokens, nil
}

// SemanticTokensFullDelta are the tokens of a file as a change of those that were answered last.
func (s *colorer) SemanticTokensFullDelta(ctx context.Context,
	params *protocol.SemanticTokensDeltaParams) (protocol.SemanticTokensDeltaResult, error) {
	path := pathOf(params.TextDocument.URI)
	before, known := s.sent.last(path, params.PreviousResultID)
	tokens, err := s.SemanticTokensFull(ctx, &protocol.SemanticTokensParams{TextDocument: params.TextDocument})
	if err != nil || tokens == nil {
		return nil, err
	}
	if !known {
		return tokens, nil
	}
	return &protocol.SemanticTokensDelta{ResultID: tokens.ResultID, Edits: tokenEdits(before, tokens.Data)}, nil
}

// tokenEdits is the one stretch in which two lists of tokens differ; none where they are equal.
func tokenEdits(before, after []uint32) []protocol.SemanticTokensEdit {
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	same := 0
	for same < len(before)-start && same < len(after)-start && before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	if start == len(before) && start == len(after) {
		return []protocol.SemanticTokensEdit{}
	}
	return []protocol.SemanticTokensEdit{{Start: uint32(start), DeleteCount: uint32(len(before) - start - same),
		Data: after[start : len(after)-same]}}
}

// sentTokens are the tokens of each file that were answered last, for answers that say only what has changed. It is
// safe for concurrent use.
type sentTokens struct {
	mu     sync.Mutex
	count  int                                 // of answers; guarded by mu, as what follows
	byPath map[string]*protocol.SemanticTokens // with the name of the answer
	parts  map[string]map[*editor.PartTokens][]uint32
}

// data are the tokens of parts as the protocol has them. Those of a part that was sent before are not counted again.
func (t *sentTokens) data(path string, e encoding, parts []editor.TokenPart) []uint32 {
	t.mu.Lock()
	known := t.parts[path]
	t.mu.Unlock()
	kept := make(map[*editor.PartTokens][]uint32, len(parts))
	size := 0
	for _, part := range parts {
		data, ok := known[part.PartTokens]
		if !ok {
			data = encoded(e, part.Tokens)
		}
		kept[part.PartTokens] = data
		size += len(data)
	}
	all := make([]uint32, 0, size)
	line := uint32(0) // of the last token
	for _, part := range parts {
		data := kept[part.PartTokens]
		if len(data) == 0 {
			continue
		}
		first := len(all)
		all = append(all, data...)
		last := uint32(part.Line)
		for i := 0; i < len(data); i += tokenSize {
			last += data[i]
		}
		all[first] = uint32(part.Line) + data[0] - line
		line = last
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parts == nil {
		t.parts = map[string]map[*editor.PartTokens][]uint32{}
	}
	t.parts[path] = kept
	return all
}

// keep names an answer, and keeps it.
func (t *sentTokens) keep(path string, tokens *protocol.SemanticTokens) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	name := strconv.Itoa(t.count)
	tokens.ResultID = &name
	if t.byPath == nil {
		t.byPath = map[string]*protocol.SemanticTokens{}
	}
	t.byPath[path] = tokens
}

// last is what was answered by a name; false where that is not the last answer.
func (t *sentTokens) last(path, name string) ([]uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sent := t.byPath[path]
	if sent == nil || *sent.ResultID != name {
		return nil, false
	}
	return sent.Data, true
}

func (t *sentTokens) forget(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byPath, path)
	delete(t.parts, path)
}

// SemanticTokensRange are the tokens of a stretch of a file.
func (s *colorer) SemanticTokensRange(ctx context.Context,
	params *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error) {
	document := moment(ctx).Text(pathOf(params.TextDocument.URI))
	if document == nil {
		return nil, nil
	}
	start, end := s.encoding().offsets(document.Source(), params.Range)
	return s.semanticTokens(ctx, pathOf(params.TextDocument.URI), start, end)
}

func (s *colorer) semanticTokens(ctx context.Context, path string, start, end int) (*protocol.SemanticTokens, error) {
	found, err := editor.Tokens(ctx, moment(ctx), path, start, end)
	if err != nil {
		return nil, failed(ctx)
	}
	return &protocol.SemanticTokens{Data: encoded(s.encoding(), found)}, nil
}

// tokenSize is how many numbers stand for a token: lines and columns behind the one before, length, type, modifiers.
const tokenSize = 5

// encoded are tokens as the protocol has them, the first one by its line in the source.
func encoded(e encoding, found []editor.Token) []uint32 {
	data := make([]uint32, 0, tokenSize*len(found))
	var last protocol.Position
	for _, token := range found {
		at := e.rangeOf(token.At)
		column := at.Start.Character
		if at.Start.Line == last.Line {
			column -= last.Character
		}
		modifiers := uint32(0)
		if token.Declared {
			modifiers = 1
		}
		data = append(data, at.Start.Line-last.Line, column, at.End.Character-at.Start.Character, uint32(token.Kind),
			modifiers)
		last = at.Start
	}
	return data
}
