package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// DocumentLink are the files that a text names.
func (s *lookups) DocumentLink(ctx context.Context, params *protocol.TextDocumentParams) ([]protocol.DocumentLink,
	error) {
	found, err := editor.Links(ctx, moment(ctx), pathOf(params.TextDocument.URI))
	if err != nil {
		return nil, failed(ctx)
	}
	list := make([]protocol.DocumentLink, 0, len(found))
	for _, l := range found {
		list = append(list, protocol.DocumentLink{Range: s.encoding().rangeOf(l.At), Target: uriOf(l.Target)})
	}
	return list, nil
}
