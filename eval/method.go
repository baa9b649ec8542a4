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

// method calls a method of a resource (L10.C8). Unlike functions, methods are called in previews too: the provider of
// the resource decides what it can answer.
func (s *scope) method(ctx context.Context, e *ast.Call, call *check.Method) (value.Value, *fault) {
	self, failed := s.eval(ctx, call.Resource)
	args, f := mapIn(ctx, s, "arguments", diag.BadArguments, call.Arguments)
	if failed = failed.and(f); failed != nil {
		return value.Null, failed
	}
	deps := append(self.AllDeps(), args.AllDeps()...)
	if !self.IsKnown() || !args.IsKnown() {
		return marked(value.Unknown(resultKind(call.Schema, call.Return)), args, deps), nil
	}
	ref, f := needResource("resource", self, call.Resource.Range())
	if f != nil {
		return value.Null, f
	}
	written := propertyRanges{expr: call.Arguments}
	if _, args, f = sendable(s.e.converter(ctx), call.Name, call.Inputs, args, written, e.Name.Range); f != nil {
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
	var response monitor.CallResponse
	err := s.e.setPackage(ctx, &request.Plugin, call.Package)
	if err == nil {
		response, err = s.e.monitor.Call(ctx, request)
	}
	if err != nil || len(response.Failures) > 0 {
		if s.sealed {
			args = args.Secret()
		}
		return value.Null, callFault(request.Token, err, response.Failures, args, written, e.Name.Range)
	}
	return marked(s.e.methodResult(call, response), args, deps), nil
}

// receiver returns the resource whose method is called. A provider always needs an ID, even before it has one, because
// the engine finds the provider by the ID.
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

// methodResult returns the requested part of an answer. A part that a preview's answer lacks is unknown.
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
	if call.Schema != nil && e.info.DryRun {
		if call.Schema.Scalar && result.Len() == 0 {
			return value.Unknown(schema.ExpectedKind(call.Schema.Result))
		}
		if object, ok := call.Schema.Result.(*schema.Object); ok {
			for _, p := range object.Properties() {
				if _, answered := result.Lookup(p.Name); !answered {
					result = result.With(p.Name, value.Unknown(schema.ExpectedKind(p.Type)))
				}
			}
		}
	}
	return partOf(call.Schema, call.Return, result)
}
