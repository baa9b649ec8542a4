package eval

import (
	"context"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/value"
)

// dynamicProviders are the provider resources of dynamic types (D15): one for each source, so that the state has each
// source's code once. Types whose objects are replaced when their code changes have one of their own, which keeps the
// old code until the old objects are deleted.
type dynamicProviders struct {
	mu    sync.Mutex // guards known
	known map[string]*dynamicProvider
}

type dynamicProvider struct {
	once  sync.Once
	ref   string
	fault *fault
}

// replacedSuffix tells the provider of types with onCodeChange: replace from that of the same source's other types.
const replacedSuffix = "#replace"

// dynamicProvider registers the provider of a dynamic type, once for each source, and returns the reference to it.
func (e *evaluator) dynamicProvider(ctx context.Context, d *check.Dynamic) (string, *fault) {
	name := d.Path
	if d.Replaces() {
		name += replacedSuffix
	}
	e.dynamic.mu.Lock()
	p := e.dynamic.known[name]
	if p == nil {
		if e.dynamic.known == nil {
			e.dynamic.known = make(map[string]*dynamicProvider)
		}
		p = &dynamicProvider{}
		e.dynamic.known[name] = p
	}
	e.dynamic.mu.Unlock()
	p.once.Do(func() { p.ref, p.fault = e.registerDynamic(ctx, name, d) })
	return p.ref, p.fault
}

func (e *evaluator) registerDynamic(ctx context.Context, name string, d *check.Dynamic) (string, *fault) {
	at := d.Decl.Name.Range
	if d.Code == nil {
		return "", blame(diag.OperationFailed, at, "", "this engine cannot run %s: dynamic types need the engine of yamlhost",
			d.Path)
	}
	response, err := e.monitor.RegisterResource(ctx, monitor.RegisterRequest{
		Type: "pulumi:providers:" + check.DynamicNamespace, Name: name, Custom: true, Parent: e.stack,
		Inputs: dynamicInputs(e.root.body, d), SourcePosition: e.position(at),
	})
	if err == nil && response.Result != monitor.Succeeded {
		err = monitor.ErrReported
	}
	if err != nil {
		if f := silent(err); f != nil {
			return "", f
		}
		return "", blame(diag.OperationFailed, at, "", "registering the provider of `%s` failed: %s", d.Decl.Name.Value, err)
	}
	return providerReference(&value.ResourceRef{URN: response.URN, ID: response.ID}), nil
}

// dynamicInputs are the inputs of the provider resource that serves a type and others of its source; runtime/dynamic
// reads them.
func dynamicInputs(p *check.Program, d *check.Dynamic) value.Value {
	types := value.EmptyMap()
	var env []string
	for _, other := range p.Dynamic {
		if other.Path != d.Path || other.Replaces() != d.Replaces() {
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
		inputs = append(inputs, value.Entry{Key: "env", Value: textList(env)})
	}
	return value.MapOf(inputs...)
}

// dynamicType is what the provider has to know of a type.
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
		t = t.With("inputs", textList(all))
		if replace != nil {
			t = t.With("replace", textList(replace))
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
			t = t.With("stable", textList(stable))
		}
		if secret != nil {
			t = t.With("secret", textList(secret))
		}
	}
	return t
}

func textList(texts []string) value.Value {
	items := make([]value.Value, len(texts))
	for i, text := range texts {
		items[i] = value.String(text)
	}
	return value.List(items...)
}
