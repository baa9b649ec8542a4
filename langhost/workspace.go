package langhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/project"
	"github.com/yamlhost/yamlhost/schema"
)

// workspace is a project with the text of its program and the packages that are declared beside it.
type workspace struct {
	project  *project.Project
	program  project.Program
	source   *diag.Source // of the program; nil when there is none
	packages []schema.Descriptor
	diags    diag.Diagnostics
}

// environment is what a compiler of programs may know of a run (L1.F2). The zero value is that of a run without a stack.
type environment struct {
	stack, organization, project string
	config                       map[string]string
}

// open reads the project that a request names.
func (h *Host) open(ctx context.Context, info *pulumirpc.ProgramInfo, env environment) (*workspace, error) {
	root := info.GetRootDirectory()
	if root == "" {
		return nil, errors.New("the request names no root directory")
	}
	path, err := project.Find(root)
	if err != nil {
		return nil, err
	}
	p, diags, err := project.Load(path, shownPath(root)(path))
	if err != nil {
		return nil, err
	}
	w := &workspace{project: p, diags: diags}
	compiler, err := compilerOf(info)
	if err != nil {
		return nil, err
	}
	if compiler != "" {
		w.program.Dir = info.GetProgramDirectory()
		if w.program.Dir == "" {
			w.program.Dir = p.Dir
		}
		text, err := h.compile(ctx, compiler, w.program.Dir, root, env)
		if err != nil {
			return nil, err
		}
		w.source = diag.NewSource("<"+compiler+">", project.StripBOM(text))
	} else if err := w.readProgram(); err != nil {
		return nil, err
	}
	files, found, err := project.PackageFiles(w.program.Dir, shownPath(root))
	if err != nil {
		return nil, err
	}
	if p.Dir != w.program.Dir {
		beside, more, err := project.PackageFiles(filepath.Join(p.Dir, "sdks"), shownPath(root))
		if err == nil { // no such folder, no packages
			files, found = append(files, beside...), append(found, more...)
		}
	}
	w.diags.Add(found...)
	w.packages = descriptors(files)
	return w, nil
}

// readProgram reads the program's text, which may be that of the project file (L1.7).
func (w *workspace) readProgram() error {
	var found diag.Diagnostics
	w.program, found = w.project.FindProgram()
	w.diags.Add(found...)
	switch w.program.Path {
	case "":
	case w.project.Path:
		w.source = w.project.Source
	default:
		text, err := os.ReadFile(w.program.Path)
		if err != nil {
			return fmt.Errorf("read program: %w", err)
		}
		w.source = diag.NewSource(shownPath(w.project.Dir)(w.program.Path), project.StripBOM(text))
	}
	if w.program.Dir == "" {
		w.program.Dir = w.project.Dir
	}
	return nil
}

// shownPath is how a path is called in messages: relative to a directory when it lies in it.
func shownPath(dir string) func(string) string {
	return func(path string) string {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			return path
		}
		return filepath.ToSlash(rel)
	}
}

// descriptors are the packages that declarations stand for, each once.
func descriptors(files []project.PackageFile) []schema.Descriptor {
	var found []schema.Descriptor
	seen := map[string]bool{}
	for _, f := range files {
		d := schema.Descriptor{Name: f.Name, Version: f.Version, DownloadURL: f.DownloadURL}
		p := f.Parameterization
		if f.Extension != nil {
			p, d.Extension = f.Extension, true
		}
		if p != nil {
			d.Parameterization = &schema.Parameterization{Name: p.Name, Version: p.Version, Value: p.Value}
		}
		if key := d.Key(); !seen[key] {
			seen[key] = true
			found = append(found, d)
		}
	}
	return found
}

// parse reads the program's text. names are those of configuration that the text does not declare.
func (w *workspace) parse(names []string) (*ast.File, diag.Diagnostics) {
	for _, d := range w.project.Config {
		if d.Own {
			names = append(names, d.Key.Name)
		}
	}
	file, diags := parser.Parse(w.source, parser.Options{
		Declared: names, Include: project.Includer(w.program.Dir, shownPath(w.project.Dir)),
	})
	if w.source == w.project.Source {
		return file, diags
	}
	return withDeclarations(file, w.project), diags
}

// check is the way from text to a checked program, with everything there is to say about it.
func (w *workspace) check(ctx context.Context, schemas schema.Loader, config map[string]check.ConfigText, name string) (*check.Program, diag.Diagnostics) {
	if w.source == nil {
		return nil, w.diags
	}
	var names []string
	for key := range config {
		names = append(names, key)
		if own, ok := cutNamespace(key, name); ok {
			names = append(names, own)
		}
	}
	file, parsed := w.parse(names)
	program, checked := check.Check(ctx, file, check.Options{
		Project: name, Schemas: schemas, Packages: w.packages, Config: config, ConfigKnown: true, ProgramDir: w.program.Dir,
	})
	return program, slices.Concat(w.diags, parsed, checked)
}

// cutNamespace is the name of a configuration key of the project's own.
func cutNamespace(key, name string) (string, bool) {
	if len(key) > len(name) && key[:len(name)] == name && key[len(name)] == ':' {
		return key[len(name)+1:], true
	}
	return "", false
}

// withDeclarations is a program with the configuration that its project file declares beside it (L1.7), so that values of
// the stack have their declared types in the program too (L2.33).
func withDeclarations(file *ast.File, p *project.Project) *ast.File {
	declared := map[string]bool{}
	for _, c := range file.Config {
		declared[c.Name.Value] = true
		if c.Key != nil {
			declared[c.Key.Value] = true
		}
	}
	whole := *file
	whole.Config = slices.Clone(file.Config)
	for _, d := range p.Config {
		if !d.Own || declared[d.Key.Name] {
			continue
		}
		c := &ast.Config{Name: ast.Literal{Value: d.Key.Name, Range: d.Place}, Range: d.Place, Secret: &ast.BoolLiteral{Value: d.Secret, Range: d.Place}}
		if t := d.ValueType(); t != nil {
			c.Type = declaredType(t, d.Place)
		}
		if d.Optional {
			c.Optional = &ast.BoolLiteral{Value: true, Range: d.Place}
		}
		whole.Config = append(whole.Config, c)
	}
	return &whole
}

func declaredType(t *project.Type, at diag.Range) *ast.ConfigType {
	if t.Name != "array" {
		return &ast.ConfigType{Name: t.Name, Range: at}
	}
	list := &ast.ConfigType{Name: "list", Range: at}
	if t.Item != nil {
		list.Item = declaredType(t.Item, at)
	}
	return list
}
