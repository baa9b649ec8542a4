package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// Read-only requests. After an error there is no answer; diagnostics report programs that cannot be read.

// hover describes the name or value at a position.
func hover(ctx context.Context, t text) (any, error) {
	found, err := editor.HoverAt(ctx, t.snapshot, t.path, t.offset())
	if err != nil || found == nil {
		return nil, err
	}
	return object{"contents": protocol.Markdown(found.Text), "range": t.e.rangeOf(found.At)}, nil
}

// signatureHelp describes the function whose arguments contain the position.
func signatureHelp(_ context.Context, t text) (any, error) {
	found := editor.SignatureAt(t.snapshot, t.path, t.offset())
	if found == nil {
		return nil, nil
	}
	signature := protocol.Signature{Label: found.Label, Documentation: protocol.Markdown(found.Docs)}
	for _, p := range found.Parameters {
		signature.Parameters = append(signature.Parameters,
			protocol.Signature{Label: p.Name, Documentation: protocol.Markdown(p.Docs)})
	}
	help := object{"signatures": []protocol.Signature{signature}}
	if found.Active >= 0 {
		help["activeParameter"] = found.Active
	}
	return help, nil
}

// locations converts the results of a function of package editor.
func (e encoding) locations(found []editor.Location, err error) (any, error) {
	return each(found, func(l editor.Location) protocol.Location {
		return protocol.Location{URI: uriOf(l.Path), Range: e.rangeOf(l.At)}
	}), err
}

// definition returns the declaration of a name.
func definition(ctx context.Context, t text) (any, error) {
	return t.e.locations(editor.Definition(ctx, t.snapshot, t.path, t.offset()))
}

// typeDefinition returns the declaration of a component or dynamic type.
func typeDefinition(ctx context.Context, t text) (any, error) {
	return t.e.locations(editor.TypeDefinition(ctx, t.snapshot, t.path, t.offset()))
}

// references returns the uses of a name.
func references(ctx context.Context, t text) (any, error) {
	return t.e.locations(editor.References(ctx, t.snapshot, t.path, t.offset(), t.Context.IncludeDeclaration))
}

// highlights returns the declaration and uses of a name in one file.
func highlights(ctx context.Context, t text) (any, error) {
	found, err := editor.References(ctx, t.snapshot, t.path, t.offset(), true)
	var list []object
	for _, l := range found {
		if l.Path == t.path {
			list = append(list, object{"range": t.e.rangeOf(l.At), "kind": protocol.HighlightText})
		}
	}
	return list, err
}

// linkedRanges returns the occurrences of a name that can be edited together.
func linkedRanges(ctx context.Context, t text) (any, error) {
	found, err := editor.Linked(ctx, t.snapshot, t.path, t.offset())
	if len(found) == 0 {
		return nil, err
	}
	return object{"ranges": each(found, t.e.rangeOf), "wordPattern": editor.NamePattern}, err
}

var symbolKinds = map[editor.SymbolKind]int{
	editor.ConfigSymbol: protocol.SymbolConstant, editor.VariableSymbol: protocol.SymbolVariable,
	editor.ResourceSymbol: protocol.SymbolObject, editor.OutputSymbol: protocol.SymbolField,
	editor.ComponentSymbol: protocol.SymbolClass, editor.HookSymbol: protocol.SymbolEvent,
}

// symbol converts a declaration with those inside it.
func (e encoding) symbol(s editor.Symbol) protocol.DocumentSymbol {
	return protocol.DocumentSymbol{Name: s.Name, Detail: s.Detail, Kind: symbolKinds[s.Kind], Range: e.rangeOf(s.At),
		SelectionRange: e.rangeOf(s.Named), Children: each(s.Children, e.symbol)}
}

// documentSymbols returns the declarations in a file.
func documentSymbols(ctx context.Context, t text) (any, error) {
	found, err := editor.Symbols(ctx, t.snapshot, t.path)
	return each(found, t.e.symbol), err
}

// workspaceSymbols returns the matching declarations of all open programs.
func (s *server) workspaceSymbols(ctx context.Context, params *protocol.SymbolParams) (any, error) {
	found, err := editor.FindSymbols(ctx, snapshotOf(ctx), params.Query)
	if err != nil {
		return nil, ctx.Err()
	}
	e := s.encoding()
	return each(found, func(s editor.Symbol) object {
		return object{"name": s.Name, "kind": symbolKinds[s.Kind],
			"location": protocol.Location{URI: uriOf(s.Path), Range: e.rangeOf(s.Named)}}
	}), nil
}

// The call hierarchy shows the dependency graph: a declaration calls its dependencies.

// hierarchyItem converts a declaration for the call hierarchy. The client sends it back, and calls finds the
// declaration again by its position.
func (e encoding) hierarchyItem(symbol editor.Symbol) protocol.CallHierarchyItem {
	return protocol.CallHierarchyItem{Name: symbol.Name, Kind: symbolKinds[symbol.Kind], Detail: symbol.Detail,
		URI: uriOf(symbol.Path), Range: e.rangeOf(symbol.At), SelectionRange: e.rangeOf(symbol.Named)}
}

// prepareHierarchy returns the declaration of the name at a position.
func prepareHierarchy(ctx context.Context, t text) (any, error) {
	found, err := editor.Declared(ctx, t.snapshot, t.path, t.offset())
	if err != nil || found == nil {
		return nil, err
	}
	return []protocol.CallHierarchyItem{t.e.hierarchyItem(*found)}, nil
}

// calls answers a request for the incoming or outgoing calls of a declaration. key is the field for the other
// declaration.
func (s *server) calls(key string, find func(context.Context, *editor.Snapshot, string, int) ([]editor.Dependency,
	error)) answer {
	dependencies := s.whenOpen(func(ctx context.Context, t text) (any, error) {
		found, err := find(ctx, t.snapshot, t.path, t.offset())
		return each(found, func(d editor.Dependency) object {
			return object{key: t.e.hierarchyItem(d.Symbol), "fromRanges": each(d.Uses, t.e.rangeOf)}
		}), err
	})
	return request(func(ctx context.Context, params *protocol.CallParams) (any, error) {
		return dependencies(ctx, &protocol.TextParams{TextDocument: protocol.TextDocument{URI: params.Item.URI},
			Position: params.Item.SelectionRange.Start})
	})
}

// inlayHints returns the types of expressions, names of resources and defaults in a range.
func inlayHints(ctx context.Context, t text) (any, error) {
	start, end := t.selection()
	found, err := editor.Hints(ctx, t.snapshot, t.path, start, end)
	return each(found, func(h editor.Hint) protocol.InlayHint {
		position := t.e.rangeOf(h.At).End
		if h.Kind == editor.TypeHint {
			return protocol.InlayHint{Position: position, Label: ": " + h.Text, Kind: protocol.HintType}
		}
		return protocol.InlayHint{Position: position, Label: h.Text, PaddingLeft: true}
	}), err
}

// codeLenses shows the state of each resource in the selected stack.
func codeLenses(ctx context.Context, t text) (any, error) {
	found, err := editor.Lenses(ctx, t.snapshot, t.path)
	return each(found, func(l editor.Lens) object {
		return object{"range": t.e.rangeOf(l.At), "command": object{"title": l.Text, "command": ""}} // only shows text
	}), err
}

// documentLinks returns the paths of files in a text.
func documentLinks(ctx context.Context, t text) (any, error) {
	found, err := editor.Links(ctx, t.snapshot, t.path)
	return each(found, func(l editor.Link) object {
		return object{"range": t.e.rangeOf(l.At), "target": uriOf(l.Target)}
	}), err
}

// foldingRanges returns the ranges of lines that can be collapsed.
func foldingRanges(_ context.Context, t text) (any, error) {
	return each(editor.Folds(t.snapshot, t.path), func(f editor.Fold) protocol.FoldingRange {
		fold := protocol.FoldingRange{StartLine: f.First - 1, EndLine: f.Last - 1}
		if f.Comment {
			fold.Kind = "comment"
		}
		return fold
	}), nil
}

// selectionRanges returns the nested ranges around each position.
func selectionRanges(ctx context.Context, t text) (any, error) {
	list := make([]*protocol.SelectionRange, len(t.Positions))
	for i, position := range t.Positions {
		found, err := editor.Selection(ctx, t.snapshot, t.path, t.e.offset(t.src, position))
		if err != nil {
			return nil, err
		}
		for k := len(found) - 1; k >= 0; k-- {
			list[i] = &protocol.SelectionRange{Range: t.e.rangeOf(found[k]), Parent: list[i]}
		}
	}
	return list, nil
}
