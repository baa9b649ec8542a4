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
	// Config is the stack's configuration of the package, without namespace, as the plugin's environment gets it (E3.2).
	Config         map[string]string
	EnvVarMappings map[string]string // new variable to existing variable (L4.29)
}

// Parameterization makes a package out of a plugin that can be several.
type Parameterization = monitor.Parameterization

// Loader starts providers. Each call gives a provider of its own, which the caller closes.
type Loader interface {
	// Load starts a provider and, if p has a parameterization, makes it that package, once: a provider may refuse a second
	// time. An answer for another package than the one wanted is an error (E3.8). Load returns *MissingError when there is
	// no such provider.
	Load(ctx context.Context, p Package) (Provider, error)
}
