package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/yamlhost/yamlhost/runtime/journal"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value/urn"
)

// extensionText is an extension as states keep it, so that its resources can be handled without the program (E3.57, F5.7).
type extensionText struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// extensionRef is the reference of an extension, which its content makes (E2.67).
func extensionRef(z *monitor.Parameterization) string {
	sum := sha256.Sum256([]byte(z.Name + "\x00" + z.Version + "\x00" + string(z.Value)))
	return hex.EncodeToString(sum[:])
}

// extension is what a provider was told, or is being told, of one extension.
type extension struct {
	done chan struct{}
	err  error // to be read after done is closed
}

// extends is the plugin that a package reference extends; ok is false when it is no extension's.
func (d *Deployment) extends(ref string) (plugin string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.packages[ref]; p.Extension {
		return p.Name, true
	}
	return "", false
}

// onlyExtension is a package reference if it is an extension's, else nothing.
func (d *Deployment) onlyExtension(ref string) string {
	if _, ok := d.extends(ref); ok {
		return ref
	}
	return ""
}

// extend makes sure that a provider knows an extension before it has to do with something of it; once for each (E3.57). An
// empty reference is none.
func (r *registry) extend(i *instance, ref string, about urn.URN) error {
	if ref == "" || i.loaded == nil {
		return nil
	}
	r.mu.Lock()
	x := i.extensions[ref]
	if x != nil {
		r.mu.Unlock()
		<-x.done
		return x.err
	}
	x = &extension{done: make(chan struct{})}
	if i.extensions == nil {
		i.extensions = map[string]*extension{}
	}
	i.extensions[ref] = x
	r.mu.Unlock()
	x.err = r.teach(i, ref, about)
	close(x.done)
	return x.err
}

// teach tells a provider of an extension, and records what it is if the state does not know yet.
func (r *registry) teach(i *instance, ref string, about urn.URN) error {
	d := r.d
	known := map[string]json.RawMessage{}
	if d.opts.Base != nil && len(d.opts.Base.Extensions) > 0 {
		if err := json.Unmarshal(d.opts.Base.Extensions, &known); err != nil {
			return fmt.Errorf("the state's extensions cannot be read")
		}
	}
	d.mu.Lock()
	p, registered := d.packages[ref]
	d.mu.Unlock()
	var z extensionText
	raw, recorded := known[ref]
	switch {
	case registered && p.Extension:
		z = extensionText{p.Parameterization.Name, p.Parameterization.Version, p.Parameterization.Value}
	case !recorded:
		return fmt.Errorf("the state does not say what the extension %s is, which %s needs", ref, about)
	default:
		if err := json.Unmarshal(raw, &z); err != nil {
			return fmt.Errorf("the state's extension %s cannot be read", ref)
		}
	}
	answer, err := i.loaded.Parameterize(d.calls, provider.ParameterizeRequest{Name: z.Name, Version: z.Version, Value: z.Value})
	if err != nil {
		return fmt.Errorf("extend the provider of %s by %s: %w", about, z.Name, err)
	}
	if answer.Name != z.Name {
		return fmt.Errorf("parameterize response name %q does not match expected package %q", answer.Name, z.Name)
	}
	if recorded {
		return nil
	}
	if raw, err = json.Marshal(z); err != nil {
		return err
	}
	return d.ledger.commit(d.calls, journal.Entry{Extensions: map[string]json.RawMessage{ref: raw}})
}
