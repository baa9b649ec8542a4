package workspace

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/crd"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// readCRDs reads the files that define kinds of Kubernetes (D21).
func (w *Workspace) readCRDs() {
	if len(w.Project.CRDs) == 0 {
		return
	}
	cache := w.options.CRDs
	if cache == nil {
		cache = new(crd.Cache)
	}
	var files []crd.File
	for _, pattern := range w.Project.CRDs {
		paths, fault := w.definitionFiles(pattern)
		if fault != nil {
			w.Diags.Add(*fault)
		}
		for _, path := range paths {
			if file := (crd.File{Path: path, Shown: w.options.shown(path)}); !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	var found diag.Diagnostics
	w.CRDs, found = cache.Read(files)
	w.Diags.Add(found...)
}

// definitionFiles returns the files that a pattern of `crds` names. One that names a folder stands for the files in it.
func (w *Workspace) definitionFiles(pattern project.Literal) ([]string, *diag.Diagnostic) {
	fault := func(summary, detail string) *diag.Diagnostic {
		return &diag.Diagnostic{Code: diag.BadDefinition, Subject: pattern.Range, Summary: summary, Detail: detail}
	}
	paths, err := filepath.Glob(w.Project.Resolve(filepath.FromSlash(pattern.Text)))
	if err != nil {
		return nil, fault("the pattern "+pattern.Text+" is malformed", "a pattern is a path with * and ?: crds/*.yaml")
	}
	var files []string
	for _, path := range paths {
		if err := w.options.within(w.Project.Dir, path); err != nil {
			return nil, fault(err.Error(), "definitions of a project that is not trusted lie in its folder")
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		for _, ending := range []string{"*.json", "*.yaml", "*.yml"} {
			inside, _ := filepath.Glob(filepath.Join(path, ending)) // what cannot be read holds nothing
			files = append(files, inside...)
		}
	}
	if len(files) == 0 {
		return nil, fault("no file matches "+pattern.Text, "the path is relative to the folder of the project file")
	}
	slices.Sort(files)
	return files, nil
}

// Schemas returns a loader of schemas with the kinds that the project's files define.
func (w *Workspace) Schemas(l schema.Loader) schema.Loader { return w.CRDs.Loader(l) }
