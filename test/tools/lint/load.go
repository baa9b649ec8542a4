package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Name, ForTest string
	GoFiles, Imports               []string
	ImportMap                      map[string]string
	Module                         *struct {
		Path      string
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// own reports whether the package is one of this module.
func (p *listed) own() bool { return p.Module != nil && p.Module.Main }

// path returns the import path without the test that the package is built for.
func (p *listed) path() string {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return path
}

// loader parses each file once for all targets. It is safe for concurrent use.
type loader struct {
	fset  token.FileSet
	mu    sync.Mutex // guards the rest
	files map[string]*parsed
}

type parsed struct {
	once sync.Once
	file *ast.File
	err  error
}

// parse returns the syntax of a file, without the bodies of functions unless it is one of this module.
func (l *loader) parse(path string, own bool) (*ast.File, error) {
	l.mu.Lock()
	p := l.files[path]
	if p == nil {
		p = &parsed{}
		l.files[path] = p
	}
	l.mu.Unlock()
	p.once.Do(func() {
		if p.file, p.err = parser.ParseFile(&l.fset, path, nil, parser.SkipObjectResolution); own || p.file == nil {
			return
		}
		for _, d := range p.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
	})
	return p.file, p.err
}

// list returns the packages of a target with their tests and everything that they import, which comes first.
func list(t target) ([]*listed, error) {
	c := exec.Command("go", append([]string{"list", "-e", "-deps", "-test", "-tags", t.tags,
		"-json=ImportPath,Dir,Name,ForTest,GoFiles,Imports,ImportMap,Module,Error"}, t.patterns()...)...)
	c.Env = append(os.Environ(), "GOOS="+t.system, "GOARCH="+t.arch, "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	var all []*listed
	for decoder := json.NewDecoder(out); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, c.Wait()
		} else if err != nil {
			return nil, err
		}
		all = append(all, &p)
	}
}

// check checks the types of a target's packages and returns the references in those of this module.
func (l *loader) check(t target) (*graph, error) {
	all, err := list(t)
	if err != nil {
		return nil, err
	}
	tested := map[string]bool{} // packages whose bodies are checked together with their tests
	for _, p := range all {
		if p.own() && p.ForTest == p.path() {
			tested[p.path()] = true
		}
	}
	g := newGraph()
	reached := programs(all)
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range all {
		if strings.HasSuffix(p.ImportPath, ".test") || p.ImportPath == "unsafe" {
			continue
		}
		xtest := strings.HasSuffix(p.path(), "_test")
		bodies := p.own() && (p.ForTest == "" && !tested[p.path()] || p.ForTest != "" && (xtest || p.ForTest == p.path()))
		if p.own() && p.Error != nil {
			g.faults = append(g.faults, p.ImportPath+": "+p.Error.Err)
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := l.parse(filepath.Join(p.Dir, name), p.own())
			if err != nil && p.own() {
				g.faults = append(g.faults, err.Error())
			}
			if file != nil {
				files = append(files, file)
			}
		}
		config := types.Config{IgnoreFuncBodies: !bodies, FakeImportC: true, Sizes: types.SizesFor("gc", t.arch),
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped := p.ImportMap[path]; mapped != "" {
					path = mapped
				}
				if known := done[path]; known != nil {
					return known, nil
				}
				return nil, fmt.Errorf("there is no package %s on %s", path, t)
			}),
			Error: func(err error) {
				if bodies {
					g.faults = append(g.faults, err.Error())
				}
			}}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		var info *types.Info
		if bodies {
			info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
				Types: map[ast.Expr]types.TypeAndValue{}}
		}
		checked, _ := config.Check(p.path(), &l.fset, files, info) // config.Error has received the faults
		done[p.ImportPath] = checked
		g.interfaces(checked)
		if bodies && !xtest && reached[p.path()] {
			g.read(&l.fset, p, files, info)
		}
	}
	return g, nil
}

// programs returns the paths of the packages that are linked into programs.
func programs(all []*listed) map[string]bool {
	reached := map[string]bool{}
	for i := len(all) - 1; i >= 0; i-- { // a package comes before those that import it
		p := all[i]
		if p.ForTest != "" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		if p.own() && p.Name == "main" {
			reached[p.ImportPath] = true
		}
		if reached[p.ImportPath] {
			for _, path := range p.Imports {
				reached[path] = true
			}
		}
	}
	return reached
}

// importer is a function that finds packages.
type importer func(path string) (*types.Package, error)

// Import finds a package.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
