package lsp

import (
	"context"
	"strings"

	"go.lsp.dev/uri"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Requests that return edits.

var actionKinds = map[editor.ActionKind]string{
	editor.FillAction: protocol.QuickFix, editor.ExtractAction: protocol.RefactorExtract,
	editor.InlineAction:  protocol.RefactorInline,
	editor.RewriteAction: protocol.RefactorRewrite, editor.DeclareAction: protocol.QuickFix,
	editor.QuoteAction: protocol.RefactorRewrite, editor.MoveAction: protocol.RefactorMove,
	editor.KeepAction: protocol.QuickFix,
}

// codeActions returns the quick fixes and other actions for a range.
func (s *server) codeActions(ctx context.Context, t text) (any, error) {
	// A client asks for a kind with all kinds below it, as in refactor for refactor.extract.
	wanted := func(kind string) bool {
		for _, only := range t.Context.Only {
			if kind == only || strings.HasPrefix(kind, only+".") || only == "" {
				return true
			}
		}
		return len(t.Context.Only) == 0
	}
	start, end := t.selection()
	actions := []protocol.CodeAction{}
	if wanted(protocol.QuickFix) {
		fixes, err := editor.Fixes(ctx, t.snapshot, t.path, start, end)
		if err != nil {
			return nil, err
		}
		for _, fix := range fixes {
			actions = append(actions, protocol.CodeAction{Title: fix.Label, Kind: protocol.QuickFix,
				IsPreferred: !fix.Guess,
				// Clients show the fix beside the finding that it names, and run preferred fixes for all findings of a
				// file.
				Diagnostics: []protocol.Diagnostic{t.e.diagnostic(t.snapshot, t.path, fix.Finding)},
				Edit:        t.e.changes(fix.Edits)})
		}
	}
	offered, err := editor.Actions(ctx, t.snapshot, t.path, start, end)
	if err != nil {
		return nil, err
	}
	for _, action := range offered {
		kind := actionKinds[action.Kind]
		// Half of such an action would leave a file whose ending is wrong.
		if wanted(kind) && (action.Renamed == "" || s.client.Load().renames) {
			actions = append(actions, protocol.CodeAction{Title: action.Title, Kind: kind,
				Edit: s.actionEdit(t, action)})
		}
	}
	return actions, nil
}

// actionEdit returns the workspace edit of an action, with a snippet or a rename if the client supports them.
func (s *server) actionEdit(t text, action editor.Action) object {
	// Snippets and renames need documentChanges, the newer form of edits.
	snippet := action.Snippet != "" && s.client.Load().snippets
	if !snippet && action.Renamed == "" {
		return t.e.changes(action.Edits)
	}
	// The version lets a client refuse the edit if the user has typed meanwhile; null is that of a file on disk.
	document := object{"uri": uriOf(t.path), "version": nil}
	if version, open := s.versionOf(t.path); open {
		document["version"] = version
	}
	var edits any = each(action.Edits[t.path], t.e.edit)
	if snippet {
		edits = each(action.Edits[t.path], func(edit diag.Edit) object {
			return object{"range": t.e.rangeOf(edit.Range), "snippet": object{"kind": "snippet", "value": action.Snippet}}
		})
	}
	changes := []object{{"textDocument": document, "edits": edits}}
	if action.Renamed != "" {
		// After the edits, which name the file by its old path.
		changes = append(changes, object{"kind": "rename", "oldUri": uriOf(t.path), "newUri": uriOf(action.Renamed)})
	}
	return object{"documentChanges": changes}
}

// edit converts an edit. Line breaks of the text become those of the file.
func (e encoding) edit(edit diag.Edit) protocol.TextEdit {
	return protocol.TextEdit{Range: e.rangeOf(edit.Range), NewText: edit.Range.Source.WithBreaks(edit.Text)}
}

// changes returns a workspace edit in the form that every client supports.
func (e encoding) changes(edits map[string][]diag.Edit) object {
	changes := map[uri.URI][]protocol.TextEdit{}
	for path, list := range edits {
		changes[uriOf(path)] = each(list, e.edit)
	}
	if len(changes) == 0 {
		return object{}
	}
	return object{"changes": changes}
}

// prepareRename returns the name at a position that can be renamed.
func prepareRename(ctx context.Context, t text) (any, error) {
	name, where, ok := editor.Renamable(ctx, t.snapshot, t.path, t.offset())
	if !ok {
		return nil, ctx.Err()
	}
	return object{"range": t.e.rangeOf(where), "placeholder": name}, nil
}

// rename returns the edits that rename a declaration in all files.
func rename(ctx context.Context, t text) (any, error) {
	edits, err := editor.Rename(ctx, t.snapshot, t.path, t.offset(), t.NewName)
	if err != nil {
		if ctx.Err() == nil {
			// The client shows such an error to the user, who has chosen a name that is taken or is none.
			err = protocol.Errorf(protocol.InvalidParams, "%v", err)
		}
		return nil, err
	}
	return t.e.changes(edits), nil
}

// willRenameFiles returns the edits that update paths in texts before files are renamed.
func (s *server) willRenameFiles(ctx context.Context, params *protocol.RenameFilesParams) (any, error) {
	all := map[string][]diag.Edit{}
	for _, file := range params.Files {
		from, errFrom := uri.Parse(file.OldURI)
		to, errTo := uri.Parse(file.NewURI)
		if errFrom != nil || errTo != nil {
			continue
		}
		edits, err := editor.Moved(ctx, snapshotOf(ctx), pathOf(from), pathOf(to))
		if err != nil {
			return nil, ctx.Err()
		}
		for path, list := range edits {
			// Several files may be moved at once, as with a folder, and one text may name many of them.
			all[path] = append(all[path], list...)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return s.encoding().changes(all), nil
}

// formatting formats a whole text.
func formatting(_ context.Context, t text) (any, error) {
	return each(editor.Format(t.snapshot, t.path, 0, -1), t.e.edit), nil
}

// rangeFormatting formats the lines of a range as if the whole text were formatted.
func rangeFormatting(_ context.Context, t text) (any, error) {
	start, end := t.selection()
	return each(editor.Format(t.snapshot, t.path, start, end), t.e.edit), nil
}

// onTypeFormatting indents a new line.
func onTypeFormatting(_ context.Context, t text) (any, error) {
	// The one character that the server asked for; some clients send others, too.
	if t.Ch != "\n" {
		return nil, nil
	}
	return each(editor.Indent(t.snapshot, t.path, t.offset()), t.e.edit), nil
}
