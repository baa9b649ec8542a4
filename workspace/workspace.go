package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/crd"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Workspace is a project with the text of its program. A workspace with faults can still be checked as far as its parts
// could be read. It is not safe for concurrent use.
type Workspace struct {
	Project *project.Project
	Program project.Program
	Source  *diag.Source // the program's text; nil if there is none, or before a compiler has printed it
	// Packages are the packages declared beside the program (L1.H).
	Packages []schema.Descriptor
	// Components are the component packages that are used by path (L7.31).
	Components []check.LocalPackage
	// Plugins are the packages that the project refers to by the path of a plugin's folder (L7.31). They are never
	// looked up anywhere else.
	Plugins []Plugin
	// CRDs are the Kubernetes kinds defined by the project's files; nil if there are none.
	CRDs *crd.Set
	// Parts are the program's included texts, without Source, as far as they have been read.
	Parts []*diag.Source
	// Diags are the findings about the project file, the program's packages and plugins. Check returns them too.
	Diags diag.Diagnostics

	options     Options
	packaged    bool             // it is a package of components
	kindsUnread bool             // a pattern of definitions of Kubernetes kinds matches no file
	compiler    *project.Literal // the command in effect; nil if the program is a file
	find        func(pattern string) ([]*diag.Source, error)
	included    map[*diag.Source]bool // the texts that find returned
}

// Options are the options of Open and its variants.
type Options struct {
	// Shown returns a path as messages show it; nil shows paths unchanged.
	Shown func(path string) string
	// Compile runs the compiler of a project that has one (L1.F). It is nil if commands of the project must not be
	// started, as in `check` (D13); then Check reports that the program was not checked.
	Compile Compiler
	// CompilerOption overrides the runtime option compiler of the project file; nil keeps it. An empty text means no
	// compiler.
	CompilerOption *string
	// ProgramDir is the folder in which a compiler runs. If empty, it is the program folder set in the project file.
	ProgramDir string
	// Opened returns the text of a file that is open in an editor, by the name that Shown gives it, or nil for any
	// other file. The function is nil if there is no editor.
	Opened func(shown string) *diag.Source
	// Outline returns the text of a file that is open in an editor without the lines of project.ProgramSections, or nil
	// if unknown. The function may be nil.
	Outline func(shown string) []byte
	// Declarations caches the packages declared beside programs; nil looks for them each time.
	Declarations *project.FoundPackages
	// CRDs caches the Kubernetes kinds that files define; nil reads the files each time.
	CRDs *crd.Cache
	// Confined restricts reading to the project's folder, with symbolic links resolved, for a project that is not
	// trusted (D13).
	Confined bool
	// Within is like Confined for a folder that holds projects: only in it are files read; empty for no such folder.
	Within string
	// Texts caches the programs that Parse has parsed for a later Check of the same program; nil disables caching.
	Texts *Texts
	// Inherit adds the values of a stack's environments to its settings (project.Settings.Inherit); nil leaves them
	// out.
	Inherit func(*project.Project, *project.Settings)
	// Installed finds installed packages from git repositories; nil finds none.
	Installed project.Installed
	// LocalPackages enables reading of the packages that the project uses by path: component packages and plugins.
	LocalPackages bool
}

// FindProject finds and reads the project file in dir or the nearest folder above it (L1.1). The error wraps
// project.ErrNotFound if there is none.
func FindProject(dir string, o Options) (*project.Project, diag.Diagnostics, error) {
	p, diags, err := o.load(dir)
	if err != nil {
		return nil, nil, err
	}
	return p, append(diags, p.Shared...), nil
}

// load is FindProject without the findings in Project.Shared. A text that is open in the editor is taken from there.
func (o Options) load(dir string) (*project.Project, diag.Diagnostics, error) {
	path, err := project.Find(dir)
	if err != nil {
		return nil, nil, err
	}
	src := o.opened(path)
	if src == nil {
		door := o.door(filepath.Dir(path))
		p, diags, err := project.Load(door, path, o.shown(path))
		if p != nil {
			p.Installed = o.Installed
		}
		if errors.Is(err, confine.ErrOutside) {
			err = o.within(door.Folder, path)
		}
		return p, diags, err
	}
	var outline []byte
	if o.Outline != nil {
		outline = o.Outline(o.shown(path))
	}
	p, diags := project.ParseOutlined(src, outline)
	p.Path, p.Dir, p.Installed = path, filepath.Dir(path), o.Installed
	p.Door = o.door(p.Dir)
	return p, diags, nil
}

func (o Options) opened(path string) *diag.Source {
	if o.Opened == nil {
		return o.Texts.unchanged(path, o.shown(path))
	}
	return o.Opened(o.shown(path))
}

// Open reads the project of a folder and its program's text. If a compiler prints the program, call Compile to read it.
func Open(dir string, o Options) (*Workspace, error) {
	p, diags, err := o.load(dir)
	if err != nil {
		return nil, err
	}
	if err := o.within(p.Dir, p.Path); err != nil {
		return nil, err
	}
	w := &Workspace{Project: p, Diags: diags, options: o}
	w.Diags.Add(p.Lookalikes()...)
	if w.compiler = o.compilerOf(p); w.compiler != nil {
		w.Diags.Add(p.Shared...)
		w.Program.Dir = cmp.Or(o.ProgramDir, p.ProgramDir())
	} else if err := w.readProgram(); err != nil {
		return nil, err
	}
	w.find = w.includer(w.Dir())
	if w.Program.Path == "" && w.compiler == nil {
		return w, nil
	}
	return w, w.readPackages()
}

// OpenWithoutProgram reads only the project of a folder, for operations that run no program.
func OpenWithoutProgram(dir string, o Options) (*Workspace, error) {
	p, diags, err := FindProject(dir, o)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.within(p.Dir, p.Path), o.within(p.Dir, p.ProgramDir())); err != nil {
		return nil, err
	}
	w := &Workspace{Project: p, Program: project.Program{Dir: p.ProgramDir()}, Diags: diags, options: o}
	if o.LocalPackages {
		w.findPlugins() // a faulty plugin matters only when it is needed, and is reported then
		found := w.Diags
		_ = w.readLocal(p.Packages, p.LocalDir, make(map[string]bool))
		w.Diags = found
	}
	return w, nil
}

// Empty returns the workspace of a folder without a project.
func Empty(dir string) *Workspace {
	return &Workspace{Project: &project.Project{Dir: dir}, Program: project.Program{Dir: dir}}
}

// OpenFile reads the program in the file path. The program belongs to the project of its folder, if there is one.
func OpenFile(path string, o Options) (*Workspace, error) {
	dir := filepath.Dir(path)
	found, err := project.Find(dir)
	switch {
	case filepath.Base(path) == project.ComponentPackageFile:
		return OpenPackage(dir, o)
	case err != nil || filepath.Base(path) == PackFile:
		return openLoose(path, o)
	}
	w, err := Open(dir, o)
	if err != nil || w.compiler == nil && w.Program.Path == path || found == path {
		return w, err
	}
	if w.Source == w.Project.Source {
		w.Diags.Add(w.Project.Shared...)
	}
	w.compiler = nil
	w.Program = project.Program{Dir: dir, Path: path}
	w.find = w.includer(dir)
	w.Source, err = o.source(w.Project, path)
	return w, err
}

// openLoose reads a program without a project.
func openLoose(path string, o Options) (*Workspace, error) {
	dir := filepath.Dir(path)
	door := o.door(dir)
	src, err := o.source(&project.Project{Door: door}, path)
	if err != nil {
		return nil, err
	}
	p := project.OfFile(src, dir, o.Installed)
	p.Path, p.Door, p.Packages = path, door, nil
	p.Name.Text = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	w := &Workspace{Project: p, Program: project.Program{Dir: dir, Path: path}, Source: src, options: o}
	w.find = w.includer(dir)
	return w, w.readDeclared()
}

// OpenPackage reads the package of components in a folder (L1.30). Its program declares nothing; its components are
// checked as those of a package that is used by path are.
func OpenPackage(dir string, o Options) (*Workspace, error) {
	files, found, err := project.ComponentPackage(o.door(dir), dir, o.shown)
	if err != nil || !found { // a package in another language has a finding about its runtime
		w, loose := openLoose(filepath.Join(dir, project.ComponentPackageFile), o)
		return w, errors.Join(err, loose)
	}
	p := project.OfFile(files[0], dir, o.Installed)
	p.Path, p.Door = filepath.Join(dir, project.ComponentPackageFile), o.door(dir)
	w := &Workspace{Project: p, Program: project.Program{Dir: dir, Path: p.Path}, Source: files[0], Parts: files[1:],
		options: o, packaged: true}
	w.find = w.includer(dir)
	file, parsed := parser.ParsePackage(files)
	w.Diags.Add(parsed...)
	if file.Name != nil {
		p.Name = project.Literal{Text: file.Name.Value, Range: file.Name.Range}
		w.Components = []check.LocalPackage{{Name: file.Name.Value, Dir: dir, File: file}}
	}
	return w, w.readPackages()
}

// HoldsPackage reports whether a folder contains a package of components and no project file.
func HoldsPackage(dir string) bool { return holds(dir, project.ComponentPackageFile) }

// holds reports whether a folder contains a file and no project file.
func holds(dir, name string) bool {
	_, err := confine.Anywhere().Stat(filepath.Join(dir, name))
	found, _ := project.Find(dir)
	return err == nil && filepath.Dir(found) != filepath.Clean(dir)
}

// PackFile marks a folder as a policy pack.
const PackFile = "PulumiPolicy.yaml"

// OpenPack reads the policy pack in a folder. It reads nothing outside of the folder, at any level of trust.
func OpenPack(dir string, o Options) (*Workspace, error) {
	o.Confined, o.Within = true, ""
	return openLoose(filepath.Join(dir, PackFile), o)
}

// HoldsPack reports whether a folder contains a policy pack and no project file.
func HoldsPack(dir string) bool { return holds(dir, PackFile) }

// isPack reports whether the program is a policy pack.
func (w *Workspace) isPack() bool { return filepath.Base(w.Program.Path) == PackFile }

// readProgram reads the program's text, which may be part of the project file (L1.7).
func (w *Workspace) readProgram() error {
	if main := w.Project.Main; main != nil && main.Text != "" {
		if err := w.options.within(w.Project.Dir, w.Project.Resolve(main.Text)); err != nil {
			return err
		}
	}
	var found diag.Diagnostics
	w.Program, found = w.Project.FindProgram()
	w.Diags.Add(found...)
	if w.Program.Path != w.Project.Path { // else the parser of programs reads the file too
		w.Diags.Add(w.Project.Shared...)
	}
	if w.Program.Path == "" {
		return nil
	}
	err := errors.Join(w.options.within(w.Project.Dir, w.Program.Dir), w.options.within(w.Project.Dir, w.Program.Path))
	if err != nil {
		return err
	}
	w.Source, err = w.options.source(w.Project, w.Program.Path)
	return err
}

// Found returns what is known about the workspace before its program is parsed: Diags, and the findings about the
// project file that the parser makes if the program stands there.
func (w *Workspace) Found() diag.Diagnostics {
	if w.Source == nil || w.Source != w.Project.Source {
		return w.Diags
	}
	return slices.Concat(w.Diags, w.Project.Shared)
}

// Dir returns the program directory, or the folder of the project file if there is no program.
func (w *Workspace) Dir() string {
	return cmp.Or(w.Program.Dir, w.Project.Dir)
}

// source returns the text of a program file. If path is the project file, source returns the project's own *diag.Source
// (L1.7), so that positions in both agree.
func (o Options) source(p *project.Project, path string) (*diag.Source, error) {
	if path == p.Path {
		return p.Source, nil
	}
	if src := o.opened(path); src != nil {
		return src, nil
	}
	text, err := p.Door.ReadFile(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	return diag.NewSource(o.shown(path), project.StripBOM(text)), nil
}

// door returns the door for the files of a folder.
func (o Options) door(folder string) confine.Door {
	switch {
	case o.Within != "":
		return confine.Door{Folder: o.Within}
	case o.Confined:
		return confine.Door{Folder: folder}
	}
	return confine.Door{}
}

// within returns an error if path leaves root and the options confine reading.
func (o Options) within(root, path string) error {
	err := o.door(root).Check(path)
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s may not be read: %w", o.shown(path), refused.Err)
	}
	return err
}

// includer returns a function that reads the texts included by a program in dir.
func (w *Workspace) includer(dir string) func(pattern string) ([]*diag.Source, error) {
	return project.Includer(w.Project.Door, dir, w.options.shown)
}

// include returns the texts that match a pattern of the section include.
func (w *Workspace) include(pattern string) ([]*diag.Source, error) {
	found, err := w.find(pattern)
	for i, src := range found {
		if w.options.Opened != nil {
			if open := w.options.Opened(src.Name()); open != nil {
				src, found[i] = open, open
			}
		}
		if !w.included[src] {
			if w.included == nil {
				w.included = map[*diag.Source]bool{}
			}
			w.included[src] = true
			w.Parts = append(w.Parts, src)
		}
	}
	return found, err
}

func (o Options) shown(path string) string {
	if o.Shown == nil {
		return path
	}
	return o.Shown(path)
}

// Relative returns a function that shows paths within dir relative to it, with slashes, and other paths unchanged.
func Relative(dir string) func(path string) string {
	return func(path string) string {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			return path
		}
		return filepath.ToSlash(rel)
	}
}

// compilerOf returns the runtime option compiler of a project, or nil if it has none. The range is zero if the project
// file does not set the option.
func (o Options) compilerOf(p *project.Project) *project.Literal {
	var command project.Literal
	if p.Compiler != nil {
		command = *p.Compiler
	}
	if o.CompilerOption != nil {
		command.Text = *o.CompilerOption
	}
	if command.Text == "" {
		return nil
	}
	return &command
}

// Compiler runs the command of a project's runtime option compiler and returns its standard output, which is the
// program (L1.F).
type Compiler func(ctx context.Context, c Compilation) ([]byte, error)

// Compilation describes one run of a compiler.
type Compilation struct {
	Command string // as set in the project file
	Dir     string // absolute path of the folder to run it in
	Root    string // absolute path of the folder of the project file
	Run     Run
}

// Run is the part of a run's description that compilers receive (L1.F2). The zero value describes a run without a
// stack.
type Run struct {
	Stack, Organization, Project string
	Config                       map[string]string // by full key, in plain text
}

// Compile runs the compiler and sets the program's text to its output. It does nothing if the program has no compiler
// or is already compiled. A failure of the compiler is a finding at the option that sets it.
func (w *Workspace) Compile(ctx context.Context, run Run) diag.Diagnostics {
	if w.compiler == nil || w.Source != nil {
		return nil
	}
	if w.options.Compile == nil {
		return diag.Diagnostics{notCompiled(w.compiler)}
	}
	text, err := w.options.Compile(ctx, Compilation{Command: w.compiler.Text, Dir: w.Program.Dir, Root: w.Project.Dir,
		Run: run})
	if err != nil {
		summary, said, _ := strings.Cut(err.Error(), "\n")
		if said != "" {
			said += "\n"
		}
		return diag.Diagnostics{{Code: diag.NoProgram, Subject: w.compiler.Range, Summary: summary,
			Detail: said + "the program is the output of this command"}}
	}
	w.Source = diag.NewSource("<"+w.compiler.Text+">", project.StripBOM(text))
	return nil
}

// notCompiled returns the warning about a program that was not compiled and therefore not checked.
func notCompiled(command *project.Literal) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: diag.NoProgram, Subject: command.Range,
		Summary: fmt.Sprintf("the program was not checked: it is the output of the compiler `%s`, which is not started here",
			command.Text),
		Detail: "`yamlhost preview` starts the compiler and reports everything that is wrong with the program"}
}

// Compiled reports whether a compiler prints the program.
func (w *Workspace) Compiled() bool { return w.compiler != nil }

// OutsideDirs returns the folders of packages and plugins outside of the project's folder.
func (w *Workspace) OutsideDirs() []string {
	var dirs []string
	add := func(dir string) {
		if rel, err := filepath.Rel(w.Project.Dir, dir); err != nil || strings.HasPrefix(rel, "..") {
			dirs = append(dirs, dir)
		}
	}
	for _, c := range w.Components {
		add(c.Dir)
	}
	for _, p := range w.Plugins {
		add(p.Dir)
	}
	return dirs
}
