package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// InlayHint are the types of expressions, the names and the defaults of resources in a stretch of a file.
func (s *lookups) InlayHint(ctx context.Context, params *protocol.RangeParams) ([]protocol.InlayHint, error) {
	path := pathOf(params.TextDocument.URI)
	document := moment(ctx).Text(path)
	if document == nil {
		return nil, nil
	}
	e := s.encoding()
	start, end := e.offsets(document.Source(), params.Range)
	found, err := editor.Hints(ctx, moment(ctx), path, start, end)
	if err != nil {
		return nil, failed(ctx)
	}
	list := make([]protocol.InlayHint, 0, len(found))
	for _, h := range found {
		hint := protocol.InlayHint{Position: e.rangeOf(h.At).End, Label: h.Text, PaddingLeft: true}
		if h.Kind == editor.TypeHint {
			hint = protocol.InlayHint{Position: hint.Position, Label: ": " + h.Text,
				Kind: protocol.HintType}
		}
		list = append(list, hint)
	}
	return list, nil
}
