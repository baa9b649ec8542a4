package schema

import (
	"context"
	"errors"
)

// ErrNotFound says that no provider of the wanted package is installed or embedded.
var ErrNotFound = errors.New("no such package")

// Descriptor names a package to load.
type Descriptor struct {
	Name             string // of the plugin
	Version          string // empty for any
	DownloadURL      string
	Parameterization *Parameterization // nil for a plain package
}

// Parameterization makes a package out of a plugin that can be several (E3.8).
type Parameterization struct {
	Name    string // of the resulting package
	Version string
	Value   []byte
}

// PackageName is the name under which tokens name the package.
func (d Descriptor) PackageName() string {
	if d.Parameterization != nil {
		return d.Parameterization.Name
	}
	return d.Name
}

// Loader finds packages. Implementations are safe for concurrent use and load each package once.
type Loader interface {
	// Load returns the package. It returns an error that wraps ErrNotFound when no provider has it.
	Load(ctx context.Context, d Descriptor) (*Package, error)
}
