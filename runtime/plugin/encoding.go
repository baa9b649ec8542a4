package plugin

import (
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/wire"
)

// capabilities are the abilities that a plugin reported in Handshake or, without one, in Configure (E3.5, F2.14).
type capabilities struct {
	secrets, resources, outputs, byteStrings, autonaming, preview bool
}

// Whether a request or a response may have unknown values (F1.13, F1.14). Where it may not, a request leaves them out,
// and in a response they are an error.
const (
	withUnknowns    = true
	withoutUnknowns = false
)

// request returns the encoding of a field with everything that the provider accepts: S and R of F1.13.
func (c capabilities) request(unknowns bool) wire.Options {
	return wire.Options{KeepUnknowns: unknowns, KeepSecrets: c.secrets, KeepResources: c.resources,
		KeepByteStrings: c.byteStrings}
}

// elided is request without the contents of assets.
func (c capabilities) elided(unknowns bool) wire.Options {
	o := c.request(unknowns)
	o.ElideAssetContents = true
	return o
}

// checkConfig returns the encoding for CheckConfig and DiffConfig, in which only unknowns are kept.
func (c capabilities) checkConfig(unknowns bool) wire.Options {
	return wire.Options{KeepUnknowns: unknowns, KeepByteStrings: c.byteStrings}
}

// configure returns the encoding of Configure's args: secrets and references are always kept.
func (c capabilities) configure() wire.Options {
	return wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepByteStrings: c.byteStrings}
}

// construct and call keep unknowns and, where the provider takes them, dependencies.
func (c capabilities) construct() wire.Options {
	o := c.request(withUnknowns)
	o.KeepOutputs = c.outputs
	return o
}

func (c capabilities) call() wire.Options {
	o := c.configure()
	o.KeepOutputs = c.outputs
	return o
}

// response returns the decoding of responses: secrets and references are always kept (F1.14, F1.16).
func response(unknowns bool) wire.Options {
	return wire.Options{KeepUnknowns: unknowns, RejectUnknowns: !unknowns, KeepSecrets: true, KeepResources: true}
}

// withSecretsOf marks outputs as secret whose inputs with the same key were (F1.16, E3.47), for providers without
// support for secrets.
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

// withEachSecret marks every top-level result as secret, for a function that got a secret as plain text (F1.16).
func withEachSecret(result value.Value) value.Value {
	for i, key := range result.Keys() {
		result = result.With(key, result.At(i).Secret())
	}
	return result
}

// withoutInternal removes the engine's own data from a provider's inputs (E3.21).
func withoutInternal(v value.Value) value.Value { return v.Without("__internal") }

// contents holds assets and archives by kind and hash, to restore them in an answer that has only hashes (F1.17).
type contents map[string]value.Value

func contentsOf(vs ...value.Value) contents {
	c := contents{}
	for _, v := range vs {
		v.Any(func(x value.Value) bool {
			if a, ok := x.AsAsset(); ok && a.Hash != "" && (a.HasText || a.Path != "" || a.URI != "") {
				c["asset "+a.Hash] = value.NewAsset(a)
			}
			if a, ok := x.AsArchive(); ok && a.Hash != "" && (a.Assets.Is(value.KindMap) || a.Path != "" || a.URI != "") {
				c["archive "+a.Hash] = value.NewArchive(a)
			}
			return false
		})
	}
	return c
}

func (c contents) restore(v value.Value) value.Value {
	if len(c) == 0 {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		key := ""
		if a, ok := x.AsAsset(); ok && !a.HasText && a.Path == "" && a.URI == "" {
			key = "asset " + a.Hash
		} else if a, ok := x.AsArchive(); ok && !a.Assets.Is(value.KindMap) && a.Path == "" && a.URI == "" {
			key = "archive " + a.Hash
		}
		if full, ok := c[key]; ok {
			return full.WithMarksOf(x)
		}
		return x
	})
}
