package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// Package is a Pulumi package kept in source form in a repository (F2.36).
type Package struct {
	Repository string // the repository's URL
	Folder     string // of the package in the repository; empty for the root
	Version    string // without the prefix v; 0.0.0-xHASH for a commit; empty for the newest
}

var (
	remote = lazyregexp.New(`^((https?|git|ssh)://|[^/@.][^/@]*\.[^/@]+/)`)
	commit = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

// IsPackage reports whether a package source is a repository: https://…, git://… or HOST/….
func IsPackage(source string) bool { return remote().MatchString(source) }

// ParsePackage parses a package source as the Pulumi CLI does: HOST/OWNER/REPOSITORY/FOLDER. For a repository at a
// deeper path, a segment that ends with .git ends the repository's address. version is a tag or the full hash of a
// commit.
func ParsePackage(source, version string) (Package, error) {
	scheme, address, has := strings.Cut(source, "://")
	if !has {
		scheme, address = "https", source
	}
	host, path, _ := strings.Cut(address, "/")
	switch {
	case scheme != "https" && scheme != "git":
		return Package{}, fmt.Errorf("repositories of packages are read over https, and not over %s", scheme)
	case strings.Contains(host, "@"):
		return Package{}, errors.New("the address of a repository must not have credentials in it; git takes them from its own " +
			"configuration")
	}
	parts, n := strings.Split(strings.Trim(path, "/"), "/"), 2
	for i, part := range parts {
		if strings.HasSuffix(part, ".git") {
			n = i + 1
			break
		}
	}
	if len(parts) < n || parts[0] == "" {
		return Package{}, fmt.Errorf("%s is not the address of a repository: write HOST/OWNER/REPOSITORY/FOLDER@VERSION", source)
	}
	p := Package{Repository: "https://" + host + "/" + strings.TrimSuffix(strings.Join(parts[:n], "/"), ".git") + ".git",
		Folder: strings.Join(parts[n:], "/")}
	if p.Folder != "" && !filepath.IsLocal(filepath.FromSlash(p.Folder)) {
		return Package{}, fmt.Errorf("%s leads out of the repository", source)
	}
	version = strings.TrimPrefix(version, "v")
	switch v, err := semver.NewVersion(version); {
	case commit().MatchString(version):
		p.Version = "0.0.0-x" + version
	case err == nil:
		p.Version = v.String()
	case version != "":
		return Package{}, fmt.Errorf("%q is neither a version nor the whole hash of a commit", version)
	}
	return p, nil
}

// Name returns the name of the package's plugin, as used in the plugin folder (F2.28).
func (p Package) Name() string {
	name := strings.TrimPrefix(p.Repository, "https://")
	if p.Folder != "" {
		name += "_" + p.Folder
	}
	return strings.ReplaceAll(name, "/", "_")
}

// URL returns the source of the package's plugin: git://HOST/….
func (p Package) URL() string {
	return strings.TrimSuffix("git"+strings.TrimPrefix(p.Repository, "https")+"/"+p.Folder, "/")
}

// Newest returns the highest version among the repository's tags, preferring final versions over pre-releases. If no
// tag is a version, it returns the version of the newest commit.
func (p Package) Newest(ctx context.Context, env []string) (string, error) {
	listed, err := Run(ctx, "", env, "ls-remote", "--", p.Repository, "HEAD", "refs/tags/*")
	if err != nil {
		return "", err
	}
	newest, head := map[bool]*semver.Version{}, ""
	for line := range strings.Lines(listed) {
		hash, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		tag, is := strings.CutPrefix(ref, "refs/tags/")
		if !is {
			head = "0.0.0-x" + hash
			continue
		}
		v, err := semver.NewVersion(tag)
		if err != nil {
			continue
		}
		if final := v.Prerelease() == ""; newest[final] == nil || v.GreaterThan(newest[final]) {
			newest[final] = v
		}
	}
	if v := cmp.Or(newest[true], newest[false]); v != nil {
		return v.String(), nil
	}
	if head == "" {
		return "", fmt.Errorf("%s has no commit", p.Repository)
	}
	return head, nil
}

// Archive writes a package's files to the tar file. The bytes depend only on the commit. dir is an empty folder for
// temporary files.
func (p Package) Archive(ctx context.Context, dir string, env []string, file string) error {
	refs := []string{"refs/tags/v" + p.Version, "refs/tags/" + p.Version}
	if hash, is := strings.CutPrefix(p.Version, "0.0.0-x"); is {
		refs = []string{hash}
	}
	var err error
	for _, ref := range refs {
		if err = Fetch(ctx, dir, env, p.Repository, ref, false); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("fetch %s of %s: %w", p.Version, p.Repository, err)
	}
	args := []string{"-c", "tar.umask=0022", "archive", "--format=tar", "--output=" + file, "HEAD"}
	if p.Folder != "" {
		args = append(args, "--", p.Folder)
	}
	if _, err := Run(ctx, dir, env, args...); err != nil {
		return fmt.Errorf("read %s of %s: %w", p.Folder, p.Repository, err)
	}
	return nil
}
