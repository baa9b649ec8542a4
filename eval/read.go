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

// read reads a resource that is managed elsewhere (L3.C).
func (s *instance) read(ctx context.Context) (value.Value, *fault) {
	r := s.resource
	request := monitor.ReadRequest{Type: r.Token, Name: s.name(),
		SourcePosition: s.e.options.position(r.Decl.Name.Range)}
	var failed *fault
	if r.Decl.Get == nil {
		request.ID, failed = s.stackName(ctx)
		request.State = value.MapOf(value.Entry{Key: "name", Value: request.ID})
	} else {
		request.ID, failed = s.readID(ctx, r.Decl.Get)
		var f *fault
		request.State, f = s.readState(ctx)
		failed = failed.and(f)
	}
	o, from := &optionReader{scope: &s.scope, ctx: ctx}, &r.Decl.Options
	var providers map[string]string
	o.provider(r, from, &request.Provider, &providers)
	if request.Provider == "" {
		request.Provider = providers[urn.PackageOf(r.Token)]
	}
	request.Parent = o.urn(from.Parent)
	if request.Parent == "" {
		request.Parent = s.frame.parent
	}
	dependsOn := o.urns(from.DependsOn)
	request.AdditionalSecretOutputs = o.texts(from.AdditionalSecretOutputs)
	if r.Schema != nil {
		request.AdditionalSecretOutputs = union(request.AdditionalSecretOutputs, r.Schema.SecretOutputs())
	}
	o.pack(r, from, &request.Plugin)
	if failed = failed.and(o.failed); failed != nil {
		return value.Null, failed
	}
	request.Dependencies = s.e.resources.concrete(append(append(append(dependsOn, s.deps...), request.ID.AllDeps()...),
		request.State.AllDeps()...))
	if f := s.e.urns.claim(s.urnBelow(request.Parent), r.Decl.Name); f != nil {
		return value.Null, f
	}
	response, err := s.e.monitor.ReadResource(ctx, request)
	if err != nil {
		return value.Null, registrationFault(r, err, value.List(request.ID, request.State), rangesOfState(r))
	}
	s.frame.members.add(response.URN)
	id := response.ID
	if id.IsNull() {
		id = request.ID // the engine's answer may lack it (E2.46)
	}
	return s.e.resources.registered(r, &resource{
		urn: response.URN, id: id, outputs: response.Outputs, secrets: request.AdditionalSecretOutputs,
		known: response.Known || !s.e.info.DryRun,
	}), nil
}

// readID returns the ID of a get (L3.31). A number becomes text, since all IDs are texts (L8.40).
func (s *instance) readID(ctx context.Context, get *ast.Get) (value.Value, *fault) {
	if get.ID == nil {
		return value.Null, blame(diag.RequiredMissing, get.Range, "", "get needs an id") // L3.34
	}
	id, f := s.eval(ctx, get.ID)
	if f != nil {
		return value.Null, f
	}
	if id.Is(value.KindNumber) {
		id, _ = value.Text(id)
	}
	text, ok := id.AsString()
	switch {
	case !id.IsKnown():
		return id.UnknownAs(value.KindString), nil
	case !ok:
		return value.Null, blame(diag.NotAssignable, get.ID.Range(), "", "id must be a string, not %s", kindOf(id))
	case text == "":
		return value.Null, blame(diag.NotAssignable, get.ID.Range(), "", "id must not be empty")
	}
	return id, nil
}

// readState returns the properties that a get gives besides the ID; its members are outputs (L3.32).
func (s *instance) readState(ctx context.Context) (value.Value, *fault) {
	r := s.resource
	var object *schema.Object
	if r.Schema != nil {
		if object = r.Schema.StateInputs; object == nil {
			object = r.Schema.Outputs
		}
	}
	state, f := s.block(ctx, r.Decl.Get.State, object)
	if f != nil {
		return value.Null, f
	}
	_, state, f = sendable(s.e.converter(ctx), r.Decl.Name.Value, object, state, rangesOfState(r), r.Decl.Name.Range)
	return state, f
}

// rangesOfState returns the ranges of the state properties of a resource with get.
func rangesOfState(r *check.Resource) propertyRanges {
	if r.Decl.Get == nil {
		return propertyRanges{}
	}
	return propertyRanges{list: r.Decl.Get.State}
}

// stackName returns the stack that a StackReference reads (L7.11).
func (s *instance) stackName(ctx context.Context) (value.Value, *fault) {
	own, name := value.String(s.resource.LogicalName), s.resource.Decl.Property("name")
	if name == nil {
		return own, nil
	}
	v, f := s.eval(ctx, name)
	switch _, isText := v.AsString(); {
	case f != nil:
		return value.Null, f
	case v.IsNull():
		return own, nil
	case !v.IsKnown():
		return value.Null, blame(diag.NotKnownInTime, name.Range(),
			"use values that do not come from resources to be created",
			"the name of a stack must be known before anything is created")
	case !isText:
		return value.Null, blame(diag.NotAssignable, name.Range(), "", "the name of a stack must be a string, not %s",
			kindOf(v))
	}
	return v, nil
}
