// Package git runs the git on PATH in a way that keeps repositories from executing programs: no hooks, no monitors, no
// submodules, no prompts, and only protocols that fetch files.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrMissing is returned if there is no git on PATH.
var ErrMissing = errors.New("this needs git, which is not on PATH")

// Run runs one git command in dir and returns its standard output. The error contains git's message.
func Run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	return run(ctx, dir, env, "https:ssh:git:file", args...)
}

// run is Run with the protocols that are allowed.
func run(ctx context.Context, dir string, env []string, protocols string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never",
		"-c", "submodule.recurse=false", "-c", "advice.detachedHead=false",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append([]string{}, env...), "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL="+protocols,
		"LC_ALL=C")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", ErrMissing
	case errors.As(err, new(*exec.ExitError)):
		return "", fmt.Errorf("git says: %s", cmp.Or(strings.TrimSpace(said.String()), err.Error()))
	}
	return out.String(), err
}

// Fetch puts the files of one commit of a repository into an empty folder. ref is a branch, a tag, a commit or HEAD.
// Without lfs, files stored outside the repository remain LFS pointers, and no filter of the user's configuration runs,
// whatever the attributes of the files ask for.
func Fetch(ctx context.Context, dir string, env []string, url, ref string, lfs bool) error {
	checkout := []string{"checkout", "--quiet", "--detach", "FETCH_HEAD"}
	if !lfs {
		env = append(append([]string{}, env...), "GIT_LFS_SKIP_SMUDGE=1")
		checkout = append([]string{"-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=",
			"-c", "filter.lfs.required=false"}, checkout...)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "."},
		{"fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, ref},
		checkout,
	} {
		if _, err := Run(ctx, dir, env, args...); err != nil {
			return err
		}
		if args[0] == "init" && !lfs {
			if err := withoutFilters(filepath.Join(dir, ".git", "info")); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutFilters writes the attributes that win over those of the files.
func withoutFilters(info string) error {
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "attributes"), []byte("* -filter\n"), 0o600)
}
