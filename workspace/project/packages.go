package project

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/schema"
)

// PackageFile is a package declaration file (L1.H, F3.18).
type PackageFile struct {
	Path string // absolute
	schema.Descriptor
}

// skippedDirs are never searched for package declarations (L1.44).
var skippedDirs = []string{".git", "node_modules", "vendor", "venv", ".venv", ".pulumi"}

const maxPackageFile = 1 << 20 // bytes (L1.44)

// PackageFiles reads every package declaration below a program directory: those in sdks first, then all others (L1.44).
// name makes a path into what users see.
func PackageFiles(door confine.Door, dir string, name func(path string) string) ([]PackageFile,
	diag.Diagnostics, error) {
	return new(FoundPackages).Files(door, dir, name)
}

// declared holds the packages found below a program directory, and the folders and files that the search has read.
type declared struct {
	files  []PackageFile
	diags  diag.Diagnostics
	looked map[string]version
}

// version identifies the content of a folder or file by its size and modification time.
type version struct {
	size    int64
	changed int64 // nanoseconds since 1970
}

// versionOf returns the version of a folder or file; zero if it cannot be read.
func versionOf(door confine.Door, path string) version {
	info, err := door.Stat(path)
	if err != nil {
		return version{}
	}
	return version{info.Size(), info.ModTime().UnixNano()}
}

// holds reports whether every folder and file that the search has read is unchanged.
func (d *declared) holds(door confine.Door) bool {
	for path, stamp := range d.looked {
		if versionOf(door, path) != stamp {
			return false
		}
	}
	return true
}

// FoundPackages caches the packages found below program directories. It is safe for concurrent use; the zero value is
// empty.
type FoundPackages struct {
	mu    sync.Mutex
	known map[place]*declared // guarded by mu
}

// place is a program directory, the form of its path that users see, and the door to its files.
type place struct {
	door       confine.Door
	dir, shown string
}

// Files returns the result of PackageFiles. It reads again once a folder or a file has changed.
func (f *FoundPackages) Files(door confine.Door, dir string, name func(path string) string) ([]PackageFile,
	diag.Diagnostics, error) {
	p := place{door, dir, name(dir)}
	f.mu.Lock()
	d := f.known[p]
	f.mu.Unlock()
	if d == nil || !d.holds(door) {
		var err error
		if d, err = declaredBelow(door, dir, name); err != nil {
			return nil, nil, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.known == nil {
			f.known = map[place]*declared{}
		}
		f.known[p] = d
	}
	return slices.Clone(d.files), slices.Clone(d.diags), nil
}

func declaredBelow(door confine.Door, dir string, name func(path string) string) (*declared, error) {
	var paths []string
	found := &declared{looked: map[string]version{}}
	err := door.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (path == dir || !slices.Contains(skippedDirs, d.Name())) {
			found.looked[path] = versionOf(door, path)
		}
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			return nil // what cannot be read is not a declaration that could be used
		case d.IsDir() && path != dir && slices.Contains(skippedDirs, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(d.Name(), ".yaml"):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for package declarations: %w", err)
	}
	sdks := filepath.Join(dir, "sdks") + string(filepath.Separator)
	rank := func(path string) int {
		if strings.HasPrefix(path, sdks) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(paths, func(a, b string) int { return rank(a) - rank(b) })
	for _, path := range paths {
		v := versionOf(door, path)
		found.looked[path] = v
		if v.size > maxPackageFile {
			continue
		}
		text, err := door.ReadFile(context.Background(), path)
		if err != nil || !bytes.Contains(text, []byte("packageDeclarationVersion")) {
			continue
		}
		file, declares, ds := ParsePackageFile(diag.NewSource(name(path), StripBOM(text)))
		if found.diags.Add(ds...); declares && !ds.HasErrors() {
			file.Path = path
			found.files = append(found.files, file)
		}
	}
	return found, nil
}

// ParsePackageFile reads a package declaration; found is false for a text that is none (L1.40).
func ParsePackageFile(src *diag.Source) (file PackageFile, found bool, diags diag.Diagnostics) {
	d := &document{src: src}
	root := d.parse()
	if root == nil || root.Kind != yamlnode.Map {
		return file, false, nil
	}
	r := d.record("", d.entries("a package declaration", root))
	const mark = "packageDeclarationVersion"
	if version := r.node(mark); version == nil || version.Value != "1" {
		return file, false, nil
	}
	file.Name, file.Version, file.DownloadURL = r.text("name"), plainVersion(r.text("version")), r.text("downloadUrl")
	if file.Name == "" {
		d.add(diag.WrongKind, r.key(mark), "the package declaration has no name",
			"name the plugin that provides the package: `name: …`")
	}
	d.version("version", r.node("version"), file.Version)
	whole := d.parameters("parameterization", r.node("parameterization"))
	added := d.parameters("extension", r.node("extension"))
	file.Parameterization, file.Extension = cmp.Or(added, whole), added != nil // L1.41
	if whole != nil && added != nil {
		d.add(diag.WrongKind, r.key("extension"), "a package declaration has both parameterization and extension",
			"keep one of them")
	}
	return file, true, d.diags
}

func (d *document) version(field string, n *yamlnode.Node, text string) {
	if text == "" {
		return
	}
	if _, err := semver.NewVersion(text); err != nil {
		d.add(diag.WrongKind, d.at(n), fmt.Sprintf("%s must be a version such as 1.2.3, found %q", field, text), "")
	}
}

// plainVersion returns a version without the leading v that it may be written with (L4.22).
func plainVersion(text string) string { return strings.TrimPrefix(text, "v") }

// parameters reads what makes a package out of a plugin that can be several; nil if it is absent.
func (d *document) parameters(field string, n *yamlnode.Node) *schema.Parameterization {
	if isNull(n) {
		return nil
	}
	fields := d.fields(field, n, "name", "version", "value")
	name, version := fields.text("name"), fields.text("version")
	for _, name := range []string{"name", "version"} {
		if n.Kind == yamlnode.Map && fields.isNull(name) {
			d.add(diag.WrongKind, d.at(n), fmt.Sprintf("%s has no %s", field, name), "")
		}
	}
	d.version(field+".version", fields.node("version"), version)
	bytes, err := base64.StdEncoding.DecodeString(fields.text("value"))
	if err != nil {
		d.add(diag.WrongKind, d.at(fields.node("value")), field+".value must be base64", "")
	}
	return &schema.Parameterization{Name: name, Version: plainVersion(version), Value: bytes}
}
