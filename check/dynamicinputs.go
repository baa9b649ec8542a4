package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// DynamicInputs are the inputs of the provider resource that serves a type and those others that are of the same
// package and source; runtime/dynamic reads them. The code of the type must be there.
func DynamicInputs(all []*Dynamic, d *Dynamic) value.Value {
	types := value.EmptyMap()
	var env []string
	for _, other := range all {
		if other.Package != d.Package || other.Path != d.Path || other.Replaces() != d.Replaces() {
			continue
		}
		types = types.With(other.Decl.Name.Value, dynamicType(other.Decl))
		for _, name := range other.Decl.Env {
			env = append(env, name.Value)
		}
	}
	slices.Sort(env)
	inputs := []value.Entry{
		{Key: "source", Value: value.String(d.Path)},
		{Key: "language", Value: value.String(d.Code.Language)},
		{Key: "digest", Value: value.String(d.Code.Digest)},
		{Key: "code", Value: value.String(d.Code.Code).Secret()},
		{Key: "types", Value: types},
	}
	if env = slices.Compact(env); len(env) > 0 {
		inputs = append(inputs, value.Entry{Key: "env", Value: value.Strings(env)})
	}
	return value.MapOf(inputs...)
}

// dynamicType describes a type to the provider.
func dynamicType(d *ast.Dynamic) value.Value {
	t := value.EmptyMap()
	if export := d.Export(); export != "" {
		t = t.With("export", value.String(export))
	}
	if d.OnCodeChange != nil {
		t = t.With("onCodeChange", value.String(d.OnCodeChange.Value))
	}
	if d.Inputs != nil {
		all, replace := []string{}, []string(nil)
		for _, p := range d.Inputs.List {
			all = append(all, p.Name.Value)
			if p.Replace != nil && p.Replace.Value {
				replace = append(replace, p.Name.Value)
			}
		}
		t = t.With("inputs", value.Strings(all))
		if replace != nil {
			t = t.With("replace", value.Strings(replace))
		}
	}
	if d.Outputs != nil {
		var stable, secret []string
		for _, p := range d.Outputs.List {
			if p.Stable != nil && p.Stable.Value {
				stable = append(stable, p.Name.Value)
			}
			if p.Secret != nil && p.Secret.Value {
				secret = append(secret, p.Name.Value)
			}
		}
		if stable != nil {
			t = t.With("stable", value.Strings(stable))
		}
		if secret != nil {
			t = t.With("secret", value.Strings(secret))
		}
	}
	return t
}
