package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
)

// InlayHint are the types of the expressions in a stretch of a file.
func (s *server) InlayHint(ctx context.Context, params *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
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
		list = append(list, protocol.InlayHint{Position: e.rangeOf(h.At).End, Label: protocol.String(": " + h.Type),
			Kind: protocol.InlayHintKindType})
	}
	return list, nil
}
