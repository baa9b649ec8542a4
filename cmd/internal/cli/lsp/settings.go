package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/suite"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/environments"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// settings returns the editor's project for a stack's settings file, an environment or a test file. It returns nil for
// any other file.
func (o *ProgramOpener) settings(ctx context.Context, root, path string, options workspace.Options,
	document func(string) *parser.Document) *editor.Project {
	// The order matters: Pulumi.test.yaml could be a test file by its ending, and IsTestFile says that it is not.
	if suite.IsTestFile(filepath.Base(path)) {
		return testFile(root, path, document)
	}
	known := environments.Options{Dir: root, Shown: options.Shown, Check: true}
	if name, ok := known.NameOf(path); ok {
		return o.environment(ctx, known, name, path, document)
	}
	name, isSettings := strings.CutPrefix(filepath.Base(path), "Pulumi.")
	ext := filepath.Ext(name)
	// Pulumi.yaml has no stack in its name.
	stack := strings.TrimSuffix(name, ext)
	if !isSettings || stack == "" || stack == name || ext != ".yaml" && ext != ".yml" && ext != ".json" {
		return nil
	}
	d := document(path)
	if d == nil {
		return nil
	}
	projectName, dir := "", ""
	var names func() []string
	ws, err := workspace.Open(root, options)
	if err == nil {
		names = o.names(known, ws.Project)
		projectName, dir = ws.Project.Name.Text, ws.Program.Path
		if dir == "" {
			dir = ws.Project.Path
		}
	} else if found, err := project.Find(root); err == nil {
		dir = found
	}
	return &editor.Project{Main: path, SettingsOf: dir, Environments: names,
		Join: func(diag.Diagnostics) diag.Diagnostics {
			settings, diags := project.ParseSettings(d.Source(), projectName)
			// Keys are compared with declarations only if there is a program and the file itself can be read.
			if ws == nil || ws.Source == nil || diags.HasErrors() {
				return diags
			}
			program := document(ws.Program.Path)
			if program == nil || program.Source() != ws.Source {
				program = parser.NewDocument(ws.Source)
			}
			if diags.Add(o.Console.Inherit(ws.Project, settings, "")...); diags.HasErrors() {
				return inside(diags, settings.Source)
			}
			return append(diags, workspace.CheckSettings(ctx, ws, settings, stack, program.File)...)
		}}
}

// environment returns the editor's project for the file of an environment. Its findings are those of `yamlhost env
// edit`. It returns nil for a file outside of projects. If a service stores the environments, the file is only a draft.
func (o *ProgramOpener) environment(ctx context.Context, known environments.Options, name, path string,
	document func(string) *parser.Document) *editor.Project {
	d := document(path)
	p, _, err := o.Console.OpenProject(known.Dir)
	if d == nil || err != nil {
		return nil
	}
	names := o.names(known, p)
	return &editor.Project{Main: path, SettingsOf: p.Path, IsEnvironment: true, Environments: names,
		Join: func(found diag.Diagnostics) diag.Diagnostics {
			// With a service, a file's findings would be about a text that nothing reads.
			if names != nil {
				_, found, _ = known.Document(ctx, name, d.Source())
			}
			return inside(found, d.Source())
		}}
}

// names returns a function that lists the environments of a project, or nil if a service stores them.
func (o *ProgramOpener) names(known environments.Options, p *project.Project) func() []string {
	if o.Console.Backends().Hosted(p) {
		return nil
	}
	return func() []string {
		found, _ := known.Names() // an unreadable folder has none
		return found
	}
}

// testFile returns the editor's project for a test file. Its findings are those that `yamlhost test` reports before it
// runs a case.
func testFile(root, path string, document func(string) *parser.Document) *editor.Project {
	d := document(path)
	if d == nil {
		return nil
	}
	dir, _ := project.Find(root) // empty if the file is outside of projects
	return &editor.Project{Main: path, SettingsOf: dir, Join: func(diag.Diagnostics) diag.Diagnostics {
		return suite.Read(d.Source(), filepath.Dir(path)).Diags
	}}
}

// settingsFiles returns the settings files of all stacks of a project, as open in the editor or else as on disk.
// Unreadable files are skipped.
func settingsFiles(p *project.Project, shown func(string) string, document func(string) *parser.Document) (
	found []*parser.Document) {
	dir, pattern := filepath.Split(p.StackFile("*"))
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		paths, _ := p.Door.Glob(filepath.Clean(dir), strings.TrimSuffix(pattern, filepath.Ext(pattern))+ext)
		for _, path := range paths {
			// Keys are renamed in these files together with the program, so an unsaved text must be the one that is
			// edited.
			d := document(path)
			if d == nil {
				text, err := p.Door.ReadFile(context.Background(), path)
				if err != nil {
					continue
				}
				d = parser.NewDocument(diag.NewSource(shown(path), text))
			}
			found = append(found, d)
		}
	}
	return found
}

// inside returns findings for display in one text. Those about other files are moved to its beginning.
func inside(found diag.Diagnostics, src *diag.Source) (diags diag.Diagnostics) {
	for _, d := range found {
		if d.Subject.Source != src {
			// An editor shows findings in the file that it has asked about. The position stays in the text of the
			// finding.
			pos := d.Subject.StartPosition()
			d.Summary = fmt.Sprintf("%s:%d:%d: %s", d.Subject.Source.Name(), pos.Line, pos.Column, d.Summary)
			d.Subject = diag.NewRange(src, 0, 0)
		}
		diags.Add(d)
	}
	return diags
}
