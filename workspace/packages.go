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

// readPackages reads the packages that are declared beside the program or used by path.
func (w *Workspace) readPackages() error {
	for _, pkg := range w.Project.Packages {
		if dir, local := w.Project.LocalDir(pkg); local {
			if err := w.options.within(w.Project.Dir, dir); err != nil {
				return fmt.Errorf("package %s: %w", pkg.Name.Text, err)
			}
		}
	}
	w.readCRDs()
	if err := w.readDeclared(); err != nil || !w.options.LocalPackages {
		return err
	}
	w.Diags.Add(w.findPlugins()...)
	return w.readLocal(w.Project.Packages, w.Project.LocalDir, make(map[string]bool))
}

// readDeclared finds the packages that are declared in the program directory (L1.H). If the program has a folder of its
// own, it also looks beside the project file, where `pulumi package add` puts declarations.
func (w *Workspace) readDeclared() error {
	known := cmp.Or(w.options.Declarations, new(project.FoundPackages))
	files, found, err := known.Files(w.Project.Door, w.Dir(), w.options.shown)
	if err != nil {
		return err
	}
	if w.Project.Dir != w.Dir() {
		if beside, more, err := known.Files(w.Project.Door, filepath.Join(w.Project.Dir, "sdks"), w.options.shown); err == nil {
			files, found = append(files, beside...), append(found, more...)
		} // no such folder, no packages
	}
	w.Diags.Add(found...)
	w.Packages = Descriptors(files)
	return nil
}

// Descriptors returns the packages that declaration files describe (L1.H), without duplicates.
func Descriptors(files []project.PackageFile) []schema.Descriptor {
	var found []schema.Descriptor
	seen := map[string]bool{}
	for _, f := range files {
		if key := f.Key(); !seen[key] {
			seen[key] = true
			found = append(found, f.Descriptor)
		}
	}
	return found
}

// readLocal reads the component packages that are used by path (L7.31, L7.32), and the packages that they use in turn.
// They need no installation and are evaluated in process. localDir returns the folder of a package; read is the set of
// folders that are already read.
func (w *Workspace) readLocal(packages []project.Package, localDir func(project.Package) (string, bool),
	read map[string]bool) error {
	for _, pkg := range packages {
		dir, local := localDir(pkg)
		if !local || read[dir] {
			continue
		}
		read[dir] = true
		if info, err := w.Project.Door.Stat(dir); err != nil || !info.IsDir() {
			continue // findPlugins reports it
		}
		if folder := w.Project.Door.Folder; folder != "" {
			if err := confine.Tree(folder, dir); err != nil {
				return fmt.Errorf("package %s: %s may not be read: %w", pkg.Name.Text, w.options.shown(dir), err)
			}
		}
		files, found, err := project.ComponentPackage(w.Project.Door, dir, w.options.shown)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		file, diags := parser.ParsePackage(files)
		w.Diags.Add(diags...)
		if file.Name == nil {
			continue
		}
		w.Components = append(w.Components, check.LocalPackage{Name: file.Name.Value, Alias: pkg.Name.Text, Dir: dir,
			File: file})
		w.Parts = append(w.Parts, files...)
		theirs := project.OfFile(files[0], dir, w.options.Installed)
		if err := w.readLocal(theirs.Packages, theirs.LocalDir, read); err != nil {
			return err
		}
	}
	return nil
}

// readCRDs reads the files that define custom Kubernetes kinds (D21).
func (w *Workspace) readCRDs() {
	if len(w.Project.CRDs) == 0 {
		return
	}
	cache := cmp.Or(w.options.CRDs, new(crd.Cache))
	var files []crd.File
	listed := map[crd.File]bool{}
	for _, pattern := range w.Project.CRDs {
		paths, fault := w.definitionFiles(pattern)
		if fault != nil {
			w.Diags.Add(*fault)
			w.kindsUnread = true
		}
		for _, path := range paths {
			if file := (crd.File{Path: path, Shown: w.options.shown(path)}); !listed[file] {
				listed[file] = true
				files = append(files, file)
			}
		}
	}
	var found diag.Diagnostics
	w.CRDs, found = cache.Read(w.Project.Door, files)
	w.Diags.Add(found...)
}

// definitionFiles returns the files that match a pattern of `crds`. A pattern that matches a folder stands for the
// files in it.
func (w *Workspace) definitionFiles(pattern project.Literal) ([]string, *diag.Diagnostic) {
	fault := func(summary, detail string) *diag.Diagnostic {
		return &diag.Diagnostic{Code: diag.BadDefinition, Subject: pattern.Range, Summary: summary, Detail: detail}
	}
	paths, err := w.Project.Door.Glob(w.Project.Dir, filepath.FromSlash(pattern.Text))
	if refused, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fault(w.options.shown(refused.Path)+" may not be read: "+refused.Err.Error(),
			"definitions of a project that is not trusted lie in its folder")
	}
	if err != nil {
		return nil, fault("the pattern "+pattern.Text+" is malformed", "a pattern is a path with * and ?: crds/*.yaml")
	}
	var files []string
	for _, path := range paths {
		if err := w.options.within(w.Project.Dir, path); err != nil {
			return nil, fault(err.Error(), "definitions of a project that is not trusted lie in its folder")
		}
		if info, err := w.Project.Door.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		for _, ending := range objectFiles {
			inside, _ := w.Project.Door.Glob(path, ending) // an unreadable folder counts as empty
			files = append(files, inside...)
		}
	}
	if len(files) == 0 {
		return nil, fault("no file matches "+pattern.Text, "the path is relative to the folder of the project file")
	}
	slices.Sort(files)
	return files, nil
}

// objectFiles match the files with Kubernetes objects in a folder.
var objectFiles = []string{"*.json", "*.yaml", "*.yml"}

// manifests reads manifests of Kubernetes objects that a program names.
type manifests struct {
	door  confine.Door // of the project's folder
	dir   string       // the program's
	cache *crd.Cache
}

// mostManifests is how many files the manifests that one resource names are looked for in.
const mostManifests = 1000

// made returns what manifests make, as far as they can be read here. A check reads them only in the project's folder: a
// pattern such as /*/*/* would have it search the whole disk at every change of the program.
func (r manifests) made(ctx context.Context, m check.Manifest) (kinds, namespaces []string) {
	if m.Text != "" {
		made := crd.Making(diag.NewSource("manifest", []byte(m.Text)))
		return made.Kinds, made.Namespaces
	}
	patterns := []string{m.Pattern}
	if m.Chart != "" { // what Helm installs before the chart's templates
		patterns = nil
		for _, folder := range []string{"", filepath.Join("charts", "*")} {
			for _, ending := range objectFiles {
				patterns = append(patterns, filepath.Join(filepath.FromSlash(m.Chart), folder, "crds", ending))
			}
		}
	}
	for _, pattern := range patterns {
		if strings.Contains(pattern, "://") {
			continue
		}
		paths, _ := r.door.Glob(r.dir, filepath.FromSlash(pattern))
		for _, path := range paths[:min(len(paths), mostManifests)] {
			if ctx.Err() != nil {
				return nil, nil
			}
			made := r.cache.Making(ctx, r.door, path)
			kinds, namespaces = append(kinds, made.Kinds...), append(namespaces, made.Namespaces...)
		}
	}
	return kinds, namespaces
}

// Schemas wraps a schema loader so that it also knows the kinds defined by the project's files.
func (w *Workspace) Schemas(l schema.Loader) schema.Loader { return w.CRDs.Loader(l) }
