package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
)

// LinkedEditingRange are the places of a name that change together.
func (s *lookups) LinkedEditingRange(ctx context.Context,
	params *protocol.LinkedEditingRangeParams) (*protocol.LinkedEditingRanges, error) {
	at, open := s.placeOf(ctx, params.TextDocumentPositionParams)
	if !open {
		return nil, nil
	}
	found, err := editor.Linked(ctx, at.snapshot, at.path, at.offset)
	if err != nil || len(found) == 0 {
		return nil, failed(ctx)
	}
	pattern := editor.NamePattern
	return &protocol.LinkedEditingRanges{Ranges: at.e.ranges(found), WordPattern: &pattern}, nil
}
