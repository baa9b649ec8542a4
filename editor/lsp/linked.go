package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// LinkedEditingRange are the places of a name that change together.
func (s *lookups) LinkedEditingRange(ctx context.Context,
	params *protocol.PositionParams) (*protocol.LinkedEditingRanges, error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.Linked(ctx, p.snapshot, p.path, p.offset)
	if err != nil || len(found) == 0 {
		return nil, failed(ctx)
	}
	return &protocol.LinkedEditingRanges{Ranges: p.e.ranges(found), WordPattern: editor.NamePattern}, nil
}
