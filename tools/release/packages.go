package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // each is found by its name
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// places describes where packages put the files that are not programs.
var places = map[string]string{
	"LICENSE":                   "/usr/share/doc/yamlhost/copyright",
	"THIRD_PARTY_NOTICES.txt":   "/usr/share/doc/yamlhost/THIRD_PARTY_NOTICES.txt",
	"README.md":                 "/usr/share/doc/yamlhost/README.md",
	"CHANGELOG.md":              "/usr/share/doc/yamlhost/CHANGELOG.md",
	"completions/yamlhost.bash": "/usr/share/bash-completion/completions/yamlhost",
	"completions/_yamlhost":     "/usr/share/zsh/vendor-completions/_yamlhost",
	"completions/yamlhost.fish": "/usr/share/fish/vendor_completions.d/yamlhost.fish",
}

// packages writes the deb, rpm and apk of a build. They need nothing else to be installed; the two editions exclude
// each other.
func (p Plan) packages(ctx context.Context, b build) error {
	name, other := edition(b.Target), "yamlhost-lean"
	if b.Edition == "lean" {
		other = "yamlhost"
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		var contents files.Contents
		add := func(from, to string, mode os.FileMode) {
			contents = append(contents, &files.Content{Source: from, Destination: to,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: p.Time}})
		}
		for _, f := range b.binaries {
			add(f.path, "/usr/bin/"+f.name, f.mode)
		}
		for _, f := range b.extras {
			if to, ok := places[f.name]; ok {
				add(f.path, to, f.mode)
			}
			if page, ok := strings.CutPrefix(f.name, "man/"); ok {
				add(f.path, "/usr/share/man/man1/"+page, f.mode)
			}
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: name, Arch: b.Arch, Platform: "linux", Version: p.Version, VersionSchema: "semver", Section: "utils",
			Priority:    "optional",
			Maintainer:  "The yamlhost authors <yamlhost@users.noreply.github.com>",
			Homepage:    "https://github.com/yamlhost/yamlhost",
			Description: "Runs Pulumi YAML and JSON programs with an engine of its own.", License: "Apache-2.0", MTime: p.Time,
			Overridables: nfpm.Overridables{Contents: contents, Conflicts: []string{other},
				RPM: nfpm.RPM{BuildHost: "yamlhost"}},
		})
		if err := p.pack(ctx, format, info); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) pack(_ context.Context, format string, info *nfpm.Info) (err error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(p.Out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return packager.Package(info, out)
}
