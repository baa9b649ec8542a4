package lsp

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/yamlhost/yamlhost/editor"
)

// DocumentLink are the files that a text names.
func (s *lookups) DocumentLink(ctx context.Context, params *protocol.DocumentLinkParams) ([]protocol.DocumentLink,
	error) {
	found, err := editor.Links(ctx, moment(ctx), pathOf(params.TextDocument.URI))
	if err != nil {
		return nil, failed(ctx)
	}
	list := make([]protocol.DocumentLink, 0, len(found))
	for _, l := range found {
		target := uriOf(l.Target)
		list = append(list, protocol.DocumentLink{Range: s.encoding().rangeOf(l.At), Target: &target})
	}
	return list, nil
}
