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
	builds = slices.DeleteFunc(slices.Clone(builds), func(b build) bool { return b.OS != "linux" || b.Edition != "default" })
	if len(builds) == 0 {
		return nil
	}
	for _, b := range builds {
		img, err := p.imageOf(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.OS, Architecture: b.Arch}}})
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
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{
		OS: b.OS, Architecture: b.Arch, Created: v1.Time{Time: p.Time}, RootFS: config.RootFS,
		History: config.History,
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

// rootOf returns the file tree of the image as a tar.
func (p Plan) rootOf(b build) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	var faults error
	put := func(name string, mode int64, owner int, data []byte) {
		head := tar.Header{Name: name, Mode: mode, Uid: owner, Gid: owner, Size: int64(len(data)), ModTime: p.Time,
			Format: tar.FormatPAX}
		if strings.HasSuffix(name, "/") {
			head.Typeflag = tar.TypeDir
		}
		err := w.WriteHeader(&head)
		if err == nil {
			_, err = w.Write(data)
		}
		faults = errors.Join(faults, err)
	}
	take := func(name string, mode int64, path string) {
		data, err := os.ReadFile(path)
		faults = errors.Join(faults, err)
		put(name, mode, 0, data)
	}
	for _, name := range []string{"etc/", "etc/ssl/", "etc/ssl/certs/", "home/"} {
		put(name, 0o755, 0, nil)
	}
	put("home/yamlhost/", 0o755, user, nil)
	put("tmp/", 0o1777, 0, nil)
	for _, name := range []string{"usr/", "usr/bin/", "usr/share/", "usr/share/doc/", "usr/share/doc/yamlhost/",
		"usr/share/man/", "usr/share/man/man1/"} {
		put(name, 0o755, 0, nil)
	}
	put("work/", 0o755, user, nil)
	put("etc/group", 0o644, 0, []byte("root:x:0:\nyamlhost:x:65532:\n"))
	put("etc/passwd", 0o644, 0, []byte(
		"root:x:0:0:root:/:/none\nyamlhost:x:65532:65532:yamlhost:/home/yamlhost:/none\n"))
	put("etc/ssl/certs/ca-certificates.crt", 0o644, 0, authorities())
	for _, f := range b.binaries {
		take("usr/bin/"+f.name, 0o755, f.path)
	}
	for _, f := range b.extras {
		if page, isPage := strings.CutPrefix(f.name, "man/"); isPage {
			take("usr/share/man/man1/"+page, 0o644, f.path)
		} else if f.name == "LICENSE" || f.name == "THIRD_PARTY_NOTICES.txt" {
			take("usr/share/doc/yamlhost/"+f.name, 0o644, f.path)
		}
	}
	faults = errors.Join(faults, w.Close())
	return out.Bytes(), faults
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
