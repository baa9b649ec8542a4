package fleet

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
	"github.com/yamlhost/yamlhost/internal/git"
)

// changedFiles are the files that a range of commits changes, absolute. A range without dots is compared with the
// working tree, files that git does not know yet included.
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
	// Both names of a moved file count: --no-renames lists a rename as a deletion and an addition.
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
	// git answers with the folder without symbolic links, and projects have it as it was given.
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
