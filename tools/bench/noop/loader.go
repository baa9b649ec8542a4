package noop

import (
	"context"
	"time"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Loader loads the provider into this process.
type Loader struct {
	Delay time.Duration // that each change takes
}

// Load returns a provider of its own for each call.
func (l Loader) Load(_ context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name != "noop" {
		return nil, &provider.MissingError{Package: p.Name, Version: p.Version, Looked: []string{"this process"}}
	}
	return &Provider{delay: l.Delay}, nil
}

// Schema returns the schema of the package noop.
func (Loader) Schema(name string) ([]byte, bool) { return schema, name == "noop" }
