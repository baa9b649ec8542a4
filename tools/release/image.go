package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The user of the image, who owns its home and the folder of work.
const user = 65532

// image writes the container image as an OCI layout in one file, for each Linux of the default edition that was built.
// It holds the programs and the authorities of the web, runs as a user without rights, and has no shell, so `command`
// resources that want one do not work in it.
func (p Plan) image(builds []build) error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	none := true
	for _, b := range builds {
		if b.OS != "linux" || b.Edition != "default" {
			continue
		}
		none = false
		img, err := p.imageOf(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.OS, Architecture: b.Arch}}})
	}
	if none {
		return nil
	}
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if _, err := layout.Write(folder, index); err != nil {
		return err
	}
	var files []file
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			files = append(files, file{path, filepath.ToSlash(name), 0o644})
		}
		return err
	})
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(p.Out, "yamlhost_"+p.Version+"_image.tar.gz"))
	if err != nil {
		return err
	}
	return errors.Join(p.writeTar(out, "", files), out.Close())
}

func (p Plan) imageOf(b build) (v1.Image, error) {
	content, err := p.rootOf(b)
	if err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(opener, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: p.Time}, CreatedBy: "yamlhost release"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{
		OS: b.OS, Architecture: b.Arch, Created: v1.Time{Time: p.Time}, RootFS: must(img.ConfigFile()).RootFS,
		History: must(img.ConfigFile()).History,
		Config: v1.Config{
			Entrypoint: []string{"/usr/bin/yamlhost"}, User: "65532:65532", WorkingDir: "/work",
			Env: []string{"PATH=/usr/bin", "HOME=/home/yamlhost", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			Labels: map[string]string{
				"org.opencontainers.image.title": "yamlhost", "org.opencontainers.image.version": p.Version,
				"org.opencontainers.image.revision": p.Commit, "org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.source": "https://github.com/yamlhost/yamlhost",
			},
		},
	})
}

// must returns the file of an image in memory, which cannot fail.
func must(c *v1.ConfigFile, err error) *v1.ConfigFile {
	if err != nil {
		panic(err)
	}
	return c
}

// rootOf returns the file tree of the image as a tar.
func (p Plan) rootOf(b build) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	put := func(name string, mode int64, owner int, data []byte) error {
		head := tar.Header{Name: name, Mode: mode, Uid: owner, Gid: owner, Size: int64(len(data)), ModTime: p.Time,
			Format: tar.FormatPAX}
		if data == nil {
			head.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(&head); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	for _, d := range []struct {
		name  string
		mode  int64
		owner int
	}{
		{"etc/", 0o755, 0}, {"etc/ssl/", 0o755, 0}, {"etc/ssl/certs/", 0o755, 0}, {"home/", 0o755, 0},
		{"home/yamlhost/", 0o755, user},
		{"tmp/", 0o1777, 0}, {"usr/", 0o755, 0}, {"usr/bin/", 0o755, 0}, {"usr/share/", 0o755, 0},
		{"usr/share/doc/", 0o755, 0},
		{"usr/share/doc/yamlhost/", 0o755, 0}, {"usr/share/man/", 0o755, 0},
		{"usr/share/man/man1/", 0o755, 0}, {"work/", 0o755, user},
	} {
		if err := put(d.name, d.mode, d.owner, nil); err != nil {
			return nil, err
		}
	}
	texts := map[string][]byte{
		"etc/passwd": []byte(
			"root:x:0:0:root:/:/none\nyamlhost:x:65532:65532:yamlhost:/home/yamlhost:/none\n"),
		"etc/group":                         []byte("root:x:0:\nyamlhost:x:65532:\n"),
		"etc/ssl/certs/ca-certificates.crt": authorities(),
	}
	for _, name := range []string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt"} {
		if err := put(name, 0o644, 0, texts[name]); err != nil {
			return nil, err
		}
	}
	for _, f := range b.binaries {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		if err := put("usr/bin/"+f.name, 0o755, 0, data); err != nil {
			return nil, err
		}
	}
	for _, f := range b.extras {
		to := "usr/share/doc/yamlhost/" + f.name
		page, isPage := strings.CutPrefix(f.name, "man/")
		switch {
		case isPage:
			to = "usr/share/man/man1/" + page
		case !slices.Contains([]string{"LICENSE", "THIRD_PARTY_NOTICES.txt"}, f.name):
			continue
		}
		data, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		if err := put(to, 0o644, 0, data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// authorities returns the certificates of the authorities of the web that Go carries. Those that may only be trusted
// under conditions are left out, as a file cannot say them.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
	}
	return out.Bytes()
}
