package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// ComponentPackageFile is the file that makes a directory a package of components (L1.30).
const ComponentPackageFile = "PulumiPlugin.yaml"

// LocalDir returns the directory that an entry of `packages` names: by its path (L7.31), or by a repository of git that
// is installed. It is false for any other.
func (p *Project) LocalDir(pkg Package) (string, bool) {
	source := filepath.ToSlash(pkg.Source)
	switch {
	case filepath.IsAbs(pkg.Source):
		return filepath.Clean(pkg.Source), true
	case source == ".", source == "..", strings.HasPrefix(source, "./"), strings.HasPrefix(source, "../"):
		return filepath.Join(p.Dir, pkg.Source), true
	case p.Installed != nil && git.IsPackage(pkg.Source):
		if g, err := git.ParsePackage(pkg.Source, pkg.Version); err == nil && g.Version != "" {
			dir, found := p.Installed(p.Dir, g.Name(), g.Version)
			return filepath.Join(dir, filepath.FromSlash(g.Folder)), found
		}
	}
	return "", false
}

// executablePrefix is the prefix of the file names of resource plugins.
const executablePrefix = "pulumi-resource-"

// PluginsIn returns the names of the resource plugins whose executables lie in a folder, and whether the folder holds a
// plugin that is a program in source form (F2.30).
func PluginsIn(door confine.Door, dir string) (names []string, script bool) {
	entries, _ := door.ReadDir(dir) // an unreadable folder has none
	for _, e := range entries {
		name, isPlugin := strings.CutPrefix(e.Name(), executablePrefix)
		if runtime.GOOS == "windows" {
			name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
		}
		if isPlugin && !e.IsDir() {
			names = append(names, name)
		}
		script = script || e.Name() == ComponentPackageFile
	}
	return names, script
}

// ComponentPackage reads the texts of a package of components that is written in YAML: PulumiPlugin.yaml and then every
// other *.yaml beside it, in the order of their names (L1.30). found is false for a directory without one, or with one
// in another language. name converts a path for messages.
func ComponentPackage(door confine.Door, dir string, name func(path string) string) (files []*diag.Source, found bool,
	err error) {
	main := filepath.Join(dir, ComponentPackageFile)
	text, err := door.ReadFile(context.Background(), main)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read package: %w", err)
	}
	src := diag.NewSource(name(main), StripBOM(text))
	d := &document{src: src}
	if language := runtimeOf(d, d.parse()); language != nil && language.Text != "yaml" {
		return nil, false, nil
	}
	files = append(files, src)
	paths, err := door.Glob(dir, "*.yaml")
	if err != nil {
		return nil, false, fmt.Errorf("read package: %w", err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		base := filepath.Base(path)
		if base == ComponentPackageFile || base == "Pulumi.yaml" || strings.HasPrefix(base, "Pulumi.") {
			continue // a project in the same directory is not part of the package
		}
		if text, err = door.ReadFile(context.Background(), path); err != nil {
			return nil, false, fmt.Errorf("read package: %w", err)
		}
		src := diag.NewSource(name(path), StripBOM(text))
		if _, declaration, _ := ParsePackageFile(src); !declaration {
			files = append(files, src)
		}
	}
	return files, true, nil
}

// OfFile returns what a file outside of projects says as a project file does: its runtime, and the packages that it
// uses. The main file of a package of components is such a file. Paths are relative to dir; installed is as in Project.
func OfFile(src *diag.Source, dir string, installed Installed) *Project {
	p := &Project{Dir: dir, Source: src, Installed: installed}
	d := &document{src: src}
	root := d.parse()
	if l := runtimeOf(d, root); l != nil {
		p.Runtime, p.RuntimePlace = l.Text, l.Range
	}
	p.readPackages(d, valueOf(root, "packages"))
	return p
}

// runtimeOf returns the language that a package or project file names; nil when it names none, or cannot be read.
func runtimeOf(d *document, root *yamlnode.Node) *Literal {
	language := valueOf(root, "runtime")
	if name := valueOf(language, "name"); name != nil {
		language = name
	}
	if !isText(language) {
		return nil
	}
	return &Literal{Text: language.Value, Range: d.at(language)}
}
