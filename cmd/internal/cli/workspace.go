package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/langhost/reading"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/project"
	"github.com/yamlhost/yamlhost/schema"
)

// workspace is a project with the text of its program. diags are what is wrong with the project file and its
// surroundings; a workspace with faults can still be checked as far as it goes.
type workspace struct {
	project  *project.Project
	program  project.Program
	source   *diag.Source // of the program; nil when there is none
	packages []schema.Descriptor
	// components are the packages of components that are used by path, parts the texts that the program is made of
	// besides source.
	components []check.LocalPackage
	parts      []*diag.Source
	find       func(pattern string) ([]*diag.Source, error) // of the section include
	diags      diag.Diagnostics
}

// openProject finds and reads the project file of a directory.
func (a *app) openProject(dir string) (*project.Project, diag.Diagnostics, error) {
	path, err := project.Find(dir)
	if errors.Is(err, project.ErrNotFound) {
		return nil, nil, fmt.Errorf("%w\nGo to a project's directory, name one with -C, or write a Pulumi.yaml", err)
	}
	if err != nil {
		return nil, nil, err
	}
	return project.Load(path, a.short(path))
}

// soundProject is openProject for commands that need no program: a faulty project file is reported and ends the command.
func (a *app) soundProject(dir string) (*project.Project, error) {
	p, diags, err := a.openProject(dir)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, a.report(diags)
	}
	return p, nil
}

// openWorkspace reads the project of a directory and the text of its program.
func (a *app) openWorkspace(dir string) (*workspace, error) {
	p, diags, err := a.openProject(dir)
	if err != nil {
		return nil, err
	}
	ws := &workspace{project: p, diags: diags}
	program, found := p.FindProgram()
	ws.program = program
	ws.diags.Add(found...)
	if program.Path == "" {
		return ws, nil
	}
	if ws.source, err = reading.Source(ws.project, program.Path, a.short); err != nil {
		return nil, err
	}
	ws.find = project.Includer(program.Dir, a.short)
	if err := a.readPackages(ws); err != nil {
		return nil, err
	}
	return ws, a.readComponents(ws)
}

// readPackages finds the packages that are declared beside the program (L1.H).
func (a *app) readPackages(ws *workspace) error {
	files, diags, err := project.PackageFiles(ws.program.Dir, a.short)
	if err != nil {
		return err
	}
	ws.diags.Add(diags...)
	ws.packages = append(ws.packages, reading.Packages(files)...)
	return nil
}

// openings bounds how often a program is checked while somebody writes to the schemas that it needs.
const openings = 3

// compile is the way from text to a checked program. config is nil when no stack is at hand. All findings, those of the
// workspace too, come back together, each place once.
func (ws *workspace) compile(ctx context.Context, providers *providers, config map[project.Key]project.Text) (*check.Program, diag.Diagnostics) {
	if ws.source == nil {
		return nil, ws.diags
	}
	texts, names := checkConfig(ws.project, config)
	var stackKeys []string
	if config == nil {
		for _, key := range project.StackKeys(ws.project) {
			stackKeys, names = append(stackKeys, key.String()), append(names, programNames(ws.project, key)...)
		}
	}
	file, parsed := reading.Parse(ws.source, ws.project, parser.Options{Declared: names, Include: ws.include})
	made, unmade := ws.parameterizedPackages(ctx, providers)
	packages := append(slices.Clip(ws.packages), made...)
	var program *check.Program
	var checked diag.Diagnostics
	for range openings {
		schemas, damaged := providers.watchedSchemas()
		program, checked = check.Check(ctx, file, check.Options{
			Project: ws.project.Name.Text, Schemas: schemas, Packages: packages, Local: ws.components,
			Config: texts, ConfigKnown: config != nil, StackKeys: stackKeys, ProgramDir: ws.program.Dir, Stat: os.Stat,
		})
		if !damaged() {
			break
		}
	}
	return program, onceEach(append(append(parsed, unmade...), checked...), ws.diags)
}

// include finds what the program includes.
func (ws *workspace) include(pattern string) ([]*diag.Source, error) {
	found, err := ws.find(pattern)
	for _, src := range found {
		if !slices.Contains(ws.parts, src) {
			ws.parts = append(ws.parts, src)
		}
	}
	return found, err
}

// parse is the first step of compile alone.
func (ws *workspace) parse() (*ast.File, diag.Diagnostics) {
	file, diags := parser.Parse(ws.source, parser.Options{Include: ws.include})
	return file, onceEach(diags, ws.diags)
}

// checkConfig is a stack's configuration as the checker takes it, and the names by which programs speak of it. Without a
// stack the project file's own values are all there is.
func checkConfig(p *project.Project, config map[project.Key]project.Text) (map[string]check.ConfigText, []string) {
	if config == nil {
		config, _, _ = project.Merge(p, project.NewSettings("", p.Name.Text), "", nil)
	}
	texts := make(map[string]check.ConfigText, len(config))
	var names []string
	for key, text := range config {
		texts[key.String()] = check.ConfigText{Text: text.Text, Secret: text.Secret, Project: text.FromProject, Structured: text.Structured}
		names = append(names, programNames(p, key)...)
	}
	return texts, names
}

// programNames are the names by which a program can call a value of the configuration.
func programNames(p *project.Project, key project.Key) []string {
	if key.Namespace == p.Name.Text {
		return []string{key.String(), key.Name}
	}
	return []string{key.String()}
}

// onceEach is first and second together, where at one place an error of first comes before one of second, and an error
// before all that matters less: one fault, one diagnostic (D7).
func onceEach(first, second diag.Diagnostics) diag.Diagnostics {
	start := func(d diag.Diagnostic) diag.Range { d.Subject.End = 0; return d.Subject }
	errorsOf := func(ds diag.Diagnostics) (places map[diag.Range]bool, broken map[*diag.Source]bool) {
		places, broken = map[diag.Range]bool{}, map[*diag.Source]bool{}
		for _, d := range ds {
			if d.Severity == diag.Error && !d.Subject.IsZero() {
				places[start(d)] = true
				broken[d.Subject.Source] = broken[d.Subject.Source] || d.Code == diag.Syntax || d.Code == diag.RunawayInput
			}
		}
		return places, broken
	}
	taken, broken := errorsOf(first)
	wanted, _ := errorsOf(second)
	// A value of the stack that does not fit is told at the value, with the declaration as a related place.
	type fault struct {
		place diag.Range
		code  diag.Code
	}
	told := map[fault]bool{}
	for _, d := range second {
		for _, related := range d.Related {
			told[fault{start(diag.Diagnostic{Subject: related.Range}), d.Code}] = true
		}
	}
	var all diag.Diagnostics
	for _, d := range first {
		if (d.Severity == diag.Error || !wanted[start(d)]) && !told[fault{start(d), d.Code}] {
			all.Add(d)
		}
	}
	for _, d := range second {
		if !taken[start(d)] && !(d.Code == diag.Syntax && broken[d.Subject.Source]) {
			all.Add(d)
		}
	}
	return all
}

// openTarget makes the workspace of what a user named: a directory, or a file of a project or by itself.
func (a *app) openTarget(target string) (*workspace, error) {
	path := a.path(target)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", target)
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return a.openWorkspace(path)
	}
	found, err := project.Find(filepath.Dir(path))
	if err == nil {
		ws, err := a.openWorkspace(filepath.Dir(path))
		if err != nil || ws.program.Path == path || found == path {
			return ws, err
		}
		ws.program = project.Program{Dir: filepath.Dir(path), Path: path}
		ws.find = project.Includer(ws.program.Dir, a.short)
		ws.source, err = reading.Source(ws.project, path, a.short)
		return ws, err
	}
	return a.looseProgram(path)
}

// looseProgram is the workspace of a program without a project.
func (a *app) looseProgram(path string) (*workspace, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read program: %w", err)
	}
	dir := filepath.Dir(path)
	src := diag.NewSource(a.short(path), project.StripBOM(text))
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	ws := &workspace{
		project: &project.Project{Source: src, Path: path, Dir: dir, Name: project.Literal{Text: name}},
		program: project.Program{Dir: dir, Path: path}, source: src, find: project.Includer(dir, a.short),
	}
	return ws, a.readPackages(ws)
}

func mustBeDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist", dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	return nil
}
