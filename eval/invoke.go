package eval

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// invoke calls a provider's function (L6.C).
func (s *scope) invoke(ctx context.Context, e *ast.Call, call *check.Invoke) (value.Value, *fault) {
	s.e.options.covers(e, true)
	args, failed := mapIn(ctx, s, "arguments", diag.BadArguments, call.Arguments)
	parent, f := s.resourceIn(ctx, "parent", call.Parent)
	failed = failed.and(f)
	provider, f := s.providerIn(ctx, "provider", call.Provider)
	failed = failed.and(f)
	dependsOn, f := s.resourcesIn(ctx, "dependsOn", call.DependsOn)
	failed = failed.and(f)
	if provider == "" && call.DefaultProvider != nil && failed == nil {
		provider, failed = s.defaultProvider(ctx, call.DefaultProvider)
	}
	if failed != nil && failed.later {
		return value.Unknown(resultKind(call.Schema, call.Return)), nil
	}
	if failed != nil {
		return value.Null, failed
	}
	var object *schema.Object
	if call.Schema != nil && args.Is(value.KindMap) {
		object = call.Schema.Inputs
	}
	written := propertyRanges{expr: call.Arguments}
	whole, args, f := sendable(s.e.converter(ctx), e.Name.Value, object, args, written, e.Name.Range)
	if f != nil {
		return value.Null, f
	}
	deps := whole.AllDeps() // also of nulls
	for _, ref := range dependsOn {
		deps = append(deps[:len(deps):len(deps)], ref.URN)
	}
	unknown := marked(value.Unknown(resultKind(call.Schema, call.Return)), args, deps)
	if args.ContainsUnknown() || s.e.awaits(deps) {
		return unknown, nil
	}
	request := monitor.InvokeRequest{
		Token: call.Token, Args: args, Plugin: monitor.Plugin{Provider: provider}, DependsOn: s.e.resources.concrete(
			deps),
		SourcePosition: s.e.options.position(e.Name.Range),
	}
	switch {
	case parent != nil:
		request.Parent = parent.URN
	case s.frame.component:
		request.Parent = s.frame.parent // L3.54
	}
	var response monitor.InvokeResponse
	err := s.e.setPackage(ctx, &request.Plugin, call.Package)
	if err == nil {
		response, err = s.e.monitor.Invoke(ctx, request)
	}
	switch {
	case err != nil || len(response.Failures) > 0:
		if s.sealed {
			args = args.Secret()
		}
		return value.Null, callFault(call.Token, err, response.Failures, args, written, e.Name.Range)
	case response.Unknown:
		return unknown, nil
	}
	result := partOf(call.Schema, call.Return, response.Result)
	if response.Result.ContainsSecret() { // anywhere in the answer (L6.41)
		result = result.Secret()
	}
	return marked(result, args, deps), nil
}

// callFault returns the fault for a failed call of a provider: err, or else the failures in its answer.
func callFault(token string, err error, failures []monitor.Failure, args value.Value, written propertyRanges,
	rng diag.Range) *fault {
	if err == nil {
		err = &monitor.FailuresError{Token: token, Failures: failures}
	}
	if f := refusal(err, diag.InvokeFailed, token, args, written, rng); f != nil {
		return f
	}
	return blame(diag.InvokeFailed, rng, "", "%s: %s", token, redact(err.Error(), args))
}

// mapIn returns the map that an expression evaluates to; an empty one if e or its value is null.
func mapIn(ctx context.Context, s *scope, what string, code diag.Code, e ast.Expr) (value.Value, *fault) {
	if e == nil {
		return value.EmptyMap(), nil
	}
	v, f := s.eval(ctx, e)
	switch {
	case f != nil:
		return value.Null, f
	case v.IsNull():
		return value.EmptyMap().WithMarksOf(v), nil
	case v.IsKnown() && !v.Is(value.KindMap):
		return value.Null, blame(code, e.Range(), "", "%s must be a map, not %s", what, kindOf(v))
	}
	return v, nil
}

// marked returns the result of a call with the marks of its arguments (L6.41, L9.42).
func marked(result, args value.Value, deps []urn.URN) value.Value {
	if args.ContainsSecret() {
		result = result.Secret()
	}
	return result.DependingOn(deps...)
}

// partOf returns the requested part of the answer of a function or method (L6.40): the only value of a scalar result,
// or what returned names by a member or a path. f is nil for an unknown function; returned is empty for the whole.
func partOf(f *schema.Function, returned string, answer value.Value) value.Value {
	switch {
	case f != nil && f.Scalar && answer.Len() == 1 && answer.Is(value.KindMap):
		return answer.Get(answer.Keys()[0])
	case returned == "":
		return answer
	}
	t := schema.Type(schema.Any)
	if f != nil {
		t = f.Result
	}
	part, _ := program.ReturnPath(t, returned).Get(answer) // a missing part is null (L5.33)
	return part
}

// resultKind returns the kind of the requested part of an answer. f is nil for an unknown function.
func resultKind(f *schema.Function, returned string) value.Kind {
	switch {
	case f == nil:
		return value.KindAny
	case returned == "":
		return schema.ExpectedKind(f.Result)
	}
	if o, ok := f.Result.(*schema.Object); ok {
		if p := o.Property(returned); p != nil {
			return schema.ExpectedKind(p.Type)
		}
	}
	return value.KindAny
}

// awaits reports whether one of the resources does not exist yet, so that a preview cannot call a function that depends
// on it (L4.41).
func (e *evaluator) awaits(deps []urn.URN) bool {
	if !e.info.DryRun {
		return false
	}
	for _, u := range e.resources.concrete(deps) {
		if r := e.resources.get(u); r != nil && !r.component && !r.id.IsKnown() {
			return true
		}
	}
	return false
}

// setPackage sets the fields of a request that identify its package: version and URL, or the reference of a package
// with parameters.
func (e *evaluator) setPackage(ctx context.Context, p *monitor.Plugin, d schema.Descriptor) (err error) {
	switch {
	case d.Implied && e.options.EngineKnowsPackages:
		return nil
	case d.Parameterization == nil:
		p.Version, p.PluginDownloadURL = d.Version, d.DownloadURL
		return nil
	}
	q := d.Parameterization
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%s\x00%t", d.Name, d.Version, d.DownloadURL, q.Name, q.Version, q.Value,
		d.Extension)
	p.PackageRef, err = e.packages.Get(key, func() (string, error) {
		return e.monitor.RegisterPackage(ctx, monitor.Package{
			Name: d.Name, Version: d.Version, DownloadURL: d.DownloadURL, Extension: d.Extension,
			Parameterization: &monitor.Parameterization{Name: q.Name, Version: q.Version, Value: q.Value},
		})
	})
	return err
}
