package eval

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// invoke calls a provider's function (L6.C).
func (s *scope) invoke(ctx context.Context, e *ast.Call, call *check.Invoke) (value.Value, *fault) {
	s.e.options.covers(e, true)
	args, failed := value.EmptyMap(), (*fault)(nil)
	if call.Arguments != nil {
		args, failed = s.eval(ctx, call.Arguments)
		switch {
		case failed != nil:
		case args.IsNull():
			args = value.EmptyMap().WithMarksOf(args)
		case args.IsKnown() && !args.Is(value.KindMap):
			failed = blame(diag.BadArguments, call.Arguments.Range(), "", "arguments must be a map, not %s", kindOf(args))
		}
	}
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
		return value.Unknown(resultKind(call)), nil
	}
	if failed != nil {
		return value.Null, failed
	}
	if call.Schema != nil && call.Schema.Inputs != nil && args.Is(value.KindMap) {
		converted, err := s.e.converter(ctx).Convert(call.Schema.Inputs, args)
		if err != nil {
			return value.Null, conversionFault(e.Name.Value, err, places{expr: call.Arguments}, e.Name.Range)
		}
		args = converted
	}
	deps := args.AllDeps() // of nulls too
	args = withoutNulls(args)
	if f := storable(e.Name.Value, args, places{expr: call.Arguments}, e.Name.Range); f != nil {
		return value.Null, f
	}

	for _, ref := range dependsOn {
		deps = append(deps[:len(deps):len(deps)], ref.URN)
	}
	// marked gives a result what the arguments have (L6.41, L9.42).
	marked := func(v value.Value) value.Value {
		if args.ContainsSecret() {
			v = v.Secret()
		}
		return v.DependingOn(deps...)
	}
	unknown := marked(value.Unknown(resultKind(call)))
	if args.ContainsUnknown() || s.e.awaits(deps) {
		return unknown, nil
	}
	request := monitor.InvokeRequest{
		Token: call.Token, Args: args, Provider: provider, DependsOn: s.e.resources.concrete(deps),
		SourcePosition: s.e.options.position(e.Name.Range),
	}
	switch {
	case parent != nil:
		request.Parent = parent.URN
	case s.frame.component:
		request.Parent = s.frame.parent // L3.54
	}
	var err error
	request.Version, request.PluginDownloadURL, request.PackageRef, err = s.e.packageOf(ctx, call.Package)
	if err == nil {
		var response monitor.InvokeResponse
		if response, err = s.e.monitor.Invoke(ctx, request); err == nil {
			switch {
			case len(response.Failures) > 0:
				return value.Null, failuresFault(diag.InvokeFailed, call.Token, response.Failures, args,
					places{expr: call.Arguments}, e.Name.Range)
			case response.Unknown:
				return unknown, nil
			}
			return marked(invokeResult(call, response.Result)), nil
		}
	}
	if f := silent(err); f != nil {
		return value.Null, f
	}
	if f := faultOf(err); f != nil {
		return value.Null, f
	}
	return value.Null, blame(diag.InvokeFailed, e.Name.Range, "", "%s: %s", call.Token, redact(err.Error(), args))
}

// invokeResult is the part of an answer that the call asks for (L6.40). A secret anywhere in the answer makes all of it
// secret (L6.41).
func invokeResult(call *check.Invoke, result value.Value) value.Value {
	secret := result.ContainsSecret()
	switch {
	case call.Schema != nil && call.Schema.Scalar && result.Len() == 1 && result.Is(value.KindMap):
		result = result.Get(result.Keys()[0])
	case call.Return != "":
		result, _ = returnPath(call).Get(result) // what is missing is null (L5.33)
	}
	if secret {
		result = result.Secret()
	}
	return result
}

// returnPath is the way to the part of a result that the call asks for.
func returnPath(call *check.Invoke) value.Path {
	if call.Schema == nil {
		return check.ReturnPath(schema.Any, call.Return)
	}
	return check.ReturnPath(call.Schema.Result, call.Return)
}

func resultKind(call *check.Invoke) value.Kind {
	switch {
	case call.Schema == nil:
		return value.KindAny
	case call.Return == "":
		return schema.ExpectedKind(call.Schema.Result)
	}
	if o, ok := call.Schema.Result.(*schema.Object); ok {
		if p := o.Property(call.Return); p != nil {
			return schema.ExpectedKind(p.Type)
		}
	}
	return value.KindAny
}

// awaits reports whether one of the resources is still to be created, so that a function that needs it cannot be called
// in this preview yet (L4.41).
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

// packageOf is how requests name a package: by version and address, or by the reference of one that has parameters.
func (e *evaluator) packageOf(ctx context.Context, d schema.Descriptor) (version, url, ref string, err error) {
	switch {
	case d.Implied && e.options.EngineKnowsPackages:
		return "", "", "", nil
	case d.Parameterization == nil:
		return d.Version, d.DownloadURL, "", nil
	}
	ref, err = e.packages.announce(ctx, e.monitor, monitor.Package{
		Name: d.Name, Version: d.Version, DownloadURL: d.DownloadURL,
		Parameterization: &monitor.Parameterization{
			Name: d.Parameterization.Name, Version: d.Parameterization.Version, Value: d.Parameterization.Value,
		},
		Extension: d.Extension,
	})
	return "", "", ref, err
}

// places describes where properties are written out, in a list or in an expression. The zero places tell of none.
type places struct {
	list []ast.Property
	expr ast.Expr
}

// of is where the value of a property is written; otherwise if it is not written out.
func (p places) of(name string, otherwise diag.Range) diag.Range {
	for _, property := range slices.Backward(p.list) {
		if property.Name.Value == name {
			return property.Value.Range()
		}
	}
	if m, ok := p.expr.(*ast.Map); ok {
		for _, entry := range slices.Backward(m.Entries) {
			if key, ok := entry.Key.(*ast.String); ok && key.Value == name {
				return entry.Value.Range()
			}
		}
	}
	return otherwise
}

// failuresFault is a refusal by a provider, each reason at the property that it is about.
func failuresFault(code diag.Code, what string, failures []monitor.Failure, inputs value.Value,
	written places, otherwise diag.Range) *fault {
	var all *fault
	for _, failure := range failures {
		reason, rng := redact(failure.Reason, inputs), otherwise
		if failure.Property != "" {
			reason = failure.Property + ": " + reason
			top, err := value.ParsePath(failure.Property)
			if err == nil && len(top) > 0 {
				rng = written.of(top[0].Key, otherwise)
			}
		}
		all = all.and(blame(code, rng, "", "%s: %s", what, reason))
	}
	return all
}

// conversionFault is a value that cannot be sent to a provider (L8.40).
func conversionFault(what string, err error, written places, otherwise diag.Range) *fault {
	rng, text := otherwise, err.Error()
	if c, ok := err.(*schema.ConvertError); ok && len(c.Path) > 0 {
		rng = written.of(c.Path[0].Key, otherwise)
	}
	return blame(diag.NotAssignable, rng, "", "%s: %s", what, text)
}

// redact hides every secret of inputs in a message that came from outside (L9.34).
func redact(message string, inputs value.Value) string { return mask.New(inputs).Hide(message) }
