package cli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/project"
)

// readComponents reads the packages of components that the project uses by path (L7.31, L7.32): they need no
// installation, and are evaluated in process.
func (a *app) readComponents(ws *workspace) error {
	return a.readComponentsOf(ws, ws.project.Packages, ws.project.LocalDir, make(map[string]bool))
}

// readComponentsOf reads those of some packages that are not read yet, and what they use themselves.
func (a *app) readComponentsOf(ws *workspace, packages []project.Package, localDir func(project.Package) (string, bool), read map[string]bool) error {
	for _, pkg := range packages {
		dir, local := localDir(pkg)
		if !local || read[dir] {
			continue
		}
		read[dir] = true
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			ws.diags.Add(diag.Diagnostic{Code: diag.PackageMissing, Subject: pkg.Name.Range,
				Summary: "package `" + pkg.Name.Text + "`: " + a.short(dir) + " does not exist",
				Detail:  "its source is a path, relative to the file that names it"})
			continue
		}
		files, found, err := project.ComponentPackage(dir, a.short)
		if err != nil {
			return err
		}
		if !found {
			continue // a plugin, which is found as others are
		}
		file, diags := parser.ParsePackage(files)
		ws.diags.Add(diags...)
		if file.Name == nil {
			continue
		}
		ws.components = append(ws.components, check.LocalPackage{Name: file.Name.Value, Alias: pkg.Name.Text, File: file})
		ws.parts = append(ws.parts, files...)
		theirs, localDir := project.PackagesOf(files[0], dir)
		if err := a.readComponentsOf(ws, theirs, localDir, read); err != nil {
			return err
		}
	}
	return nil
}
