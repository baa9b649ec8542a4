package fleet

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/git"
)

// ProjectFiles returns the regular files of a project's folder, as sorted relative paths with slashes. It omits folders
// of other projects, folders whose names begin with a dot, and folders of downloaded dependencies.
func ProjectFiles(dir string) ([]string, error) {
	var files []string
	err := confine.Anywhere().WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
				if matches, _ := confine.Anywhere().Glob(path, name); len(matches) > 0 {
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

// changedFiles returns the absolute paths of files that a range of commits changes. A range without dots is compared
// with the working tree, including files that git does not track yet.
func changedFiles(ctx context.Context, a *console.Console, root, span string) ([]string, error) {
	if strings.HasPrefix(span, "-") {
		return nil, console.WithCode(console.CodeBadUsage, "--affected-by takes a range of commits, not %q", span)
	}
	ask := func(args ...string) (string, error) {
		out, err := git.Run(ctx, root, a.ChildEnv(), args...)
		if err != nil {
			return "", fmt.Errorf("--affected-by %s: %w", span, err)
		}
		return out, nil
	}
	top, err := ask("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	// A moved file counts under both names: --no-renames lists a rename as a deletion and an addition.
	list, err := ask("diff", "--name-only", "--no-renames", "-z", span, "--")
	if err != nil {
		return nil, err
	}
	if !strings.Contains(span, "..") {
		more, err := ask("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
		if err != nil {
			return nil, err
		}
		list += more
	}
	// git reports the folder with symbolic links resolved, but projects have the path as given.
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		path := filepath.Join(strings.TrimSpace(top), filepath.FromSlash(name))
		if rel, err := filepath.Rel(real, path); err == nil {
			path = filepath.Join(root, rel)
		}
		files = append(files, path)
	}
	return files, nil
}
