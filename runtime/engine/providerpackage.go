package engine

import (
	"strings"

	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// PackageOfProvider returns which plugin a provider resource of a state needs (E3.22).
func PackageOfProvider(r *state.Resource) provider.Package {
	return providers.PackageOf(strings.TrimPrefix(r.Type, urn.ProviderType("")), r.Inputs)
}
