package templates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yamlhost/yamlhost/internal/git"
	"github.com/yamlhost/yamlhost/internal/osfile"
)

// Repository is the position of a template in a git repository.
type Repository struct {
	URL    string // address for git
	Ref    string // branch, tag or commit; empty for the server's default branch
	Folder string // path from the root, with slashes; empty for the root
}

const (
	// scpForm matches git's short form of an ssh URL, as in git@example.com:team/templates.git.
	scpForm = `^[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^-:].*$`
	// treeForm matches the path of a folder's web page on GitHub (/tree/) and GitLab (/-/tree/).
	treeForm = `^(/.+?)(?:/-)?/tree/([^/]+)(?:/(.*?))?/?$`
	// goodRef matches names that git may fetch. It rejects options, ranges and refspecs.
	goodRef = `^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`
)

// ParseRepository reads the address of a template:
//
//	https://example.com/team/templates.git                 the root at the default branch
//	https://example.com/team/templates.git//web?ref=v2     a folder, at a branch, tag or commit
//	https://example.com/team/templates/tree/main/web       the address of the folder's web page
//	git@example.com:team/templates.git//web?ref=v2         by ssh; ssh:// and file:// work, too
//
// ok is false if text is not an address, such as the path of a folder. ParseRepository returns an error for unencrypted
// protocols, and for addresses that git could take for an option or a program.
func ParseRepository(text string) (r Repository, ok bool, err error) {
	if !strings.Contains(text, "://") {
		if !regexp.MustCompile(scpForm).MatchString(text) {
			return r, false, nil
		}
		r.URL = text
		if rest, query, has := strings.Cut(r.URL, "?"); has {
			values, err := url.ParseQuery(query)
			if err != nil {
				return r, true, fmt.Errorf("%s: %w", text, err)
			}
			r.URL, r.Ref = rest, values.Get("ref")
		}
		r.URL, r.Folder, _ = strings.Cut(r.URL, "//")
		return r, true, r.check(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return r, true, fmt.Errorf("%s is not an address of a repository", text)
	}
	switch u.Scheme {
	case "https", "ssh", "file":
	case "http":
		return r, true, fmt.Errorf("%s would be fetched without protection, and others could change it on the way; use "+
			"https", text)
	default:
		return r, true, fmt.Errorf("%s: templates are fetched by https, ssh or file, not by %s", text, u.Scheme)
	}
	if u.Scheme != "file" && (u.Host == "" || strings.HasPrefix(u.Host, "-")) {
		return r, true, fmt.Errorf("%s names no host", text)
	}
	r.Ref = u.Query().Get("ref")
	u.RawQuery, u.Fragment = "", ""
	if repo, folder, has := strings.Cut(u.Path, "//"); has {
		u.Path, r.Folder = repo, folder
	} else if m := regexp.MustCompile(treeForm).FindStringSubmatch(u.Path); m != nil && r.Ref == "" && u.Scheme == "https" {
		u.Path, r.Ref, r.Folder = m[1], m[2], m[3]
	}
	u.RawPath = ""
	r.URL = u.String()
	return r, true, r.check(text)
}

func (r Repository) check(text string) error {
	if r.Ref != "" && (!regexp.MustCompile(goodRef).MatchString(r.Ref) || strings.Contains(r.Ref, "..")) {
		return fmt.Errorf("%s: %q is not a branch, tag or commit", text, r.Ref)
	}
	if r.Folder != "" && !fs.ValidPath(strings.TrimSuffix(r.Folder, "/")) {
		return fmt.Errorf("%s: %q is not a folder of a repository", text, r.Folder)
	}
	return nil
}

// FromRepository fetches a repository with the git on PATH and reads its folder as a template with the given name. env
// is git's environment. It fetches a single commit without submodules, runs no hook, filter or program of the
// repository, and follows links only inside the template's folder. It removes the copy afterwards.
func FromRepository(ctx context.Context, r Repository, name string, env []string) (*Template, error) {
	dir, err := os.MkdirTemp("", "yamlhost-template-*")
	if err != nil {
		return nil, err
	}
	defer osfile.RemoveAll(dir)
	switch err := git.Fetch(ctx, dir, env, r.URL, cmp.Or(r.Ref, "HEAD"), false); {
	case errors.Is(err, git.ErrMissing):
		return nil, fmt.Errorf("%s is a repository, and there is no git on PATH to fetch it; "+
			"install git, or name a folder", name)
	case err != nil:
		return nil, fmt.Errorf("fetch template %s: %w", name, err)
	}
	folder := filepath.Join(dir, filepath.FromSlash(r.Folder))
	if r.Folder != "" {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if info, err := root.Stat(path.Clean(r.Folder)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("template %s: the repository has no folder %s", name, r.Folder)
		}
	}
	return FromFolder(folder, name)
}
