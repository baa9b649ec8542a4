package langhost

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/langhost/reading"
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
	w.packages = reading.Packages(files)
	return w, nil
}

// readProgram reads the program's text, which may be that of the project file (L1.7).
func (w *workspace) readProgram() error {
	var found diag.Diagnostics
	w.program, found = w.project.FindProgram()
	w.diags.Add(found...)
	if w.program.Path != "" {
		var err error
		if w.source, err = reading.Source(w.project, w.program.Path, shownPath(w.project.Dir)); err != nil {
			return err
		}
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

// parse reads the program's text. names are those of configuration that the text does not declare.
func (w *workspace) parse(names []string) (*ast.File, diag.Diagnostics) {
	for _, d := range w.project.Config {
		if d.Own {
			names = append(names, d.Key.Name)
		}
	}
	return reading.Parse(w.source, w.project, parser.Options{
		Declared: names, Include: project.Includer(w.program.Dir, shownPath(w.project.Dir)),
	})
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
