package eval

import (
	"context"
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// register registers or reads a resource of the program; the value is a reference to it (L3.B, L3.C).
func (s *instance) register(ctx context.Context) (value.Value, *fault) {
	r := s.resource
	s.e.budget.GrantResource()
	if r.Decl.Get != nil || r.Token == schema.StackReferenceToken {
		return s.read(ctx)
	}
	local := r.Component != nil
	component := local || r.Schema != nil && r.Schema.Component
	request := monitor.RegisterRequest{
		Type: r.Token, Name: s.name(), Custom: !component, Remote: component && !local, // L3.17
		SourcePosition: s.e.options.position(r.Decl.Name.Range),
	}
	written := r.Decl.Properties
	if s.node.Deferral != nil {
		written = ahead(s.node)
	}
	inputs, whole, failed := s.properties(ctx, written, &request)
	failed = failed.and(s.options(ctx, &request))
	if local && failed == nil {
		failed = s.givenProviders(ctx, &request)
	}
	if failed != nil {
		return value.Null, failed
	}
	request.Inputs = inputs
	request.Dependencies = append(request.Dependencies, s.deps...)
	request.PropertyDependencies, request.Dependencies = s.e.resources.dependencies(whole,
		request.Remote, request.Dependencies)
	if request.Remote {
		request.Inputs = besideReferences(inputs)
	}
	if f := s.guards(ctx, &request, s.urnBelow(request.Parent), inputs, false); f != nil {
		return value.Null, f
	}
	if f := s.e.urns.claim(s.urnBelow(request.Parent), r.Decl.Name); f != nil {
		return value.Null, f
	}

	s.e.hydrate(ctx, inputs, r.Decl.Name.Range)
	response, err := registerResource(ctx, s.e.monitor, request)
	if err != nil {
		return value.Null, registrationFault(r, err, inputs, propertyRanges{written, r.Decl.PropertiesExpr})
	}
	if s.node.Deferral != nil {
		return s.begin(response.URN, s.e.changed.of(request)), nil
	}
	if local {
		v, f := s.construct(ctx, response.URN, s.e.changed.of(request))
		if made := s.e.resources.get(response.URN); f == nil && made != nil {
			f = s.guards(ctx, &request, response.URN, made.outputs.MapOrEmpty(), true)
		}
		return v, f
	}
	s.frame.members.add(response.URN)
	outputs := outputsNow(r, response.Outputs, response.Known || !s.e.info.DryRun)
	if f := s.guards(ctx, &request, response.URN, outputs, true); f != nil {
		return value.Null, f
	}
	return s.e.resources.registered(r, &resource{
		urn: response.URN, id: response.ID, outputs: response.Outputs, component: component, provider: request.Provider,
		deps: response.PropertyDependencies,
		// Outside of previews only an untargeted resource has an unknown ID.
		known:   response.Known || !s.e.info.DryRun && response.ID.IsKnown(),
		secrets: request.AdditionalSecretOutputs,
	}), nil
}

// registered stores a resource and returns a reference to it.
func (g *registry) registered(r *check.Resource, res *resource) value.Value {
	res.id = res.id.WithoutDeps()
	if res.component {
		res.id = value.Null
	}
	if !res.outputs.Is(value.KindMap) {
		res.outputs = value.EmptyMap()
	}
	if r.Schema != nil && r.Schema.Outputs != nil {
		res.types = func(name string) schema.Type {
			if p := r.Schema.Outputs.Property(name); p != nil {
				return p.Type
			}
			return nil
		}
	}
	g.add(res)
	return res.reference(r.Package.PackageVersion())
}

// registrationFault returns the fault of a failed registration.
func registrationFault(r *check.Resource, err error, inputs value.Value, written propertyRanges) *fault {
	if f := refusal(err, diag.CheckFailed, r.Decl.Name.Value, inputs, written, r.Decl.Name.Range); f != nil {
		return f
	}
	return blame(diag.OperationFailed, r.Decl.Name.Range, "", "registering %s failed: %s", r.Decl.Name.Value,
		redact(err.Error(), inputs))
}

// properties evaluates the inputs of a resource and converts them for its provider. whole still has the nulls, which
// are not sent but carry dependencies. The request records the properties that a default has filled in. A provider
// reads its environment itself, mapped by envVarMappings: values of this process's environment would make plans depend
// on the machine (L3.15).
func (s *instance) properties(ctx context.Context, written []ast.Property,
	request *monitor.RegisterRequest) (inputs, whole value.Value, _ *fault) {
	r := s.resource
	where, object := propertyRanges{written, r.Decl.PropertiesExpr}, r.Inputs()
	var f *fault
	if e := r.Decl.PropertiesExpr; e != nil {
		inputs, f = mapIn(ctx, &s.scope, "properties", diag.NotAssignable, e)
	} else {
		inputs, f = s.block(ctx, written, object)
	}
	if f != nil {
		return value.Null, value.Null, f
	}
	if object != nil {
		converter := s.e.converter(ctx)
		if urn.IsProviderType(r.Token) {
			converter.Getenv = nil
		}
		converter.Filled = func(path value.Path) { request.Defaults = append(request.Defaults, path) }
		completed, err := converter.Complete(object, inputs)
		if err != nil {
			return value.Null, value.Null, conversionFault(r.Decl.Name.Value, err, where, r.Decl.Name.Range)
		}
		inputs = completed
	}
	if !inputs.IsKnown() {
		// An unknown block without a schema cannot be sent (L3.12).
		return value.Null, value.Null, blame(diag.NotKnownInTime, r.Decl.PropertiesExpr.Range(),
			"write the names of the properties as literals",
			"properties must be known before anything is created")
	}
	// The marks of the whole block belong to each property (L3.12).
	if inputs.IsSecret() || len(inputs.Deps()) > 0 {
		entries := make([]value.Entry, inputs.Len())
		for i, key := range inputs.Keys() {
			entries[i] = value.Entry{Key: key, Value: inputs.Get(key)}
		}
		inputs = value.MapOf(entries...)
	}
	whole, inputs = inputs, withoutNulls(inputs) // L3.13
	if f := storable(r.Decl.Name.Value, inputs, where, r.Decl.Name.Range); f != nil {
		return value.Null, value.Null, f
	}
	return inputs, whole, nil
}

// block evaluates a literal map of properties.
func (s *instance) block(ctx context.Context, properties []ast.Property, object *schema.Object) (value.Value, *fault) {
	var few [12]value.Entry // on the stack, as most resources have no more
	entries := slices.Grow(few[:0], len(properties))
	var failed *fault
	for _, p := range properties {
		v, f := s.eval(ctx, p.Value)
		failed = failed.and(f)
		if f == nil {
			v = s.originalText(v, p, object)
		}
		entries = append(entries, value.Entry{Key: p.Name.Value, Value: v})
	}
	if failed != nil {
		return value.Null, failed
	}
	return value.MapOfOwn(entries), nil
}

// originalText returns the original text of a configuration value without declared type for a property of type string:
// an account number keeps its zeros (L2.33).
func (s *instance) originalText(v value.Value, p ast.Property, object *schema.Object) value.Value {
	if object == nil || v.Is(value.KindString) {
		return v
	}
	node := s.e.program.RefTo(p.Value).Node
	if node == nil || node.Config == nil || node.Config.Text == nil ||
		node.Config.Decl != nil && node.Config.Decl.Type != nil {
		return v
	}
	property := object.Property(p.Name.Value)
	if property == nil || schema.Required(property.Type) != schema.String {
		return v
	}
	return value.String(*node.Config.Text).WithMarksOf(v)
}

// dependencies returns the URNs behind each top-level property, and all of them together with the URNs of dependsOn
// and of the replacement trigger (L9.41). A resource whose reference goes to a remote component is not a dependency
// of it; the resource from which the reference came is one.
func (g *registry) dependencies(inputs value.Value, remote bool, dependsOn []urn.URN) (urn.Dependencies,
	[]urn.URN) {
	present, byProperty := inputs, make([][]urn.URN, 0, inputs.Len())
	all := dependsOn
	for i, key := range inputs.Keys() {
		deps := inputs.At(i).AllDeps()
		if remote {
			deps = depsBesideReferences(inputs.At(i))
		}
		deps = g.concrete(deps)
		if inputs.At(i).IsNull() && len(deps) == 0 {
			present = present.Without(key) // without loss
			continue
		}
		byProperty = append(byProperty, deps)
		all = append(all, deps...)
	}
	return urn.NewDependencies(present.Keys(), byProperty), g.concrete(all)
}

// depsBesideReferences returns the dependencies of a value, without the resources that it refers to itself.
func depsBesideReferences(v value.Value) []urn.URN {
	var deps []urn.URN
	v.Any(func(x value.Value) bool {
		ref, isReference := x.AsResource()
		for _, u := range x.Deps() {
			if !isReference || u != ref.URN {
				deps = append(deps, u)
			}
		}
		return false
	})
	return sortedURNs(deps)
}

// withProvider returns the providers of a component with one more for its children, unless they have one for the same
// package (L4.20, L7.40). It ignores an empty reference.
func withProvider(providers map[string]string, own string) map[string]string {
	ref, err := urn.ParseReference(own)
	if err != nil {
		return providers
	}
	pkg := ref.URN.Package()
	if _, given := providers[pkg]; given {
		return providers
	}
	more := map[string]string{pkg: own}
	maps.Copy(more, providers)
	return more
}

// besideReferences returns a value whose references carry the dependencies of their origin, but not the resources that
// they refer to. A resource that is passed to a method or a remote component is not a dependency (L9.41).
func besideReferences(v value.Value) value.Value {
	return v.Transform(func(x value.Value) value.Value {
		if x.Is(value.KindResource) {
			return x.WithoutDeps().DependingOn(depsBesideReferences(x)...)
		}
		return x
	})
}

// sortedURNs returns urns sorted, without duplicates.
func sortedURNs(urns []urn.URN) []urn.URN {
	if len(urns) == 0 {
		return nil
	}
	sorted := slices.Clone(urns)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
