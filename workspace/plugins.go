package workspace

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// Plugin is a package that the project refers to by the path of its plugin's folder.
type Plugin struct {
	Package project.Package
	Name    string // the plugin's name, by which it is started
	Dir     string // absolute path
	Faulty  bool   // a finding reports why it cannot be used
}

// findPlugins finds the plugins that the project refers to by path and returns the findings about them. A package with
// a path is never looked up anywhere else, because a published package of the same name is a different one.
func (w *Workspace) findPlugins() diag.Diagnostics {
	var diags diag.Diagnostics
	for _, pkg := range w.Project.Packages {
		dir, local := w.Project.LocalDir(pkg)
		if !local {
			if finding := cmp.Or(w.almostPath(pkg), notFetched(pkg)); finding != nil {
				diags.Add(*finding)
				w.Plugins = append(w.Plugins, Plugin{Package: pkg, Name: pkg.Name.Text,
					Dir: filepath.Join(w.Project.Dir, pkg.Source), Faulty: true})
			}
			continue
		}
		if _, components, err := project.ComponentPackage(w.Project.Door, dir, w.options.shown); err == nil &&
			components {
			continue
		}
		found := Plugin{Package: pkg, Name: pkg.Name.Text, Dir: dir}
		if finding := w.examine(&found); finding != nil {
			finding.Code, found.Faulty = diag.PackageMissing, true
			diags.Add(*finding)
		}
		w.Plugins = append(w.Plugins, found)
	}
	return diags
}

// examine checks whether the folder of p contains the package's plugin and returns a finding if not. A plugin that
// becomes another package through parameters has its own name, taken from its executable.
func (w *Workspace) examine(p *Plugin) *diag.Diagnostic {
	pkg, shown := p.Package, w.options.shown(p.Dir)
	fault := func(summary, detail string) *diag.Diagnostic {
		return &diag.Diagnostic{Subject: pkg.Name.Range, Summary: "package `" + pkg.Name.Text + "`: " + summary,
			Detail: detail}
	}
	info, err := w.Project.Door.Stat(p.Dir)
	if err != nil {
		return fault(shown+" does not exist", "its source is a path, relative to the file that names it")
	}
	if !info.IsDir() {
		folder := path.Dir(filepath.ToSlash(pkg.Source))
		if !strings.HasPrefix(folder, ".") && !path.IsAbs(folder) {
			folder = "./" + folder
		}
		finding := fault(shown+" is a file; name a package by the path of its folder", "write "+folder)
		finding.Subject = pkg.SourceRange
		if pkg.SourceRange.Text() == pkg.Source {
			finding.Fixes = []diag.Fix{{Label: "Change to " + folder,
				Edits: []diag.Edit{{Range: pkg.SourceRange, Text: folder}}}}
		}
		return finding
	}
	names, script := project.PluginsIn(w.Project.Door, p.Dir)
	switch {
	case slices.Contains(names, p.Name), script && len(names) == 0:
		return nil
	case len(names) == 1 && len(pkg.Parameters) > 0:
		p.Name = names[0]
		return nil
	case len(names) == 1:
		finding := fault(fmt.Sprintf("%s holds the plugin of the package `%s`", shown, names[0]), "call the package `"+
			names[0]+"`, as its resources do")
		finding.Fixes = []diag.Fix{{Label: "Change to " + names[0], Guess: true,
			Edits: []diag.Edit{{Range: pkg.Name.Range, Text: names[0]}}}}
		return finding
	}
	return fault(shown+" holds no plugin", "a plugin is an executable pulumi-resource-"+p.Name+
		", or a program with a file "+project.ComponentPackageFile)
}

// notFetched returns a finding if a package comes from a git repository that is not installed.
func notFetched(pkg project.Package) *diag.Diagnostic {
	if !git.IsPackage(pkg.Source) {
		return nil
	}
	finding := &diag.Diagnostic{Code: diag.PackageMissing, Subject: pkg.SourceRange, Summary: fmt.Sprintf(
		"package `%s`: %s is not installed", pkg.Name.Text, strings.TrimSuffix(pkg.Source+"@"+pkg.Version, "@")),
		Detail: "`yamlhost install` fetches it with git"}
	switch g, err := git.ParsePackage(pkg.Source, pkg.Version); {
	case err != nil:
		finding.Detail = err.Error()
	case g.Version == "":
		finding.Detail = "name a version behind @: `yamlhost package add " + pkg.Source + "` writes the newest"
	}
	return finding
}

// almostPath returns a finding for a source that looks like a path but is not one: it names a folder of the project
// without a leading dot, so it would be taken for the name of a published package.
func (w *Workspace) almostPath(pkg project.Package) *diag.Diagnostic {
	source := filepath.ToSlash(pkg.Source)
	if !strings.Contains(source, "/") || strings.Contains(source, "://") {
		return nil
	}
	if _, err := w.Project.Door.Stat(filepath.Join(w.Project.Dir, filepath.FromSlash(source))); err != nil {
		return nil
	}
	finding := &diag.Diagnostic{Code: diag.PackageMissing, Subject: pkg.SourceRange,
		Summary: fmt.Sprintf("package `%s`: %s is not a path, although a file of that name "+
			"exists", pkg.Name.Text, pkg.Source),
		Detail: "write ./" + source}
	if pkg.SourceRange.Text() == pkg.Source {
		finding.Fixes = []diag.Fix{{Label: "Change to ./" + source,
			Edits: []diag.Edit{{Range: pkg.SourceRange, Text: "./" + source}}}}
	}
	return finding
}
