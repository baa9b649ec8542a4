package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// FoldingRanges are the stretches of a text that can be hidden.
func (s *lookups) FoldingRanges(ctx context.Context, params *protocol.TextDocumentParams) ([]protocol.FoldingRange,
	error) {
	list := []protocol.FoldingRange{}
	for _, f := range editor.Folds(moment(ctx), pathOf(params.TextDocument.URI)) {
		fold := protocol.FoldingRange{StartLine: f.First - 1, EndLine: f.Last - 1}
		if f.Comment {
			fold.Kind = "comment"
		}
		list = append(list, fold)
	}
	return list, nil
}

// SelectionRange are the stretches around each of some places.
func (s *lookups) SelectionRange(ctx context.Context,
	params *protocol.SelectionRangeParams) ([]protocol.SelectionRange, error) {
	snapshot, path, e := moment(ctx), pathOf(params.TextDocument.URI), s.encoding()
	document := snapshot.Text(path)
	if document == nil {
		return nil, nil
	}
	list := make([]protocol.SelectionRange, 0, len(params.Positions))
	for _, position := range params.Positions {
		found, err := editor.Selection(ctx, snapshot, path, e.offset(document.Source(), position))
		if err != nil {
			return nil, failed(ctx)
		}
		var around *protocol.SelectionRange
		for i := len(found) - 1; i >= 0; i-- {
			around = &protocol.SelectionRange{Range: e.rangeOf(found[i]), Parent: around}
		}
		list = append(list, *around)
	}
	return list, nil
}
