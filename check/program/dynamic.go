package program

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// DynamicNamespace is the package of the dynamic types that a program declares.
const DynamicNamespace = "dynamic"

// Dynamic is a checked dynamic type.
type Dynamic struct {
	Decl  *ast.Dynamic
	Token string // canonical
	// Package is the package by path that declares the type; empty for the program's own types.
	Package string
	Schema  *schema.Resource
	// Code is nil without Bundle, and for a faulty source, which has been reported.
	Code *Bundle
	Path string // of the source, relative to the folder of the program or package, with slashes
}

// Replaces reports whether a change of the code replaces the resources of the type.
func (d *Dynamic) Replaces() bool { return d.Decl.OnCodeChange.Text() == "replace" }

// Bundle is the code of a source file. It is immutable.
type Bundle struct {
	Language string // node or python
	Code     string
	Digest   string
}

// Anything is an object with any members.
var Anything = schema.NewObject("", false, func() []*schema.Property { return nil })

// DynamicInputs returns the inputs of the provider resource that serves a type and all others of the same package and
// source; runtime/dynamic reads them. d.Code must not be nil. Types of one source share a provider, so that its process
// starts once; what a change of the code does must be the same for all resources of a provider, and divides them.
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
	// with adds the names of the properties whose flag has a value.
	with := func(key string, list []*ast.DynamicProperty, flag func(*ast.DynamicProperty) *ast.BoolLiteral, want bool) {
		var names []string
		for _, p := range list {
			if set := flag(p); set != nil && set.Value == want {
				names = append(names, p.Name.Value)
			}
		}
		if names != nil {
			t = t.With(key, value.Strings(names))
		}
	}
	if d.Inputs != nil {
		all := []string{}
		for _, p := range d.Inputs.List {
			all = append(all, p.Name.Value)
		}
		t = t.With("inputs", value.Strings(all))
		with("replace", d.Inputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Replace }, true)
	}
	if d.Outputs != nil {
		with("stable", d.Outputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Stable }, true)
		with("secret", d.Outputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Secret }, true)
		with("public", d.Outputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Secret }, false)
	}
	return t
}
