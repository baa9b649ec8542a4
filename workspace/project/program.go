package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// Program describes the place of a project's program.
type Program struct {
	Dir      string // absolute: the program directory (L1.2)
	Path     string // absolute path of the text; empty when there is none
	Shadowed string // another program file in Dir that is not read; empty when there is none
}

// programNames are the names of a program file in the order of the search (L1.5).
var programNames = []string{"Main.json", "Main.yaml", "Main.yml", "Pulumi.yaml", "Pulumi.yml", "Pulumi.json"}

// FindProgram finds the program of a project (L1.2–L1.7). A faulty field main and a missing program are diagnostics.
func (p *Project) FindProgram() (Program, diag.Diagnostics) {
	dir := p.Dir
	if p.Main != nil && p.Main.Text != "" {
		target := p.Resolve(p.Main.Text)
		info, err := p.Door.Stat(target)
		switch {
		case err != nil:
			reason := "nothing is there"
			if !errors.Is(err, fs.ErrNotExist) {
				reason = "it cannot be read"
			}
			return Program{}, diag.Diagnostics{{Code: diag.NoProgram, Subject: p.Main.Range,
				Summary: fmt.Sprintf("main names %s, but %s", p.Main.Text, reason),
				Detail:  "it must name a directory or a YAML or JSON file, relative to the project file"}}
		case info.IsDir():
			dir = target
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(target)):
			return Program{Dir: filepath.Dir(target), Path: target}, nil
		default:
			return Program{}, diag.Diagnostics{{Code: diag.NoProgram, Subject: p.Main.Range,
				Summary: fmt.Sprintf("main names %s, which is not a YAML or JSON file", p.Main.Text),
				Detail:  "it must name a directory or a file that ends in .yaml, .yml or .json"}}
		}
	}
	return p.programIn(dir)
}

// ProgramDir returns the folder that the field main names, or the project file's folder (L1.2). It need not hold a
// program.
func (p *Project) ProgramDir() string {
	if p.Main == nil || p.Main.Text == "" {
		return p.Dir
	}
	target := p.Resolve(p.Main.Text)
	switch info, err := p.Door.Stat(target); {
	case err != nil:
		return p.Dir
	case info.IsDir():
		return target
	}
	return filepath.Dir(target)
}

func (p *Project) programIn(dir string) (Program, diag.Diagnostics) {
	program := Program{Dir: dir}
	for _, name := range programNames {
		path := filepath.Join(dir, name)
		info, err := p.Door.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if program.Path == "" {
			program.Path = path
		} else if program.Shadowed == "" && p.hasProgram(path) {
			program.Shadowed = path
		}
	}
	var diags diag.Diagnostics
	switch {
	case program.Path == "":
		diags.Add(diag.Diagnostic{Code: diag.NoProgram, Subject: p.Name.Range, Summary: "no program file in " + dir,
			Detail: "looked for " + strings.Join(programNames, ", ")})
	case program.Shadowed != "":
		diags.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: p.Name.Range,
			Summary: fmt.Sprintf("the program in %s is not read: %s comes first", filepath.Base(program.Shadowed),
				filepath.Base(program.Path)),
			Detail: "keep the program in one of the two files"})
	}
	return program, diags
}

// Lookalikes warns of files of the project whose names differ in letter case only: on Windows and macOS they are one
// file.
func (p *Project) Lookalikes() (found diag.Diagnostics) {
	dirs := []string{p.Dir, p.ProgramDir(), filepath.Dir(p.StackFile("x"))}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		entries, _ := p.Door.ReadDir(dir) // an unreadable folder has other findings
		first := map[string]string{}
		for _, e := range entries {
			name, lower := e.Name(), strings.ToLower(e.Name())
			if !strings.HasPrefix(lower, "pulumi") && !strings.HasPrefix(lower, "main.") ||
				!slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(lower)) {
				continue
			}
			other, twice := first[lower]
			if first[lower] = name; twice {
				found.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.Ignored, Subject: p.Name.Range,
					Summary: fmt.Sprintf("%s and %s are one file on Windows and macOS", other, name),
					Detail:  "rename or remove one of the two"})
			}
		}
	}
	return found
}

// hasProgram reports whether a file has program sections.
func (p *Project) hasProgram(path string) bool {
	text, err := p.Door.ReadFile(context.Background(), path)
	if err != nil {
		return false
	}
	d := &document{src: diag.NewSource(path, StripBOM(text))}
	root := d.parse()
	return slices.ContainsFunc([]string{"resources", "variables", "outputs"}, func(section string) bool {
		return root.Index(section) >= 0
	})
}

// Includer returns a function that reads the texts named by the section `include` of a program (L10.C11): patterns are
// relative to the program's directory dir, name converts a path for messages. Each call returns the same source for the
// same text. It is not safe for concurrent use.
func Includer(door confine.Door, dir string, name func(path string) string) func(pattern string) (
	[]*diag.Source, error) {
	known := make(map[string]*diag.Source)
	return func(pattern string) ([]*diag.Source, error) {
		paths, err := door.Glob(dir, filepath.FromSlash(pattern))
		if refused, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, fmt.Errorf("%s may not be read: %w", name(refused.Path), refused.Err)
		}
		if err != nil {
			return nil, errors.New("the pattern is malformed")
		}
		slices.Sort(paths)
		var found []*diag.Source
		for _, path := range paths {
			if known[path] == nil {
				info, err := door.Stat(path)
				if err == nil && info.IsDir() {
					continue
				}
				text, err := door.ReadFile(context.Background(), path)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name(path), osfile.PlainError(err))
				}
				known[path] = diag.NewSource(name(path), StripBOM(text))
			}
			found = append(found, known[path])
		}
		return found, nil
	}
}
