package eval

import (
	"context"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// method calls a method of a resource (L10.C8). Unlike functions, methods are called in previews too: who has the
// resource knows what it can answer already.
func (s *scope) method(ctx context.Context, e *ast.Call, call *check.Method) (value.Value, *fault) {
	self, failed := s.eval(ctx, call.Resource)
	args := value.EmptyMap()
	if call.Arguments != nil {
		var f *fault
		args, f = s.eval(ctx, call.Arguments)
		if failed = failed.and(f); failed == nil && args.IsKnown() && !args.Is(value.KindMap) && !args.IsNull() {
			failed = blame(diag.BadArguments, call.Arguments.Range(), "", "arguments must be a map, not %s", kindOf(args))
		}
		if args.IsNull() {
			args = value.EmptyMap().WithMarksOf(args)
		}
	}
	if failed != nil {
		return value.Null, failed
	}
	deps := append(self.AllDeps(), args.AllDeps()...)
	marked := func(v value.Value) value.Value {
		if args.ContainsSecret() {
			v = v.Secret()
		}
		return v.DependingOn(deps...)
	}
	if !self.IsKnown() || !args.IsKnown() {
		return marked(value.Unknown(methodKind(call))), nil
	}
	ref, f := needResource("resource", self, call.Resource.Range())
	if f != nil {
		return value.Null, f
	}
	if call.Inputs != nil {
		converted, err := s.e.converter(ctx).Convert(call.Inputs, args)
		if err != nil {
			return value.Null, conversionFault(call.Name, err, places{expr: call.Arguments}, e.Name.Range)
		}
		args = converted
	}
	args = withoutNulls(args)
	if f := storable(e.Name.Value, args, places{expr: call.Arguments}, e.Name.Range); f != nil {
		return value.Null, f
	}
	request := monitor.CallRequest{
		Token: call.Token, ArgDependencies: make(map[string][]urn.URN, args.Len()),
		SourcePosition: s.e.options.position(e.Name.Range),
	}
	if request.Token == "" {
		request.Token = ref.URN.Type() + "/" + call.Name
	}
	entries := []value.Entry{{Key: "__self__", Value: value.Resource(receiver(ref))}}
	for i, key := range args.Keys() {
		arg := args.At(i).WithMarksOf(args)
		request.ArgDependencies[key] = s.e.resources.concrete(depsBesideReferences(arg))
		entries = append(entries, value.Entry{Key: key, Value: besideReferences(arg)})
	}
	request.Args = value.MapOf(entries...)
	var err error
	request.Version, request.PluginDownloadURL, request.PackageRef, err = s.e.packageOf(ctx, call.Package)
	if err == nil {
		var response monitor.CallResponse
		if response, err = s.e.monitor.Call(ctx, request); err == nil {
			if len(response.Failures) > 0 {
				return value.Null, failuresFault(diag.InvokeFailed, request.Token, response.Failures, args,
					places{expr: call.Arguments}, e.Name.Range)
			}
			return marked(s.e.methodResult(call, response)), nil
		}
	}
	if f := silent(err); f != nil {
		return value.Null, f
	}
	return value.Null, blame(diag.InvokeFailed, e.Name.Range, "", "%s: %s", request.Token, redact(err.Error(), args))
}

// receiver is the resource whose method is called. A provider has to be named by an ID even while it has none: the
// engine finds the provider that answers by it.
func receiver(ref *value.ResourceRef) *value.ResourceRef {
	if !urn.IsProviderType(ref.URN.Type()) {
		return ref
	}
	if id, ok := ref.ID.AsString(); ok && id != "" {
		return ref
	}
	named := *ref
	named.ID = value.String(unknownID)
	return &named
}

// methodResult returns the part of an answer that the call asks for. A part that a preview's answer lacks is unknown.
func (e *evaluator) methodResult(call *check.Method, response monitor.CallResponse) value.Value {
	result := response.Result
	if !result.Is(value.KindMap) {
		return result
	}
	for key, deps := range response.ReturnDependencies {
		if part, ok := result.Lookup(key); ok {
			result = result.With(key, part.DependingOn(deps...))
		}
	}
	if call.Schema == nil {
		if call.Return != "" {
			return result.Get(call.Return)
		}
		return result
	}
	if object, ok := call.Schema.Result.(*schema.Object); ok && e.info.DryRun {
		for _, p := range object.Properties() {
			if _, answered := result.Lookup(p.Name); !answered {
				result = result.With(p.Name, value.Unknown(schema.ExpectedKind(p.Type)))
			}
		}
	}
	switch {
	case call.Schema.Scalar && result.Len() == 1:
		return result.Get(result.Keys()[0])
	case call.Schema.Scalar && result.Len() == 0 && e.info.DryRun:
		return value.Unknown(schema.ExpectedKind(call.Schema.Result))
	case call.Return != "":
		return result.Get(call.Return)
	}
	return result
}

func methodKind(call *check.Method) value.Kind {
	if call.Schema == nil {
		return value.KindAny
	}
	return resultKind(&check.Invoke{Schema: call.Schema, Return: call.Return})
}
