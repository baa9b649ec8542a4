package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrNotFound is returned when no installed or embedded provider serves the package.
var ErrNotFound = errors.New("no such package")

// ErrReported is returned when a package cannot be loaded for a reason that the loader's owner reports, so that the
// checker does not.
var ErrReported = errors.New("the package cannot be loaded")

// Descriptor names a package to load.
type Descriptor struct {
	Name             string // of the plugin
	Version          string // empty for any
	DownloadURL      string
	Parameterization *Parameterization // nil for a plain package
	// Extension reports whether the parameters add to the plugin's package instead of replacing it (L1.41).
	Extension bool
	// Implied reports whether this use of the package names no version: Version and DownloadURL come from another use
	// in the same program. It is not part of the Key.
	Implied bool
}

// PlainVersion returns a version in the form of the Pulumi CLI: without a leading v and with three numbers (L4.22). Any
// other text is returned unchanged.
func PlainVersion(text string) string {
	plain := strings.TrimPrefix(text, "v")
	end := strings.IndexAny(plain, "-+")
	if end < 0 {
		end = len(plain)
	}
	numbers, rest := plain[:end], plain[end:]
	if strings.Trim(numbers, "0123456789.") != "" || numbers == "" {
		return text
	}
	return numbers + strings.Repeat(".0", max(0, 2-strings.Count(numbers, "."))) + rest
}

// Parameterization turns a plugin into another package (E3.8).
type Parameterization struct {
	Name    string // of the resulting package
	Version string
	Value   []byte
}

// PackageName returns the name of the package in tokens.
func (d Descriptor) PackageName() string {
	if d.Parameterization != nil {
		return d.Parameterization.Name
	}
	return d.Name
}

// Serves reports whether tokens that start with a name may belong to the package: an extension also adds to the package
// of its plugin (L1.41).
func (d Descriptor) Serves(name string) bool {
	return d.PackageName() == name || d.Extension && d.Name == name
}

// PackageVersion returns the version of the package under that name; empty for any.
func (d Descriptor) PackageVersion() string {
	if d.Parameterization != nil {
		return d.Parameterization.Version
	}
	return d.Version
}

// Key distinguishes descriptors: equal keys mean the same package.
func (d Descriptor) Key() string {
	key := d.Name + "\x00" + d.Version + "\x00" + d.DownloadURL
	if p := d.Parameterization; p != nil {
		key += "\x00" + p.Name + "\x00" + p.Version + "\x00" + string(p.Value)
	}
	if d.Extension {
		key += "\x00extension"
	}
	return key
}

// Loader finds packages. Implementations are safe for concurrent use and load each package once.
type Loader interface {
	// Load returns the package. It returns an error that wraps ErrNotFound when no provider has it.
	Load(ctx context.Context, d Descriptor) (*Package, error)
}

// NewLoader returns a Loader for a function that fetches the text of a schema. fetch returns an error that wraps
// ErrNotFound when no provider has the package. It is called once for each descriptor, concurrently for different ones.
// Its errors are remembered, except those of a cancelled context. The built-in package pulumi is not fetched.
func NewLoader(fetch func(ctx context.Context, d Descriptor) ([]byte, error)) Loader {
	return NewPackageLoader(func(ctx context.Context, d Descriptor) (*Package, error) {
		data, err := fetch(ctx, d)
		if err != nil {
			return nil, err
		}
		return Parse(data)
	})
}

// NewPackageLoader is NewLoader for packages that are not opened from a text in memory, but for instance by OpenFile.
// The loader sets the version of packages that have none.
func NewPackageLoader(open func(ctx context.Context, d Descriptor) (*Package, error)) Loader {
	return &loader{open: open, entries: make(map[string]*loaderEntry)}
}

type loader struct {
	open    func(ctx context.Context, d Descriptor) (*Package, error)
	mu      sync.Mutex // guards entries
	entries map[string]*loaderEntry
}

type loaderEntry struct {
	mu   sync.Mutex // held while loading
	done bool
	pkg  *Package
	err  error
}

var _ Loader = (*loader)(nil)

func (l *loader) Load(ctx context.Context, d Descriptor) (*Package, error) {
	key := d.Key()
	if d.PackageName() == builtinName {
		key = builtinName
	}
	l.mu.Lock()
	entry := l.entries[key]
	if entry == nil {
		entry = &loaderEntry{}
		l.entries[key] = entry
	}
	l.mu.Unlock()

	entry.mu.Lock()
	defer entry.mu.Unlock()
	if !entry.done {
		entry.pkg, entry.err = l.load(ctx, d)
		entry.done = entry.err == nil || ctx.Err() == nil
	}
	return entry.pkg, entry.err
}

func (l *loader) load(ctx context.Context, d Descriptor) (*Package, error) {
	if d.PackageName() == builtinName {
		return Builtin()
	}
	pkg, err := l.open(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("load package %s: %w", d.PackageName(), err)
	}
	if pkg.Version == "" {
		pkg.Version = d.PackageVersion() // F8.18
	}
	return pkg, nil
}
