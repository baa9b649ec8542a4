package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // each is found by its name
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// archive writes the archive of a build: .zip for Windows, .tar.gz for the others. Everything is in one folder of the
// archive's name.
func (p Plan) archive(b build) (err error) {
	name := p.named(b.Target)
	ending := ".tar.gz"
	write := p.writeTar
	if b.OS == "windows" {
		ending, write = ".zip", p.writeZip
	}
	out, err := os.Create(filepath.Join(p.Out, name+ending))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return write(out, name+"/", slices.Concat(b.binaries, b.extras))
}

func (p Plan) writeTar(out io.Writer, folder string, files []file) error {
	zipped, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := tar.Header{Name: folder + f.name, Mode: int64(f.mode), Size: int64(len(data)), ModTime: p.Time,
			Format: tar.FormatPAX}
		if err := w.WriteHeader(&head); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), zipped.Close())
}

func (p Plan) writeZip(out io.Writer, folder string, files []file) error {
	w := zip.NewWriter(out)
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		head := zip.FileHeader{Name: folder + f.name, Method: zip.Deflate, Modified: p.Time}
		head.SetMode(f.mode)
		entry, err := w.CreateHeader(&head)
		if err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return w.Close()
}

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
func (p Plan) packages(b build) error {
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
		if err := p.pack(format, info); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) pack(format string, info *nfpm.Info) (err error) {
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
