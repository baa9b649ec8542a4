package provider

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Package describes which provider to load.
type Package struct {
	Name             string // of the plugin
	Version          string // empty for any
	DownloadURL      string
	Checksums        map[string][]byte
	Parameterization *Parameterization
	// Config is the stack's configuration of the package, without the namespace, as passed in the plugin's environment
	// (E3.2).
	Config           map[string]string
	ConfigHasSecrets bool              // whether Config may have the plain text of a secret
	EnvVarMappings   map[string]string // maps new variables to existing ones (L4.29)
}

// Parameterization turns a plugin that can serve several packages into one of them.
type Parameterization = monitor.Parameterization

// Loader starts providers. Each call returns a separate provider, which the caller closes.
type Loader interface {
	// Load starts a provider and, if p has a parameterization, applies it once, because a provider may refuse a second
	// one. It returns an error if the provider returns a package other than the requested one (E3.8), and
	// *MissingError if there is no such provider.
	Load(ctx context.Context, p Package) (Provider, error)
}
