package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// The hierarchy of calls is the graph of dependencies: a declaration calls what it needs.

func (e encoding) hierarchyItem(symbol editor.Symbol) protocol.CallHierarchyItem {
	return protocol.CallHierarchyItem{Name: symbol.Name, Kind: symbolKinds[symbol.Kind], Detail: symbol.Detail,
		URI: uriOf(symbol.Path), Range: e.rangeOf(symbol.At), SelectionRange: e.rangeOf(symbol.Named)}
}

func (e encoding) ranges(list []diag.Range) []protocol.Range {
	ranges := make([]protocol.Range, 0, len(list))
	for _, r := range list {
		ranges = append(ranges, e.rangeOf(r))
	}
	return ranges
}

// PrepareCallHierarchy returns the declaration of the name at a position.
func (s *lookups) PrepareCallHierarchy(ctx context.Context,
	params *protocol.PositionParams) ([]protocol.CallHierarchyItem, error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.Declared(ctx, p.snapshot, p.path, p.offset)
	if err != nil || found == nil {
		return nil, failed(ctx)
	}
	return []protocol.CallHierarchyItem{p.e.hierarchyItem(*found)}, nil
}

// IncomingCalls are the declarations that need one.
func (s *lookups) IncomingCalls(ctx context.Context,
	params *protocol.CallParams) ([]protocol.IncomingCall, error) {
	p, open := s.placeOf(ctx, itemPlace(params.Item))
	if !open {
		return nil, nil
	}
	found, err := editor.NeededBy(ctx, p.snapshot, p.path, p.offset)
	if err != nil {
		return nil, failed(ctx)
	}
	list := make([]protocol.IncomingCall, 0, len(found))
	for _, d := range found {
		call := protocol.IncomingCall{From: p.e.hierarchyItem(d.Symbol), FromRanges: p.e.ranges(d.Uses)}
		list = append(list, call)
	}
	return list, nil
}

// OutgoingCalls are the declarations that one needs.
func (s *lookups) OutgoingCalls(ctx context.Context,
	params *protocol.CallParams) ([]protocol.OutgoingCall, error) {
	p, open := s.placeOf(ctx, itemPlace(params.Item))
	if !open {
		return nil, nil
	}
	found, err := editor.Needs(ctx, p.snapshot, p.path, p.offset)
	if err != nil {
		return nil, failed(ctx)
	}
	list := make([]protocol.OutgoingCall, 0, len(found))
	for _, d := range found {
		call := protocol.OutgoingCall{To: p.e.hierarchyItem(d.Symbol), FromRanges: p.e.ranges(d.Uses)}
		list = append(list, call)
	}
	return list, nil
}

func itemPlace(item protocol.CallHierarchyItem) protocol.PositionParams {
	return protocol.PositionParams{TextDocument: protocol.TextDocument{URI: item.URI},
		Position: item.SelectionRange.Start}
}
