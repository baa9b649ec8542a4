package lsp

import (
	"context"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/editor/lsp/internal/protocol"
)

// place is the position that a request is about.
type place struct {
	snapshot *editor.Snapshot
	path     string
	offset   int
	e        encoding
}

// lookups answers requests that only read.
type lookups struct{ *settings }

// failed is the answer to a request whose program cannot be read: that is said by diagnostics, so that the request has
// none.
func failed(ctx context.Context) error { return ctx.Err() }

// Hover explains the name or value at a position.
func (s *lookups) Hover(ctx context.Context, params *protocol.PositionParams) (*protocol.Hover, error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.HoverAt(ctx, p.snapshot, p.path, p.offset)
	if err != nil || found == nil {
		return nil, failed(ctx)
	}
	return &protocol.Hover{Contents: protocol.Markdown(found.Text), Range: p.e.rangeOf(found.At)}, nil
}

// SignatureHelp shows the function whose arguments are being written.
func (s *lookups) SignatureHelp(ctx context.Context, params *protocol.PositionParams) (*protocol.SignatureHelp,
	error) {
	pl, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found := editor.SignatureAt(pl.snapshot, pl.path, pl.offset)
	if found == nil {
		return nil, nil
	}
	signature := protocol.Signature{Label: found.Label, Documentation: protocol.Markdown(found.Docs)}
	for _, p := range found.Parameters {
		signature.Parameters = append(signature.Parameters,
			protocol.Signature{Label: p.Name, Documentation: protocol.Markdown(p.Docs)})
	}
	help := &protocol.SignatureHelp{Signatures: []protocol.Signature{signature}}
	if found.Active >= 0 {
		help.ActiveParameter = &found.Active
	}
	return help, nil
}

func (p place) locations(found []editor.Location) []protocol.Location {
	list := make([]protocol.Location, 0, len(found))
	for _, l := range found {
		list = append(list, protocol.Location{URI: uriOf(l.Path), Range: p.e.rangeOf(l.At)})
	}
	return list
}

// Definition is where a name is declared.
func (s *lookups) Definition(ctx context.Context, params *protocol.PositionParams) ([]protocol.Location, error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.Definition(ctx, p.snapshot, p.path, p.offset)
	if err != nil {
		return nil, failed(ctx)
	}
	return p.locations(found), nil
}

// References are the uses of a name.
func (s *lookups) References(ctx context.Context, params *protocol.ReferenceParams) ([]protocol.Location, error) {
	p, open := s.placeOf(ctx, params.PositionParams)
	if !open {
		return nil, nil
	}
	found, err := editor.References(ctx, p.snapshot, p.path, p.offset, params.Context.IncludeDeclaration)
	if err != nil {
		return nil, failed(ctx)
	}
	return p.locations(found), nil
}

// DocumentHighlight are the uses of a name in one file.
func (s *lookups) DocumentHighlight(ctx context.Context, params *protocol.PositionParams) (
	[]protocol.DocumentHighlight, error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	found, err := editor.References(ctx, p.snapshot, p.path, p.offset, true)
	if err != nil {
		return nil, failed(ctx)
	}
	var list []protocol.DocumentHighlight
	for _, l := range found {
		if l.Path == p.path {
			list = append(list, protocol.DocumentHighlight{Range: p.e.rangeOf(l.At), Kind: protocol.HighlightText})
		}
	}
	return list, nil
}

// PrepareRename is the name that would be renamed.
func (s *rewriter) PrepareRename(ctx context.Context, params *protocol.PositionParams) (
	*protocol.RenamePlaceholder, error) {
	p, open := s.placeOf(ctx, *params)
	if !open {
		return nil, nil
	}
	name, where, ok := editor.Renamable(ctx, p.snapshot, p.path, p.offset)
	if !ok {
		return nil, failed(ctx)
	}
	return &protocol.RenamePlaceholder{Range: p.e.rangeOf(where), Placeholder: name}, nil
}

// Rename gives a name another one, in all files.
func (s *rewriter) Rename(ctx context.Context, params *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	p, open := s.placeOf(ctx, params.PositionParams)
	if !open {
		return nil, nil
	}
	edits, err := editor.Rename(ctx, p.snapshot, p.path, p.offset, params.NewName)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, protocol.Errorf(protocol.InvalidParams, "%v", err)
	}
	return workspaceEdit(p.e, edits), nil
}

var symbolKinds = map[editor.SymbolKind]int{
	editor.ConfigSymbol: protocol.SymbolConstant, editor.VariableSymbol: protocol.SymbolVariable,
	editor.ResourceSymbol: protocol.SymbolObject, editor.OutputSymbol: protocol.SymbolField,
	editor.ComponentSymbol: protocol.SymbolClass, editor.HookSymbol: protocol.SymbolEvent,
}

func (e encoding) symbols(found []editor.Symbol) []protocol.DocumentSymbol {
	list := make([]protocol.DocumentSymbol, 0, len(found))
	for _, s := range found {
		list = append(list, protocol.DocumentSymbol{Name: s.Name, Detail: s.Detail, Kind: symbolKinds[s.Kind],
			Range: e.rangeOf(s.At), SelectionRange: e.rangeOf(s.Named), Children: e.symbols(s.Children)})
	}
	return list
}

// DocumentSymbol are the declarations of a file.
func (s *lookups) DocumentSymbol(ctx context.Context, params *protocol.TextDocumentParams) (
	[]protocol.DocumentSymbol, error) {
	found, err := editor.Symbols(ctx, moment(ctx), pathOf(params.TextDocument.URI))
	if err != nil {
		return nil, failed(ctx)
	}
	return s.encoding().symbols(found), nil
}

// Symbols are the declarations of everything that is open.
func (s *lookups) Symbols(ctx context.Context, params *protocol.SymbolParams) ([]protocol.WorkspaceSymbol,
	error) {
	found, err := editor.FindSymbols(ctx, moment(ctx), params.Query)
	if err != nil {
		return nil, failed(ctx)
	}
	list := make([]protocol.WorkspaceSymbol, 0, len(found))
	for _, symbol := range found {
		shown := protocol.WorkspaceSymbol{Location: protocol.Location{URI: uriOf(symbol.Path),
			Range: s.encoding().rangeOf(symbol.Named)}}
		shown.Name, shown.Kind = symbol.Name, symbolKinds[symbol.Kind]
		list = append(list, shown)
	}
	return list, nil
}
