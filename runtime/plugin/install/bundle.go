package install

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// bundleFormat is the version of the format of bundles.
const bundleFormat = 1

// manifestName is the first member of a bundle, a list of the others.
const manifestName = "yamlhost-bundle.json"

// Manifest lists the plugins of a bundle.
type Manifest struct {
	Version int       `json:"version"`
	Project string    `json:"project,omitempty"`
	Plugins []Bundled `json:"plugins"`
}

// Bundled is the archive of one plugin for one platform.
type Bundled struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Platform string `json:"platform"` // <os>-<arch>
	Server   string `json:"server,omitempty"`
	File     string `json:"file"`   // in the bundle
	SHA256   string `json:"sha256"` // hexadecimal
}

// Bundle writes the archives of plugins to one file, with their checksums. Archives are downloaded into folder, one
// after the other. overrides is the text of PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES.
func Bundle(ctx context.Context, w io.Writer, project string, plugins []Installation, overrides, folder string,
	tell func(string)) error {
	m := Manifest{Version: bundleFormat, Project: project, Plugins: []Bundled{}}
	var files []string
	for _, i := range plugins {
		tell(fmt.Sprintf("Downloading plugin %s %s for %s", i.Name, i.Version, i.platform()))
		var file, sum string
		source := i
		err := source.fromSources(i.Server, overrides, func(Source) (final bool, err error) {
			file, sum, err = source.obtain(ctx, folder, i.asset())
			return false, err
		})
		if err != nil {
			return fmt.Errorf("plugin %s %s for %s: %w", i.Name, i.Version, i.platform(), err)
		}
		files = append(files, file)
		m.Plugins = append(m.Plugins, Bundled{Kind: i.kind(), Name: i.Name, Version: i.Version, Platform: i.platform(),
			Server: i.Server, File: path.Join("plugins", i.asset()), SHA256: sum})
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	if err := out.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o644, Size: int64(len(text))}); err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	for n, file := range files {
		if err := addFile(out, m.Plugins[n].File, file); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
	}
	return out.Close()
}

func addFile(out *tar.Writer, name, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}

// Unbundle unpacks the archives for this machine from a bundle into a folder and verifies their checksums. It returns
// them as installations from files, or an error if one of them is damaged.
func Unbundle(ctx context.Context, bundle, folder string) ([]Installation, error) {
	f, err := os.Open(bundle)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	members := tar.NewReader(f)
	m, err := readManifest(members)
	if err != nil {
		return nil, err
	}
	mine, platforms := map[string]Bundled{}, []string{}
	for _, p := range m.Plugins {
		platforms = append(platforms, p.Platform)
		if p.Platform == Platform() {
			mine[p.File] = p
		}
	}
	if len(mine) == 0 && len(m.Plugins) > 0 {
		slices.Sort(platforms)
		return nil, fmt.Errorf("the bundle is for %s, and this machine is %s; nothing was installed",
			strings.Join(slices.Compact(platforms), ", "), Platform())
	}
	var found []Installation
	for ctx.Err() == nil {
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the bundle is damaged: %w; nothing was installed", err)
		}
		p, wanted := mine[h.Name]
		if !wanted {
			continue
		}
		delete(mine, h.Name)
		file := filepath.Join(folder, fmt.Sprintf("%d.tar.gz", len(found)))
		if err := unpackArchive(members, file, p); err != nil {
			return nil, err
		}
		found = append(found, Installation{Kind: p.Kind, Name: p.Name, Version: p.Version, Server: p.Server, File: file,
			Checksum: p.SHA256})
	}
	for _, p := range mine {
		return nil, fmt.Errorf("the bundle is damaged: it lacks %s, which its list names; nothing was installed", p.File)
	}
	slices.SortFunc(found, func(a, b Installation) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return found, ctx.Err()
}

func readManifest(members *tar.Reader) (*Manifest, error) {
	h, err := members.Next()
	if err != nil || h.Name != manifestName {
		return nil, errors.New("it is no bundle of plugins: `yamlhost plugin bundle` writes them")
	}
	text, err := io.ReadAll(io.LimitReader(members, 16<<20))
	if err != nil {
		return nil, fmt.Errorf("the bundle is damaged: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("the list of the bundle is damaged: %w", err)
	}
	if m.Version != bundleFormat {
		return nil, fmt.Errorf("the bundle has the format %d, and this program knows %d", m.Version, bundleFormat)
	}
	return &m, nil
}

func unpackArchive(r io.Reader, file string, p Bundled) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	digest := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, digest), r)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("unpack %s: %w; nothing was installed", p.File, err)
	}
	if sum := hex.EncodeToString(digest.Sum(nil)); !strings.EqualFold(sum, p.SHA256) {
		return &ChecksumError{strings.ToLower(p.SHA256), sum, p.File + " of the bundle"}
	}
	return nil
}
