package fleet

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// ProjectFiles are the regular files of a project's folder, relative to it and with slashes, sorted. Folders of other
// projects, and those whose names begin with a dot or that hold what tools fetch, are left out.
func ProjectFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if path == dir {
				return nil
			}
			if strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			for _, name := range []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json"} {
				if matches, _ := filepath.Glob(filepath.Join(path, name)); len(matches) > 0 {
					return fs.SkipDir
				}
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(files)
	return files, err
}
