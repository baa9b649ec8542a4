package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// registerTransforms registers the transforms of the stack (L10.C17), before any resource that they may change.
func (e *evaluator) registerTransforms(ctx context.Context) *fault {
	for _, t := range e.program.Transforms {
		rng := t.Decl.Key
		s := transformer{scope: scope{e: e, frame: e.root}, decl: t.Decl, needs: t.Needs}
		registrar, ok := e.monitor.(monitor.TransformRegistrar)
		if !ok {
			return blame(diag.OperationFailed, rng, "", "this engine cannot apply transforms")
		}
		var err error
		if t.Decl.Arguments {
			err = registrar.RegisterStackInvokeTransform(ctx, s.forInvokes())
		} else {
			err = registrar.RegisterStackTransform(ctx, s.forResources())
		}
		if err != nil {
			return failure(err, diag.OperationFailed, rng, "cannot register this transform: %s", err)
		}
	}
	return nil
}

// transforms returns the resource's own transforms.
func (s *instance) transforms() ([]monitor.Transform, *fault) {
	var list []monitor.Transform
	for _, t := range s.resource.Decl.Options.Transforms {
		if _, ok := s.e.monitor.(monitor.TransformRegistrar); !ok {
			return nil, blame(diag.OperationFailed, t.Key, "", "this engine cannot apply transforms")
		}
		list = append(list, transformer{scope: s.scope, decl: t}.forResources())
	}
	return list, nil
}

// transformer applies one transform. It is immutable.
type transformer struct {
	scope
	decl  *ast.Transform
	needs []check.Edge // the dependencies of a transform of the stack
	role  string       // of what it merges, if that is not a transform's properties, for messages
}

// forResources returns the function of a transform that engines call. It is safe for concurrent use.
func (s transformer) forResources() monitor.Transform {
	return func(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterRequest, error) {
		defer s.e.options.guard()
		if !program.MatchesResource(s.decl, r.Type, r.Name, r.Custom) {
			return r, nil
		}
		inner := s
		inner.args = resourceArgs(r)
		next, f := inner.resource(s.e.budget.paying(ctx), r)
		if f != nil {
			return r, s.e.transformError(s.decl, r.Name, f)
		}
		if !r.Custom {
			s.e.changed.known.Store(componentKey{next.Type, next.Name, next.Parent}, next.Inputs)
		}
		return next, nil
	}
}

// transformError returns an error that an engine can pass on, in which errors.As finds the fault.
func (e *evaluator) transformError(t *ast.Transform, resource string, f *fault) error {
	if f.cause == over && len(f.findings) == 0 { // the end of the run is reported elsewhere
		return monitor.ErrShutdown
	}
	for i := range f.findings {
		f.findings[i].Related = append(slices.Clip(f.findings[i].Related),
			diag.Related{Range: t.Key, Message: "this transform changes " + resource})
	}
	if p := e.options.position(t.Key); p != nil {
		return fmt.Errorf("the transform in line %d: %w", p.Line, f)
	}
	return f
}

// resource returns a registration with the changes of the transform.
func (s *transformer) resource(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterRequest, *fault) {
	t := s.decl
	if f := s.waits(r.Name); f != nil {
		return r, f
	}
	when, applies, f := s.when(ctx)
	if f != nil || !applies {
		return r, f
	}
	if t.Merge != nil {
		var paths []string
		object := s.e.program.InputsOf(r.Type)
		if r.Inputs, paths, f = s.merge(ctx, object, when, r.Inputs, r.Name); f != nil {
			return r, f
		}
		transformed := make(map[string]*monitor.Position, len(r.Transformed)+len(paths))
		maps.Copy(transformed, r.Transformed)
		for _, path := range paths {
			transformed[path] = s.e.options.position(t.Key)
		}
		r.Transformed = transformed
	}
	if !when.IsKnown() || t.Options.Range.IsZero() {
		return r, nil // conditions of options must be known, as they are in an update
	}
	return s.mergeOptions(ctx, &t.Options, r)
}

// waits returns a fault if the transform depends on a node that is evaluated after the changed resource.
func (s *transformer) waits(resource string) *fault {
	for _, edge := range s.needs {
		if !s.frame.states[edge.To.Index].done.Load() {
			return blame(diag.NotKnownInTime, edge.Range, "make the `match` of the transform narrower",
				"this transform matches %s, which is made before `%s` is known", resource, edge.To.Name)
		}
	}
	return nil
}

// when returns the condition of a transform, and whether the transform applies. With an unknown condition it applies,
// and the merged values are unknown.
func (s *transformer) when(ctx context.Context) (condition value.Value, applies bool, _ *fault) {
	if s.decl.When == nil {
		return value.Bool(true), true, nil
	}
	v, holds, f := s.holds(ctx, "when", s.decl.When)
	return v, f == nil && (holds || !v.IsKnown()), f
}

// merge merges the properties of a transform into inputs or arguments, and returns the paths that it sets. object has
// the properties that can be set; nil if they are unknown.
func (s *transformer) merge(ctx context.Context, object *schema.Object, when, dst value.Value, resource string) (
	value.Value, []string, *fault,
) {
	t := s.decl
	v, f := s.eval(ctx, t.Merge)
	switch {
	case f != nil:
		return dst, nil, f
	case v.IsNull():
		return dst, nil, nil
	case !v.IsKnown():
		return dst, nil, blame(diag.NotKnownInTime, t.Merge.Range(), "write the names of the properties as literals",
			"the names of the properties must be known before anything is created")
	case !v.Is(value.KindMap):
		return dst, nil, blame(diag.NotAssignable, t.Merge.Range(), "", "%s must be a map, not %s",
			cmp.Or(s.role, "the properties that a transform merges"), kindOf(v))
	}
	v = s.e.resources.concreteDeps(v)
	s.e.hydrate(ctx, v, t.Merge.Range())
	result := dst
	if t.Replace.IsTrue() {
		result = value.EmptyMap().WithMarksOf(dst)
	}
	var paths []string
	var properties []*schema.Property
	fresh := value.EmptyMap()
	for i, key := range v.Keys() {
		property := propertyOf(object, key)
		if property == nil {
			continue // another matching type has it
		}
		paths = append(paths, leafPaths(value.PathOf(key), v.At(i))...)
		before := result.Get(key)
		after := deepMerge(before, v.At(i))
		if !when.IsKnown() {
			after = value.UnknownFrom(value.KindAny, before, after, when)
		}
		if after.IsNull() {
			result = result.Without(key)
			continue
		}
		properties = append(properties, property)
		fresh = fresh.With(key, after.WithMarksOf(after, v, when))
	}
	converted, err := s.e.converter(ctx).Complete(schema.ObjectOf(properties...), fresh)
	if err != nil {
		return dst, nil, conversionFault(resource, err, propertyRanges{expr: t.Merge}, t.Merge.Range())
	}
	for i, key := range converted.Keys() {
		result = result.With(key, converted.At(i))
	}
	if f := storable(resource, result, propertyRanges{expr: t.Merge}, t.Merge.Range()); f != nil {
		return dst, nil, f
	}
	return result, paths, nil
}

// propertyOf returns a property that can be set; nil if there is none.
func propertyOf(object *schema.Object, key string) *schema.Property {
	if object != nil {
		if p := object.Property(key); p != nil || object.Closed {
			return p
		}
	}
	return &schema.Property{Name: key, Type: schema.Any}
}

// deepMerge merges maps key by key; null removes a key, and any other value replaces the former one.
func deepMerge(dst, from value.Value) value.Value {
	if !from.Is(value.KindMap) || !from.IsKnown() {
		return from
	}
	switch {
	case !dst.IsKnown():
		return value.UnknownFrom(value.KindMap, dst, from) // the other keys of the map are known later
	case !dst.Is(value.KindMap):
		dst = value.EmptyMap().WithMarksOf(dst)
	}
	result := dst
	for i, key := range from.Keys() {
		merged := deepMerge(result.Get(key), from.At(i))
		if merged.IsNull() {
			result = result.Without(key)
			continue
		}
		result = result.With(key, merged)
	}
	return result.WithMarksOf(dst, from)
}

// leafPaths returns the paths of the leaves of a value, below its maps.
func leafPaths(path value.Path, v value.Value) []string {
	if !v.Is(value.KindMap) || !v.IsKnown() || v.Len() == 0 {
		return []string{path.String()}
	}
	var paths []string
	for i, key := range v.Keys() {
		paths = append(paths, leafPaths(append(slices.Clip(path), value.PathOf(key)...), v.At(i))...)
	}
	return paths
}

// concreteDeps returns v with dependencies on components of the program replaced by the components' members.
func (g *registry) concreteDeps(v value.Value) value.Value {
	if !v.Any(func(x value.Value) bool { return len(x.Deps()) > 0 }) {
		return v
	}
	return v.Transform(func(x value.Value) value.Value {
		if deps := x.Deps(); len(deps) > 0 {
			return x.WithoutDeps().DependingOn(g.concrete(deps)...)
		}
		return x
	})
}

// forInvokes returns the function of a transform of calls. It is safe for concurrent use.
func (s transformer) forInvokes() monitor.InvokeTransform {
	return func(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeRequest, error) {
		defer s.e.options.guard()
		if !program.MatchesFunction(s.decl, r.Token) {
			return r, nil
		}
		inner := s
		inner.args = value.MapOf(value.Entry{Key: "function", Value: value.String(r.Token)},
			value.Entry{Key: "arguments", Value: r.Args},
			value.Entry{Key: "options", Value: value.MapOf(textEntries(
				[2]string{"provider", r.Provider}, [2]string{"version", r.Version},
				[2]string{"pluginDownloadURL", r.PluginDownloadURL})...)})
		next, f := inner.invocation(s.e.budget.paying(ctx), r)
		if f != nil {
			return r, s.e.transformError(s.decl, r.Token, f)
		}
		return next, nil
	}
}

// invocation returns a call with the changes of the transform.
func (s *transformer) invocation(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeRequest, *fault) {
	if f := s.waits(r.Token); f != nil {
		return r, f
	}
	when, applies, f := s.when(ctx)
	if f != nil || !applies {
		return r, f
	}
	if s.decl.Merge != nil {
		if r.Args, _, f = s.merge(ctx, nil, when, r.Args, r.Token); f != nil {
			return r, f
		}
	}
	if !when.IsKnown() {
		return r, nil
	}
	o, from := &optionReader{scope: &s.scope, ctx: ctx}, &s.decl.Options
	if from.Provider != nil {
		r.Provider = o.providerOf(from.Provider)
	}
	o.mergePackage(from, &r.Plugin)
	return r, o.failed
}

// mergeOptions merges a transform's options into the options of a registration: it joins lists and merges maps; any
// other option of the transform replaces the registration's.
func (s *transformer) mergeOptions(ctx context.Context, from *ast.Options,
	r monitor.RegisterRequest) (monitor.RegisterRequest, *fault) {
	o := &optionReader{scope: &s.scope, ctx: ctx}
	before := len(r.Dependencies)
	o.merge(from, &r)
	r.Dependencies = append(r.Dependencies[:before:before], s.e.resources.concrete(r.Dependencies[before:])...)
	if from.ReplacementTrigger != nil {
		r.ReplacementTrigger = r.ReplacementTrigger.WithoutDeps()
	}
	o.mergePackage(from, &r.Plugin)
	o.mergeProviders(from, &r)
	return r, o.failed
}

// mergePackage sets the version and the URL of a package if options name them.
func (o *optionReader) mergePackage(from *ast.Options, p *monitor.Plugin) {
	if text := o.text(from.Version); text != "" {
		p.Version = schema.PlainVersion(text)
	}
	if text := o.text(from.PluginDownloadURL); text != "" {
		p.PluginDownloadURL = text
	}
}

// mergeProviders adds providers to a registration's. The resource uses the one of its own package.
func (o *optionReader) mergeProviders(from *ast.Options, r *monitor.RegisterRequest) {
	given := map[string]string{}
	if from.Providers != nil {
		maps.Copy(given, o.providers(from.Providers))
	}
	own := o.providerOf(from.Provider)
	if ref, err := urn.ParseReference(own); err == nil {
		given[ref.URN.Package()] = own
	}
	if len(given) == 0 {
		return
	}
	if ref := given[urn.PackageOf(r.Type)]; ref != "" && r.Custom {
		r.Provider = ref
	}
	providers := make(map[string]string, len(r.Providers)+len(given))
	maps.Copy(providers, r.Providers)
	maps.Copy(providers, given)
	r.Providers = providers
}

// resourceArgs returns the value of `args` in a transform of a resource.
func resourceArgs(r monitor.RegisterRequest) value.Value {
	return value.MapOf(
		value.Entry{Key: "type", Value: value.String(r.Type)},
		value.Entry{Key: "name", Value: value.String(r.Name)},
		value.Entry{Key: "custom", Value: value.Bool(r.Custom)},
		value.Entry{Key: "parent", Value: value.String(string(r.Parent))},
		value.Entry{Key: "properties", Value: r.Inputs},
		value.Entry{Key: "options", Value: optionValues(r)},
	)
}

// optionValues returns the options of a registration by the names that programs use, without those that are not set.
func optionValues(r monitor.RegisterRequest) value.Value {
	entries := textEntries([2]string{"provider", r.Provider}, [2]string{"version", r.Version},
		[2]string{"pluginDownloadURL", r.PluginDownloadURL},
		[2]string{"deletedWith", string(r.DeletedWith)})
	for _, s := range settings {
		switch {
		case s.flag != nil && *s.flag(&r) != nil:
			entries = append(entries, value.Entry{Key: s.option, Value: value.Bool(**s.flag(&r))})
		case s.texts != nil && len(*s.texts(&r)) > 0:
			entries = append(entries, value.Entry{Key: s.option, Value: value.Strings(*s.texts(&r))})
		case s.text != nil:
			entries = append(entries, textEntries([2]string{s.option, *s.text(&r)})...)
		}
	}
	if len(r.Dependencies) > 0 {
		entries = append(entries, value.Entry{Key: "dependsOn", Value: value.Strings(r.Dependencies)})
	}
	if len(r.ReplaceWith) > 0 {
		entries = append(entries, value.Entry{Key: "replaceWith", Value: value.Strings(r.ReplaceWith)})
	}
	timeouts := textEntries([2]string{"create", r.CustomTimeouts.Create}, [2]string{"update", r.CustomTimeouts.Update},
		[2]string{"delete", r.CustomTimeouts.Delete}, [2]string{"read", r.CustomTimeouts.Read})
	if len(timeouts) > 0 {
		entries = append(entries, value.Entry{Key: "customTimeouts", Value: value.MapOf(timeouts...)})
	}
	return value.MapOf(entries...)
}

// textEntries returns the entries of a map of texts without empty ones.
func textEntries(pairs ...[2]string) []value.Entry {
	var entries []value.Entry
	for _, pair := range pairs {
		if pair[1] != "" {
			entries = append(entries, value.Entry{Key: pair[0], Value: value.String(pair[1])})
		}
	}
	return entries
}

// changedInputs holds the inputs of components after their transforms, with which the bodies of components of the
// program are evaluated.
type changedInputs struct{ known sync.Map }

type componentKey struct {
	typ, name string
	parent    urn.URN
}

// of returns the inputs of a registered component.
func (c *changedInputs) of(r monitor.RegisterRequest) value.Value {
	if inputs, changed := c.known.Load(componentKey{r.Type, r.Name, r.Parent}); changed {
		return inputs.(value.Value)
	}
	return r.Inputs
}

// faultOf returns the fault of a transform in an error that an engine of this process has passed on; nil for any other
// error.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok && len(f.findings) > 0 {
		return f
	}
	return nil
}
