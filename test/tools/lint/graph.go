package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// graph holds the references between declarations of this module. Declarations in two targets are the same if they are
// at the same place.
type graph struct {
	faults []string
	found  map[string]*declaration // by place
	roots  map[string]bool         // places that are always reached
	called map[string]bool         // names of methods that some interface has
}

// declaration is a function, a method or a type.
type declaration struct {
	place, name string
	method      string          // its name, of a method
	receiver    string          // the place of the type, of a method
	uses        map[string]bool // places
}

func newGraph() *graph {
	return &graph{found: map[string]*declaration{}, roots: map[string]bool{}, called: map[string]bool{}}
}

// add adds the graph of another target.
func (g *graph) add(other *graph) {
	for place, d := range other.found {
		if known := g.found[place]; known != nil {
			for use := range d.uses {
				known.uses[use] = true
			}
			continue
		}
		g.found[place] = d
	}
	for place := range other.roots {
		g.roots[place] = true
	}
	for name := range other.called {
		g.called[name] = true
	}
}

// interfaces records the methods of the interfaces that a package declares.
func (g *graph) interfaces(p *types.Package) {
	for _, name := range p.Scope().Names() {
		if t, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
			g.note(t.Type())
		}
	}
}

// note records the methods of a type that is an interface.
func (g *graph) note(t types.Type) {
	if i, ok := t.Underlying().(*types.Interface); ok {
		for m := range i.Methods() {
			g.called[m.Name()] = true
		}
	}
}

// read adds the declarations of a package.
func (g *graph) read(p *packages.Package) {
	info := p.TypesInfo
	place := func(pos token.Pos) string {
		at := p.Fset.Position(pos)
		return at.Filename + ":" + strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Column)
	}
	uses := func(n ast.Node, into map[string]bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if tv, ok := info.Types[e]; ok && tv.IsType() {
					g.note(tv.Type)
				}
			}
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			switch o := info.Uses[id].(type) {
			case *types.Func:
				into[place(o.Origin().Pos())] = true
			case *types.TypeName:
				into[place(o.Pos())] = true
			case *types.Var: // an embedded field is named by its type
				if o.Embedded() {
					into[place(o.Pos())] = true
				}
			}
			return true
		})
	}
	declare := func(id *ast.Ident, name string) *declaration {
		d := &declaration{place: place(id.Pos()), name: strings.TrimPrefix(p.PkgPath, p.Module.Path+"/") + "." + name,
			uses: map[string]bool{}}
		g.found[d.place] = d
		return d
	}
	for _, file := range p.Syntax {
		for _, node := range file.Decls {
			switch node := node.(type) {
			case *ast.FuncDecl:
				f, _ := info.Defs[node.Name].(*types.Func)
				switch {
				case f == nil || node.Name.Name == "main" || node.Name.Name == "init" || node.Name.Name == "_":
					uses(node, g.roots)
				case node.Recv == nil:
					uses(node, declare(node.Name, node.Name.Name).uses)
				default:
					named := namedOf(f.Signature().Recv().Type())
					d := declare(node.Name, named.Obj().Name()+"."+node.Name.Name)
					d.method, d.receiver = node.Name.Name, place(named.Obj().Pos())
					uses(node, d.uses)
				}
			case *ast.GenDecl:
				for _, spec := range node.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok && !t.Assign.IsValid() {
						uses(t, declare(t.Name, t.Name.Name).uses)
					} else {
						uses(spec, g.roots)
					}
				}
			}
		}
	}
}

// namedOf returns the type that a receiver names.
func namedOf(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.(*types.Named)
}

// unreachable returns the functions, methods and types that no program reaches, in order. A method is reached if
// something calls it, or if its type is reached and some interface has a method of its name.
func (g *graph) unreachable() []*declaration {
	implements := map[string][]string{} // places of methods, by that of their type
	for place, d := range g.found {
		if d.method != "" && g.called[d.method] {
			implements[d.receiver] = append(implements[d.receiver], place)
		}
	}
	reached := map[string]bool{}
	var work []string
	visit := func(place string) {
		if !reached[place] {
			reached[place] = true
			work = append(work, place)
		}
	}
	for place := range g.roots {
		visit(place)
	}
	for len(work) > 0 {
		place := work[len(work)-1]
		work = work[:len(work)-1]
		for _, method := range implements[place] {
			visit(method)
		}
		if d := g.found[place]; d != nil {
			for use := range d.uses {
				visit(use)
			}
		}
	}
	var left []*declaration
	for _, place := range slices.Sorted(maps.Keys(g.found)) {
		if !reached[place] {
			left = append(left, g.found[place])
		}
	}
	return left
}
