package lsp

import (
	"context"

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

// SemanticTokensFull are the tokens of a file.
func (s *server) SemanticTokensFull(ctx context.Context,
	params *protocol.SemanticTokensParams) (*protocol.SemanticTokens, error) {
	document := moment(ctx).Text(pathOf(params.TextDocument.URI))
	if document == nil {
		return nil, nil
	}
	return s.semanticTokens(ctx, pathOf(params.TextDocument.URI), 0, len(document.Source().Text()))
}

// SemanticTokensRange are the tokens of a stretch of a file.
func (s *server) SemanticTokensRange(ctx context.Context,
	params *protocol.SemanticTokensRangeParams) (*protocol.SemanticTokens, error) {
	document := moment(ctx).Text(pathOf(params.TextDocument.URI))
	if document == nil {
		return nil, nil
	}
	start, end := s.encoding().offsets(document.Source(), params.Range)
	return s.semanticTokens(ctx, pathOf(params.TextDocument.URI), start, end)
}

func (s *server) semanticTokens(ctx context.Context, path string, start, end int) (*protocol.SemanticTokens, error) {
	found, err := editor.Tokens(ctx, moment(ctx), path, start, end)
	if err != nil {
		return nil, failed(ctx)
	}
	data := make([]uint32, 0, 5*len(found))
	e := s.encoding()
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
		data = append(data, at.Start.Line-last.Line, column, at.End.Character-at.Start.Character, uint32(token.Kind), modifiers)
		last = at.Start
	}
	return &protocol.SemanticTokens{Data: data}, nil
}
