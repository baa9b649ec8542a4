package lsp

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// maxPrograms is the maximum number of programs of a workspace that are checked without an open text.
const maxPrograms = 200

// projectFiles are the names of files that say where a project or a package of components is.
var projectFiles = []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json", "PulumiPlugin.yaml"}

// Programs are the project files in a folder, at any depth: the first ones in the order of their paths, of a large
// folder. Hidden folders, and those that package managers fill, are left out.
func Programs(folder string) (paths []string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read has no programs
		case len(paths) == maxPrograms:
			return filepath.SkipAll
		case d.IsDir() && path != folder && (strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"node_modules", "vendor", "venv"}, d.Name())):
			return filepath.SkipDir
		case d.Type().IsRegular() && slices.Contains(projectFiles, d.Name()):
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}
