package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// loader parses each file once for all targets. It is safe for concurrent use.
type loader struct {
	fset *token.FileSet
	root string // the folder of this module

	mu    sync.Mutex // guards the rest
	files map[string]func() (*ast.File, error)
}

// parse returns the syntax of a file, without the bodies of functions unless it is one of this module or a program that
// the go command makes of tests, whose name has no ending.
func (l *loader) parse(_ *token.FileSet, name string, text []byte) (*ast.File, error) {
	l.mu.Lock()
	read := l.files[name]
	if read == nil {
		read = sync.OnceValues(func() (*ast.File, error) {
			file, err := parser.ParseFile(l.fset, name, text, parser.SkipObjectResolution)
			if file == nil || strings.HasPrefix(name, l.root+string(filepath.Separator)) || filepath.Ext(name) != ".go" {
				return file, err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					f.Body = nil
				}
			}
			return file, err
		})
		l.files[name] = read
	}
	l.mu.Unlock()
	return read()
}

// check checks the types of a target's packages with their tests, and returns the references in those of this module
// that are linked into programs.
func (l *loader) check(t target) (*graph, error) {
	patterns, err := t.packages()
	if err != nil {
		return nil, err
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedForTest,
		Env: t.environ(), BuildFlags: []string{"-tags", t.tags}, Tests: true, Fset: l.fset, ParseFile: l.parse,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	g := newGraph()
	var programs []*packages.Package
	for _, p := range all {
		for _, fault := range p.Errors {
			if text := fault.Error(); !slices.Contains(g.faults, text) { // of a package, and of it with its tests
				g.faults = append(g.faults, text)
			}
		}
		if p.Name == "main" && p.ForTest == "" && !strings.HasSuffix(p.ID, ".test") {
			programs = append(programs, p)
		}
	}
	packages.Visit(all, nil, func(p *packages.Package) { g.interfaces(p.Types) })
	packages.Visit(programs, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Main {
			g.read(p)
		}
	})
	return g, nil
}
