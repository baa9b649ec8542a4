package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Member is a project with the stack that a command uses. It is immutable once Open has returned it.
type Member struct {
	Dir     string // absolute
	Path    string // path of Dir relative to the root, with slashes; "." for the root itself
	Project *project.Project
	Stack   string
	Tags    map[string]string // tags of the stack, from the configuration pulumi:tags
	// Providers are the packages of the program's resources, sorted and without duplicates.
	Providers []string
	// References are the stacks that the program reads, if their names follow from the text or the configuration.
	References []Reference
	// Unread are the places of stack references with names known only during a run.
	Unread []diag.Range
	// Packages are the packages that the project uses by path.
	Packages []Package
	// Compiled reports whether a compiler prints the program, in which case its references are unknown.
	Compiled bool
	// Diags are the findings about the project file. Faults of the program itself are left to the checker.
	Diags diag.Diagnostics
}

// Key returns the member's stack as project/stack.
func (m *Member) Key() string { return m.Project.Name.Text + "/" + m.Stack }

// Reference is a stack that a program reads, with the place of the reference.
type Reference struct {
	Project, Stack string
	Place          diag.Range
}

// Key returns the stack in the form of Member.Key.
func (r Reference) Key() string { return r.Project + "/" + r.Stack }

// Package is a package that a project uses by path.
type Package struct {
	Name  string
	Dir   string // absolute
	Place diag.Range
}

// Options control how members are opened.
type Options struct {
	// Shown returns a path as messages show it; nil shows paths unchanged.
	Shown func(path string) string
	// Texts caches the parsed programs; nil disables caching.
	Texts *workspace.Texts
	// Stack chooses the stack of a project.
	Stack func(p *project.Project) (string, error)
	// Settings reads the settings file of a stack.
	Settings func(p *project.Project, stack string) (*project.Settings, diag.Diagnostics, error)
}

// skipped are the names of folders that never hold the user's own projects.
var skipped = []string{"node_modules", "vendor", "venv", "sdks", "bin", "obj"}

// Find returns the folders that hold a project file, from root downwards, sorted. It skips folders whose names begin
// with a dot and folders where tools put downloads.
func Find(root string) ([]string, error) {
	var dirs []string
	err := confine.Anywhere().WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil:
			return nil // an unreadable folder holds no project that could be run
		case !d.IsDir():
			return nil
		case path != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skipped, d.Name())):
			return fs.SkipDir
		}
		if found, err := project.Find(path); err == nil && filepath.Dir(found) == path {
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for projects: %w", err)
	}
	return dirs, nil
}

// open opens the member in a folder. complete parses its program and finds the references in it; the members of
// different folders may be completed concurrently.
func open(root, dir string, o Options) (m *Member, complete func(), err error) {
	ws, err := workspace.Open(dir, workspace.Options{Shown: o.Shown, Texts: o.Texts})
	if err != nil {
		return nil, nil, err
	}
	m = &Member{Dir: ws.Project.Dir, Project: ws.Project, Compiled: ws.Compiled(), Diags: ws.Found()}
	m.Path = workspace.Relative(root)(m.Dir)
	for _, pkg := range ws.Project.Packages {
		if folder, local := ws.Project.LocalDir(pkg); local {
			m.Packages = append(m.Packages, Package{Name: pkg.Name.Text, Dir: folder, Place: pkg.SourceRange})
		}
	}
	if m.Project.Name.Text == "" {
		return m, func() {}, nil // a finding reports it
	}
	if m.Stack, err = o.Stack(ws.Project); err != nil {
		return nil, nil, err
	}
	config, err := m.configOf(o)
	if err != nil {
		return nil, nil, err
	}
	m.Tags = tagsOf(config)
	return m, func() {
		if ws.Source != nil {
			texts := ws.ConfigTexts(config)
			file, _ := ws.Parse(texts)
			m.Providers = providersOf(file)
			m.read(file, texts)
		}
	}, nil
}

// sealed is a decrypter that leaves secrets sealed: a stack's name is never a secret.
type sealed struct{}

func (sealed) Decrypt(string) (string, error) { return "", nil }

// configOf returns the stack's configuration with secrets left empty. Faults in it are reported where the stack is
// used.
func (m *Member) configOf(o Options) (map[project.Key]project.Text, error) {
	settings, _, err := o.Settings(m.Project, m.Stack)
	if err != nil {
		return nil, err
	}
	config, _, err := project.Merge(m.Project, settings, m.Stack, sealed{})
	return config, err
}

// read finds the stacks that the program reads.
func (m *Member) read(file *ast.File, config map[string]check.ConfigText) {
	r := &reader{member: m, file: file, config: config, busy: map[string]bool{}}
	r.resources(file.Resources, false)
	for _, c := range file.Components {
		r.resources(c.Resources, true)
		r.values(c.Variables, c.Outputs)
	}
	r.values(file.Variables, file.Outputs)
	slices.SortStableFunc(m.References, func(a, b Reference) int { return int(a.Place.Start) - int(b.Place.Start) })
}

// refer records a reference to a stack by name: stack, organization/stack or organization/project/stack. It ignores
// names of other forms, which the backend rejects.
func (m *Member) refer(name string, folder diag.Range) {
	parts := strings.Split(name, "/")
	ref := Reference{Project: m.Project.Name.Text, Stack: parts[len(parts)-1], Place: folder}
	if len(parts) == 3 {
		ref.Project = parts[1]
	}
	if len(parts) <= 3 && ref.Stack != "" {
		m.References = append(m.References, ref)
	}
}

// providersOf returns the packages of a program's resources, sorted and without duplicates.
func providersOf(file *ast.File) []string {
	var names []string
	add := func(list []*ast.Resource) {
		for _, r := range list {
			token := r.Type.Text()
			if name, found := strings.CutPrefix(token, "pulumi:providers:"); found {
				names = append(names, name)
			} else if pkg, _, found := strings.Cut(token, ":"); found && pkg != "pulumi" && pkg != "components" {
				names = append(names, pkg)
			}
		}
	}
	add(file.Resources)
	for _, c := range file.Components {
		add(c.Resources)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// atOnce limits how many parsed programs are in memory at a time while the order is determined.
const atOnce = 64

// OpenAll opens the members in dirs and keeps their order. It returns an error for a folder that cannot be read, or
// that has no project in itself or above. Each project is opened once, even if several of dirs lead to it.
func OpenAll(root string, dirs []string, o Options) ([]*Member, error) {
	var members []*Member
	seen := map[string]bool{}
	for dirs := range slices.Chunk(dirs, atOnce) {
		var unread []func()
		for _, dir := range dirs {
			m, complete, err := open(root, dir, o)
			if err != nil {
				if errors.Is(err, os.ErrNotExist) {
					return nil, fmt.Errorf("%s does not exist", dir)
				}
				return nil, err
			}
			if !seen[m.Dir] {
				seen[m.Dir] = true
				unread, members = append(unread, complete), append(members, m)
			}
		}
		parallel.Each(len(unread), 1, func(i int) { unread[i]() })
	}
	return members, nil
}
