package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// LinkedEditingRange are the places of a name that change together.
func (s *lookups) LinkedEditingRange(ctx context.Context,
	params *protocol.PositionParams) (*protocol.LinkedEditingRanges, error) {
	at, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.Linked(ctx, at.snapshot, at.path, at.offset)
	if err != nil || len(found) == 0 {
		return nil, failed(ctx)
	}
	return &protocol.LinkedEditingRanges{Ranges: at.e.ranges(found), WordPattern: editor.NamePattern}, nil
}
