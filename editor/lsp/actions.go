package lsp

import (
	"context"
	"slices"
	"strings"

	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

var actionKinds = map[editor.ActionKind]string{
	editor.FillAction: protocol.QuickFix, editor.ExtractAction: protocol.RefactorExtract,
	editor.InlineAction:  protocol.RefactorInline,
	editor.RewriteAction: protocol.RefactorRewrite, editor.DeclareAction: protocol.QuickFix,
	editor.QuoteAction: protocol.RefactorRewrite, editor.MoveAction: protocol.RefactorMove,
	editor.KeepAction: protocol.QuickFix,
}

// editing lists the workspace edits that a client supports.
type editing struct{ snippets, renames bool }

func editingOf(c protocol.Capabilities) editing {
	edit := c.Workspace.WorkspaceEdit
	return editing{snippets: edit.SnippetEditSupport && edit.DocumentChanges,
		renames: slices.Contains(edit.ResourceOperations, "rename")}
}

// rewriter answers requests for edits of texts.
type rewriter struct {
	*settings
	documents *documents
}

// CodeAction offers the fixes of findings, and what else can be done with a stretch.
func (s *rewriter) CodeAction(ctx context.Context, params *protocol.CodeActionParams) ([]protocol.CodeAction,
	error) {
	path := pathOf(params.TextDocument.URI)
	snapshot := moment(ctx)
	document := snapshot.Text(path)
	if document == nil {
		return nil, nil
	}
	wanted := func(kind string) bool {
		for _, only := range params.Context.Only {
			if kind == only || strings.HasPrefix(kind, only+".") || only == "" {
				return true
			}
		}
		return len(params.Context.Only) == 0
	}
	e := s.encoding()
	start, end := e.offsets(document.Source(), params.Range)
	actions := []protocol.CodeAction{}
	if wanted(protocol.QuickFix) {
		fixes, err := editor.Fixes(ctx, snapshot, path, start, end)
		if err != nil {
			return nil, ctx.Err()
		}
		for _, fix := range fixes {
			actions = append(actions, protocol.CodeAction{Title: fix.Label, Kind: protocol.QuickFix, IsPreferred: true,
				Diagnostics: []protocol.Diagnostic{e.diagnostic(snapshot, path, fix.Finding)},
				Edit:        workspaceEdit(e, fix.Edits)})
		}
	}
	offered, err := editor.Actions(ctx, snapshot, path, start, end)
	if err != nil {
		return nil, ctx.Err()
	}
	can := s.editing()
	for _, action := range offered {
		kind := actionKinds[action.Kind]
		if !wanted(kind) || action.Renamed != "" && !can.renames {
			continue
		}
		actions = append(actions, protocol.CodeAction{Title: action.Title, Kind: kind,
			Edit: s.actionEdit(e, can, path, action)})
	}
	return actions, nil
}

// actionEdit is the edit of an action as a client understands it.
func (s *rewriter) actionEdit(e encoding, can editing, path string, action editor.Action) *protocol.WorkspaceEdit {
	snippet := action.Snippet != "" && can.snippets
	if !snippet && action.Renamed == "" {
		return workspaceEdit(e, action.Edits)
	}
	change := &protocol.TextDocumentEdit{}
	change.TextDocument.URI = uriOf(path)
	if version, open := s.documents.versionOf(path); open {
		change.TextDocument.Version = &version
	}
	for _, edit := range action.Edits[path] {
		if snippet {
			change.Edits = append(change.Edits, protocol.SnippetEdit{Range: e.rangeOf(edit.Range),
				Snippet: protocol.Snippet{Kind: "snippet", Value: action.Snippet}})
			continue
		}
		change.Edits = append(change.Edits, protocol.TextEdit{Range: e.rangeOf(edit.Range), NewText: edit.Text})
	}
	changes := []any{change}
	if action.Renamed != "" {
		changes = append(changes, protocol.RenameFile{Kind: "rename", OldURI: uriOf(path), NewURI: uriOf(action.Renamed)})
	}
	return &protocol.WorkspaceEdit{DocumentChanges: changes}
}

func workspaceEdit(e encoding, edits map[string][]diag.Edit) *protocol.WorkspaceEdit {
	changes := map[uri.URI][]protocol.TextEdit{}
	for path, list := range edits {
		for _, edit := range list {
			changes[uriOf(path)] = append(changes[uriOf(path)], protocol.TextEdit{Range: e.rangeOf(edit.Range),
				NewText: edit.Text})
		}
	}
	return &protocol.WorkspaceEdit{Changes: changes}
}
