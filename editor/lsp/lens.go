package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// CodeLens shows what the selected stack holds of each resource.
func (s *lookups) CodeLens(ctx context.Context, params *protocol.TextDocumentParams) ([]protocol.CodeLens, error) {
	found, err := editor.Lenses(ctx, moment(ctx), pathOf(params.TextDocument.URI))
	if err != nil {
		return nil, failed(ctx)
	}
	e := s.encoding()
	list := make([]protocol.CodeLens, 0, len(found))
	for _, lens := range found {
		list = append(list, protocol.CodeLens{Range: e.rangeOf(lens.At), Command: protocol.Command{Title: lens.Text}})
	}
	return list, nil
}

// TypeDefinition is where a component or a dynamic type is declared.
func (s *lookups) TypeDefinition(ctx context.Context, params *protocol.PositionParams) ([]protocol.Location,
	error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.TypeDefinition(ctx, p.snapshot, p.path, p.offset)
	if err != nil {
		return nil, failed(ctx)
	}
	return p.locations(found), nil
}
