package plugin

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
)

// capabilities are the abilities that a plugin reported in Handshake or, without one, in Configure (E3.5, F2.14).
type capabilities struct {
	secrets, resources, outputs, byteStrings, autonaming, preview bool
}

// unknowns describes what becomes of unknown values in a request or response (F1.13, F1.14).
type unknowns uint8

const (
	omitUnknowns unknowns = iota
	keepUnknowns
	rejectUnknowns
)

func keptWhen(allowed bool) unknowns {
	if allowed {
		return keepUnknowns
	}
	return omitUnknowns
}

// allowedWhen is for responses: an unknown where none is allowed is an error.
func allowedWhen(allowed bool) unknowns {
	if allowed {
		return keepUnknowns
	}
	return rejectUnknowns
}

func (u unknowns) apply(o wire.Options) wire.Options {
	o.KeepUnknowns, o.RejectUnknowns = u == keepUnknowns, u == rejectUnknowns
	return o
}

// request is the encoding of a field that takes what the provider accepts: S and R of F1.13.
func (c capabilities) request(u unknowns) wire.Options {
	return u.apply(wire.Options{KeepSecrets: c.secrets, KeepResources: c.resources, KeepByteStrings: c.byteStrings})
}

// elided is request without the contents of assets.
func (c capabilities) elided(u unknowns) wire.Options {
	o := c.request(u)
	o.ElideAssetContents = true
	return o
}

// checkConfig is the encoding for CheckConfig and DiffConfig, which get nothing special but unknowns.
func (c capabilities) checkConfig(u unknowns) wire.Options {
	return u.apply(wire.Options{KeepByteStrings: c.byteStrings})
}

// configure is the encoding of Configure's args: secrets and references are kept whatever the provider said.
func (c capabilities) configure() wire.Options {
	return wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepByteStrings: c.byteStrings}
}

// construct and call keep unknowns and, where the provider takes them, dependencies.
func (c capabilities) construct() wire.Options {
	o := c.request(keepUnknowns)
	o.KeepOutputs = c.outputs
	return o
}

func (c capabilities) call() wire.Options {
	o := c.configure()
	o.KeepOutputs = c.outputs
	return o
}

// response decodes what comes from a provider: secrets and references are kept whatever was agreed (F1.14, F1.16).
func response(u unknowns) wire.Options {
	return u.apply(wire.Options{KeepSecrets: true, KeepResources: true})
}

// withSecretsOf marks in outputs what was secret in inputs, by key (F1.16, E3.47): for providers that do not take
// secrets.
func withSecretsOf(inputs, outputs value.Value) value.Value {
	if !inputs.Is(value.KindMap) || !outputs.Is(value.KindMap) || !inputs.ContainsSecret() {
		return outputs
	}
	keys := inputs.Keys()
	for i, key := range keys {
		v := inputs.At(i)
		out, ok := outputs.Lookup(key)
		switch {
		case !ok || out.IsSecret():
		case v.Is(value.KindMap) && out.Is(value.KindMap) && !v.IsSecret():
			if v.ContainsSecret() {
				outputs = outputs.With(key, withSecretsOf(v, out))
			}
		case v.ContainsSecret():
			outputs = outputs.With(key, out.Secret())
		}
	}
	return outputs
}

// withEachSecret marks every top-level result secret: a function that got a secret it could not see as one (F1.16).
func withEachSecret(result value.Value) value.Value {
	for i, key := range result.Keys() {
		result = result.With(key, result.At(i).Secret())
	}
	return result
}

// withoutInternal leaves out what only the engine keeps with a provider's inputs (E3.21).
func withoutInternal(v value.Value) value.Value { return v.Without("__internal") }

// contents collects assets and archives by hash, to give them back to a provider's answer that names only hashes
// (F1.17).
type contents struct {
	assets   map[string]value.Value
	archives map[string]value.Value
}

func contentsOf(vs ...value.Value) contents {
	var c contents
	for _, v := range vs {
		v.Any(func(x value.Value) bool {
			if a, ok := x.AsAsset(); ok && a.Hash != "" && (a.HasText || a.Path != "" || a.URI != "") {
				if c.assets == nil {
					c.assets = map[string]value.Value{}
				}
				c.assets[a.Hash] = value.NewAsset(a)
			}
			if a, ok := x.AsArchive(); ok && a.Hash != "" && (a.Assets.Is(value.KindMap) || a.Path != "" || a.URI != "") {
				if c.archives == nil {
					c.archives = map[string]value.Value{}
				}
				c.archives[a.Hash] = value.NewArchive(a)
			}
			return false
		})
	}
	return c
}

func (c contents) restore(v value.Value) value.Value {
	if c.assets == nil && c.archives == nil {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if a, ok := x.AsAsset(); ok && !a.HasText && a.Path == "" && a.URI == "" {
			if full, ok := c.assets[a.Hash]; ok {
				return full.WithMarksOf(x)
			}
		}
		if a, ok := x.AsArchive(); ok && !a.Assets.Is(value.KindMap) && a.Path == "" && a.URI == "" {
			if full, ok := c.archives[a.Hash]; ok {
				return full.WithMarksOf(x)
			}
		}
		return x
	})
}
