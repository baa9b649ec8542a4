package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

func (s *rewriter) textEdits(edits []diag.Edit) []protocol.TextEdit {
	e := s.encoding()
	list := []protocol.TextEdit{}
	for _, edit := range edits {
		list = append(list, protocol.TextEdit{Range: e.rangeOf(edit.Range), NewText: edit.Text})
	}
	return list
}

// Formatting brings a text into one form.
func (s *rewriter) Formatting(ctx context.Context, params *protocol.TextDocumentParams) ([]protocol.TextEdit,
	error) {
	return s.textEdits(editor.Format(moment(ctx), pathOf(params.TextDocument.URI))), nil
}

// RangeFormatting brings the lines of a stretch into the form that they have in the whole text.
func (s *rewriter) RangeFormatting(ctx context.Context, params *protocol.RangeParams) (
	[]protocol.TextEdit, error) {
	snapshot, path := moment(ctx), pathOf(params.TextDocument.URI)
	document := snapshot.Text(path)
	if document == nil {
		return nil, nil
	}
	start, end := s.encoding().offsets(document.Source(), params.Range)
	return s.textEdits(editor.FormatRange(snapshot, path, start, end)), nil
}

// OnTypeFormatting indents a new line.
func (s *rewriter) OnTypeFormatting(ctx context.Context, params *protocol.OnTypeParams) (
	[]protocol.TextEdit, error) {
	snapshot, path := moment(ctx), pathOf(params.TextDocument.URI)
	document := snapshot.Text(path)
	if document == nil || params.Ch != "\n" {
		return nil, nil
	}
	return s.textEdits(editor.Indent(snapshot, path, s.encoding().offset(document.Source(), params.Position))), nil
}
