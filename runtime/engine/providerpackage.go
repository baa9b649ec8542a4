package engine

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// PackageOfProvider returns which plugin a provider resource of a state needs (E3.22).
func PackageOfProvider(r *state.Resource) provider.Package {
	return providers.PackageOf(strings.TrimPrefix(r.Type, urn.ProviderType("")), r.Inputs)
}
