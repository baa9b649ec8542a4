package noop

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Loader loads the provider into this process.
type Loader struct{}

// Load returns a provider of its own for each call.
func (Loader) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "noop" {
		return nil, &provider.MissingError{Package: p.Name, Version: p.Version, Looked: []string{"this process"}}
	}
	return &Provider{}, nil
}

// Schema is the schema of the package noop.
func (Loader) Schema(name string) ([]byte, bool) { return schema, name == "noop" }
