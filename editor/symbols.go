package editor

import (
	"context"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// SymbolKind is the kind of a symbol.
type SymbolKind uint8

// The kinds of symbols.
const (
	ConfigSymbol SymbolKind = iota
	VariableSymbol
	ResourceSymbol
	OutputSymbol
	ComponentSymbol
	HookSymbol
)

// Symbol is a declaration.
type Symbol struct {
	Name      string
	Kind      SymbolKind
	Detail    string
	Path      string
	At, Named diag.Range // ranges of the declaration and its name in the whole text
	Children  []Symbol
}

// Symbols returns the declarations in a file, grouped by section.
func Symbols(ctx context.Context, s *Snapshot, path string) ([]Symbol, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.File == nil {
		return nil, err
	}
	var found []Symbol
	for _, symbol := range p.symbols() {
		// A program may be several files, and an outline is of one.
		if symbol.Path == path {
			found = append(found, symbol)
		}
	}
	return found, nil
}

// FindSymbols returns the declarations of all open programs with names that contain the letters of query in order,
// whatever their case. A project that cannot be read has no symbols; its findings say why.
func FindSymbols(ctx context.Context, s *Snapshot, query string) ([]Symbol, error) {
	var found []Symbol
	seen := map[string]bool{}
	for _, path := range s.Paths() {
		p, err := s.Program(ctx, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || p.File == nil || seen[p.Main] {
			continue
		}
		// Several open files may be of one program, which is searched once.
		seen[p.Main] = true
		for _, symbol := range p.symbols() {
			if matches(strings.ToLower(symbol.Name), strings.ToLower(query)) {
				found = append(found, symbol)
			}
		}
	}
	return found, nil
}

// symbols returns the declarations of all files of the program. Only the tree is needed, so that a program with errors
// has an outline.
func (p *Program) symbols() []Symbol {
	all := p.body(&p.File.Body)
	for _, c := range p.File.Components {
		symbol := p.symbol(ComponentSymbol, c.Name, c.Range, "component")
		symbol.Children = p.body(&c.Body)
		all = append(all, symbol)
	}
	for _, h := range p.File.Hooks {
		all = append(all, p.symbol(HookSymbol, h.Name, h.Range, "hook"))
	}
	return all
}

// symbol makes a symbol of a declaration with a range.
func (p *Program) symbol(kind SymbolKind, name ast.Literal, rng diag.Range, detail string) Symbol {
	whole := p.location(rng)
	return Symbol{Name: name.Value, Kind: kind, Detail: detail, Path: whole.Path, At: whole.At,
		Named: p.File.Origins.Place(name.Range)}
}

// body returns the declarations of the program or of a component.
func (p *Program) body(b *ast.Body) []Symbol {
	var all []Symbol
	for _, c := range b.Config {
		detail := "config"
		if c.Type != nil {
			detail = c.Type.String()
		}
		all = append(all, p.symbol(ConfigSymbol, c.Name, c.Range, detail))
	}
	for _, v := range b.Variables {
		all = append(all, p.symbol(VariableSymbol, v.Name, v.Range, "variable"))
	}
	for _, r := range b.Resources {
		all = append(all, p.symbol(ResourceSymbol, r.Name, r.Range,
			schema.CollapseToken(strings.TrimSpace(r.Type.Text()))))
	}
	for _, o := range b.Outputs {
		all = append(all, p.symbol(OutputSymbol, o.Name, o.Range, "output"))
	}
	return all
}
