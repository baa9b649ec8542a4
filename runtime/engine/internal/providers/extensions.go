package providers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// extensionText is the format of an extension in a state, which must suffice to manage its resources without the
// program (E3.57, F5.7).
type extensionText struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// extensionRef returns the reference of an extension, a hash of its content (E2.67).
func extensionRef(z *monitor.Parameterization) string {
	sum := sha256.Sum256([]byte(z.Name + "\x00" + z.Version + "\x00" + string(z.Value)))
	return hex.EncodeToString(sum[:])
}

// Extend loads an extension into a provider before the first use of it (E3.57). It does nothing for an empty reference.
func (r *Registry) Extend(i *Instance, ref string, about urn.URN) error {
	if ref == "" || i.loaded == nil {
		return nil
	}
	_, err := i.extensions.Get(ref, func() (struct{}, error) { return struct{}{}, r.teach(i, ref, about) })
	return err
}

// teach loads an extension into a provider, and records it if the state does not have it yet.
func (r *Registry) teach(i *Instance, ref string, about urn.URN) error {
	known := map[string]json.RawMessage{}
	if len(r.Extensions) > 0 {
		if err := json.Unmarshal(r.Extensions, &known); err != nil {
			return fmt.Errorf("the state's extensions cannot be read")
		}
	}
	p, registered := r.Packages.get(ref)
	var z extensionText
	raw, recorded := known[ref]
	switch {
	case registered && p.Extension:
		z = extensionText{p.Parameterization.Name, p.Parameterization.Version, p.Parameterization.Value}
	case !recorded:
		return fmt.Errorf("the state has no description of the extension %s, which %s needs", ref, about)
	default:
		if err := json.Unmarshal(raw, &z); err != nil {
			return fmt.Errorf("the state's extension %s cannot be read", ref)
		}
	}
	answer, err := i.loaded.Parameterize(r.Calls, provider.ParameterizeRequest{Name: z.Name, Version: z.Version,
		Value: z.Value})
	if err != nil {
		return fmt.Errorf("extend the provider of %s by %s: %w", about, z.Name, err)
	}
	// A plugin that predates extensions returns an empty answer, and still accepts the types.
	if answer.Name != z.Name && answer != (provider.ParameterizeResponse{}) {
		return fmt.Errorf("parameterize response name %q does not match expected package %q", answer.Name, z.Name)
	}
	if recorded {
		return nil
	}
	if raw, err = json.Marshal(z); err != nil {
		return err
	}
	return r.Record(ref, raw)
}
