package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
)

// InlayHint are the types of expressions, the names and the defaults of resources in a stretch of a file.
func (s *lookups) InlayHint(ctx context.Context, params *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
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
	padded := true
	list := make([]protocol.InlayHint, 0, len(found))
	for _, h := range found {
		hint := protocol.InlayHint{Position: e.rangeOf(h.At).End, Label: protocol.String(h.Text), PaddingLeft: &padded}
		if h.Kind == editor.TypeHint {
			hint = protocol.InlayHint{Position: hint.Position, Label: protocol.String(": " + h.Text),
				Kind: protocol.InlayHintKindType}
		}
		list = append(list, hint)
	}
	return list, nil
}
