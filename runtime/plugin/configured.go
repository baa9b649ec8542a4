package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

var _ provider.Configured = (*configured)(nil)

// configured is a plugin that manages resources.
type configured struct {
	*client
	capabilities
}

// annotated returns a provider's result with the secrecy of the values sent, if the provider could not see that
// (F1.16).
func (c *configured) annotated(sent, got value.Value) value.Value {
	if c.capabilities.secrets {
		return got
	}
	return withSecretsOf(sent, got)
}

// Check validates inputs (F1.15: olds is never absent).
func (c *configured) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	request := &pulumirpc.CheckRequest{Urn: string(r.URN), Name: r.Name, Type: r.Type, RandomSeed: r.RandomSeed}
	encoding := c.request(r.AllowUnknowns)
	if err := c.encodeInto(request,
		sent{"olds", r.Olds.MapOrEmpty(), encoding, "olds"},
		sent{"news", r.News, encoding, "news"},
	); err != nil {
		return provider.CheckResponse{}, err
	}
	defer wire.Recycle(request)
	if r.Autonaming != nil && c.capabilities.autonaming { // F2.21
		request.Autonaming = &pulumirpc.CheckRequest_AutonamingOptions{ProposedName: r.Autonaming.Name,
			Mode: autonamingModes[r.Autonaming.Mode]}
	}
	got, err := c.remote.Check(ctx, request)
	if err != nil {
		return provider.CheckResponse{}, c.fail(ctx, "check", err)
	}
	inputs, err := c.decode(response(r.AllowUnknowns), "inputs", got, "inputs")
	if err != nil {
		return provider.CheckResponse{}, err
	}
	return provider.CheckResponse{
		Inputs: c.annotated(r.News, inputs.MapOrEmpty()), Failures: failuresOf(got.GetFailures()),
		AutonamingIgnored: r.Autonaming != nil && !c.capabilities.autonaming,
	}, nil
}

// autonamingModes are the modes of a provider.Autonaming in messages. The server reads the same table.
var autonamingModes = map[string]pulumirpc.CheckRequest_AutonamingOptions_Mode{
	"propose": pulumirpc.CheckRequest_AutonamingOptions_PROPOSE,
	"enforce": pulumirpc.CheckRequest_AutonamingOptions_ENFORCE,
	"disable": pulumirpc.CheckRequest_AutonamingOptions_DISABLE,
}

// Diff compares an old state with new inputs.
func (c *configured) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	request := &pulumirpc.DiffRequest{Id: r.ID, Urn: string(r.URN), Name: r.Name, Type: r.Type,
		IgnoreChanges: r.IgnoreChanges}
	encoding := c.elided(r.AllowUnknowns)
	if err := c.encodeInto(request,
		sent{"old inputs", r.OldInputs, encoding, "old_inputs"},
		sent{"olds", r.OldOutputs, encoding, "olds"},
		sent{"news", r.News, encoding, "news"},
	); err != nil {
		return provider.DiffResponse{}, err
	}
	defer wire.Recycle(request)
	got, err := c.remote.Diff(ctx, request)
	if err != nil {
		return provider.DiffResponse{}, c.fail(ctx, "compare", err)
	}
	return diffOf(got), nil
}

// diffOf reads a diff (F2.23): a detailed one counts only if the answer sets its flag, and unknown kinds mean an
// update.
func diffOf(got *pulumirpc.DiffResponse) provider.DiffResponse {
	d := provider.DiffResponse{
		Replaces: got.GetReplaces(), Stables: got.GetStables(), Diffs: got.GetDiffs(),
		DeleteBeforeReplace: got.GetDeleteBeforeReplace(),
	}
	switch got.GetChanges() {
	case pulumirpc.DiffResponse_DIFF_NONE:
		d.Changes = provider.DiffNone
	case pulumirpc.DiffResponse_DIFF_SOME:
		d.Changes = provider.DiffSome
	}
	if got.GetHasDetailedDiff() {
		d.Detailed = make(map[string]provider.PropertyDiff, len(got.GetDetailedDiff()))
		for path, p := range got.GetDetailedDiff() {
			kind := provider.DiffUpdate
			if k := p.GetKind(); k >= pulumirpc.PropertyDiff_ADD && k <= pulumirpc.PropertyDiff_UPDATE_REPLACE {
				kind = provider.DiffKind(k) // the numbers are the same: see TestDiffKinds
			}
			d.Detailed[path] = provider.PropertyDiff{Kind: kind, InputDiff: p.GetInputDiff()}
		}
	}
	return d
}

// Create creates a resource. In a preview, a plugin that does not support previews is not called, and the outputs are
// the inputs (E3.53).
func (c *configured) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if r.Preview && !c.capabilities.preview {
		return provider.CreateResponse{Outputs: r.Inputs}, nil
	}
	request := &pulumirpc.CreateRequest{Urn: string(r.URN), Name: r.Name, Type: r.Type, Timeout: r.Timeout,
		Preview: r.Preview}
	end, err := c.begin(request, r.Views, sent{"inputs", r.Inputs, c.request(r.Preview), "properties"})
	if err != nil {
		return provider.CreateResponse{}, err
	}
	defer end()
	got, err := c.remote.Create(ctx, request)
	if err != nil {
		return provider.CreateResponse{}, c.partial(c.fail(ctx, "create", err), r.Inputs, r.Inputs)
	}
	id := got.GetId()
	if id == wire.UnknownString {
		id = ""
	}
	outputs, err := c.decode(response(r.Preview), "outputs", got, "properties")
	if err != nil && id != "" && !r.Preview {
		// The resource exists and has an ID: a refresh can read everything else.
		return provider.CreateResponse{}, &provider.Error{Outcome: provider.Partial, ID: id, Inputs: r.Inputs,
			Outputs: value.EmptyMap(), Reasons: []string{err.Error()}, RefreshBeforeUpdate: true, Cause: err}
	}
	if err != nil {
		return provider.CreateResponse{}, err
	}
	if id == "" && !r.Preview { // E3.51
		return provider.CreateResponse{}, &provider.Error{Outcome: provider.Unclear, Lost: true,
			Message: fmt.Sprintf("plugin %s returned no ID for what it created as %s", c.name, r.URN)}
	}
	return provider.CreateResponse{
		ID: id, Outputs: c.annotated(r.Inputs, outputs.MapOrEmpty()), RefreshBeforeUpdate: got.GetRefreshBeforeUpdate(),
	}, nil
}

// partial marks values of a partial failure as secret if the sent values were.
func (c *configured) partial(err error, sentInputs, sentOutputs value.Value) error {
	if e, ok := err.(*provider.Error); ok && e.Outcome == provider.Partial {
		e.Inputs = c.annotated(sentInputs, e.Inputs)
		e.Outputs = c.annotated(sentOutputs, e.Outputs)
	}
	return err
}

// Read reads the present state. Assets that the plugin returns as hashes get their content back (F1.17).
func (c *configured) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	request := &pulumirpc.ReadRequest{Id: r.ID, Urn: string(r.URN), Name: r.Name, Type: r.Type, Timeout: r.Timeout}
	encoding := c.elided(withoutUnknowns)
	known := contentsOf(r.Inputs, r.Outputs)
	end, err := c.begin(request, r.Views,
		sent{"inputs", r.Inputs, encoding, "inputs"},
		sent{"outputs", r.Outputs, encoding, "properties"},
	)
	if err != nil {
		return provider.ReadResponse{}, err
	}
	defer end()
	got, err := c.remote.Read(ctx, request)
	if err != nil {
		err = c.partial(c.fail(ctx, "read", err), r.Inputs, r.Outputs)
		if e, ok := err.(*provider.Error); ok && e.Outcome == provider.Partial {
			e.Inputs, e.Outputs = known.restore(e.Inputs), known.restore(e.Outputs)
		}
		return provider.ReadResponse{}, err
	}
	if got.GetId() == "" {
		return provider.ReadResponse{}, nil
	}
	outputs, err := c.decode(response(withoutUnknowns), "outputs", got, "properties")
	if err != nil {
		return provider.ReadResponse{}, err
	}
	inputs, err := c.decode(response(withoutUnknowns), "inputs", got, "inputs")
	if err != nil {
		return provider.ReadResponse{}, err
	}
	return provider.ReadResponse{
		ID:                  got.GetId(),
		Inputs:              known.restore(c.annotated(r.Inputs, inputs)),
		Outputs:             known.restore(c.annotated(r.Outputs, outputs)),
		RefreshBeforeUpdate: got.GetRefreshBeforeUpdate(),
	}, nil
}

// Update changes a resource in place; see Create for previews.
func (c *configured) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if r.Preview && !c.capabilities.preview {
		return provider.UpdateResponse{Outputs: r.News}, nil
	}
	request := &pulumirpc.UpdateRequest{
		Id: r.ID, Urn: string(r.URN), Name: r.Name, Type: r.Type, Timeout: r.Timeout, IgnoreChanges: r.IgnoreChanges,
		Preview: r.Preview,
	}
	old := c.elided(withoutUnknowns)
	end, err := c.begin(request, r.Views,
		sent{"old inputs", r.OldInputs, old, "old_inputs"},
		sent{"olds", r.OldOutputs, old, "olds"},
		sent{"news", r.News, c.request(r.Preview), "news"},
	)
	if err != nil {
		return provider.UpdateResponse{}, err
	}
	defer end()
	got, err := c.remote.Update(ctx, request)
	if err != nil {
		return provider.UpdateResponse{}, c.partial(c.fail(ctx, "update", err), r.News, r.News)
	}
	outputs, err := c.decode(response(r.Preview), "outputs", got, "properties")
	if err != nil {
		return provider.UpdateResponse{}, err
	}
	return provider.UpdateResponse{
		Outputs: c.annotated(r.News, outputs.MapOrEmpty()), RefreshBeforeUpdate: got.GetRefreshBeforeUpdate(),
	}, nil
}

// Delete deletes a resource.
func (c *configured) Delete(ctx context.Context, r provider.DeleteRequest) error {
	request := &pulumirpc.DeleteRequest{Id: r.ID, Urn: string(r.URN), Name: r.Name, Type: r.Type, Timeout: r.Timeout}
	encoding := c.elided(withoutUnknowns)
	end, err := c.begin(request, r.Views,
		sent{"inputs", r.Inputs, encoding, "old_inputs"},
		sent{"outputs", r.Outputs, encoding, "properties"},
	)
	if err != nil {
		return err
	}
	defer end()
	if _, err := c.remote.Delete(ctx, request); err != nil {
		return c.partial(c.fail(ctx, "delete", err), r.Inputs, r.Outputs)
	}
	return nil
}

// Invoke calls a function.
func (c *configured) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	request := &pulumirpc.InvokeRequest{Tok: r.Token, Preview: r.Preview}
	arguments := sent{"arguments", r.Args.MapOrEmpty(), c.request(withoutUnknowns), "args"}
	if err := c.encodeInto(request, arguments); err != nil {
		return provider.InvokeResponse{}, err
	}
	got, err := c.remote.Invoke(ctx, request)
	if err != nil {
		return provider.InvokeResponse{}, c.fail(ctx, "call "+r.Token, err)
	}
	result, err := c.decode(response(withoutUnknowns), "a result of "+r.Token, got, "return")
	if err != nil {
		return provider.InvokeResponse{}, err
	}
	if !c.capabilities.secrets && r.Args.ContainsSecret() { // E2.53
		result = withEachSecret(result)
	}
	return provider.InvokeResponse{Result: result.MapOrEmpty(), Failures: failuresOf(got.GetFailures())}, nil
}

// Call calls a method.
func (c *configured) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	d := r.Deployment
	request := &pulumirpc.CallRequest{
		Tok: r.Token, Project: d.Project, Stack: d.Stack, Organization: d.Organization, Config: d.Config,
		ConfigSecretKeys: d.ConfigSecretKeys, DryRun: d.DryRun, Parallel: int32(d.Parallel),
		MonitorEndpoint: d.MonitorEndpoint, AcceptsOutputValues: true,
	}
	if err := c.encodeInto(request, sent{"arguments", r.Args.MapOrEmpty(), c.capabilities.call(), "args"}); err != nil {
		return provider.CallResponse{}, err
	}
	request.ArgDependencies = wire.DependencyMessages(r.ArgDependencies,
		func(us []string) *pulumirpc.CallRequest_ArgumentDependencies {
			return &pulumirpc.CallRequest_ArgumentDependencies{Urns: us}
		})
	got, err := c.remote.Call(ctx, request)
	if err != nil {
		return provider.CallResponse{}, c.fail(ctx, "call "+r.Token, err)
	}
	decoding := response(d.DryRun)
	decoding.KeepOutputs = true
	result, err := c.decode(decoding, "a result of "+r.Token, got, "return")
	if err != nil {
		return provider.CallResponse{}, err
	}
	dependencies := wire.Dependencies(got.GetReturnDependencies())
	result = result.MapOrEmpty()
	return provider.CallResponse{Result: result, ReturnDependencies: extended(dependencies, result),
		Failures: failuresOf(got.GetFailures())}, nil
}

// Construct constructs a component (E2.38). The literal below and its inverse in server.go take fewer lines than a
// table with a row for each field; a test sends every field.
func (c *configured) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	if !c.capabilities.secrets { // E2.40
		return provider.ConstructResponse{}, &provider.Error{
			Message: fmt.Sprintf("plugin %s: plugins that can construct components must support secrets", c.name)}
	}
	request := &pulumirpc.ConstructRequest{
		Project: r.Deployment.Project, Stack: r.Deployment.Stack, Organization: r.Deployment.Organization,
		Config: r.Deployment.Config, ConfigSecretKeys: r.Deployment.ConfigSecretKeys, DryRun: r.Deployment.DryRun,
		Parallel: int32(r.Deployment.Parallel), MonitorEndpoint: r.Deployment.MonitorEndpoint,
		Type: r.Type, Name: r.Name, Parent: string(r.Parent), Dependencies: wire.Texts(r.Dependencies),
		Providers: r.Providers,
		Protect:   r.Protect, RetainOnDelete: r.RetainOnDelete, DeleteBeforeReplace: r.DeleteBeforeReplace,
		AdditionalSecretOutputs: r.AdditionalSecretOutputs, IgnoreChanges: r.IgnoreChanges,
		ReplaceOnChanges: r.ReplaceOnChanges,
		DeletedWith:      string(r.DeletedWith), ReplaceWith: wire.Texts(r.ReplaceWith), AcceptsOutputValues: true,
	}
	if r.CreateTimeout != "" || r.UpdateTimeout != "" || r.DeleteTimeout != "" {
		request.CustomTimeouts = &pulumirpc.ConstructRequest_CustomTimeouts{
			Create: r.CreateTimeout, Update: r.UpdateTimeout, Delete: r.DeleteTimeout,
		}
	}
	for _, alias := range r.Aliases {
		request.Aliases = append(request.Aliases, &pulumirpc.Alias{Alias: &pulumirpc.Alias_Urn{Urn: string(alias)}})
	}
	for _, a := range r.AliasSpecs {
		spec := &pulumirpc.Alias_Spec{Name: a.Name, Type: a.Type, Stack: a.Stack, Project: a.Project}
		if a.NoParent {
			spec.Parent = &pulumirpc.Alias_Spec_NoParent{NoParent: true}
		} else if a.Parent != "" {
			spec.Parent = &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: string(a.Parent)}
		}
		request.Aliases = append(request.Aliases, &pulumirpc.Alias{Alias: &pulumirpc.Alias_Spec_{Spec: spec}})
	}
	encoding := c.capabilities.construct()
	if err := c.encodeInto(request, sent{"inputs", r.Inputs.MapOrEmpty(), encoding, "inputs"}); err != nil {
		return provider.ConstructResponse{}, err
	}
	if !r.ReplacementTrigger.IsNull() {
		var err error
		if request.ReplacementTrigger, err = encoding.EncodeValue(r.ReplacementTrigger); err != nil {
			return provider.ConstructResponse{}, fmt.Errorf("send the replacement trigger to plugin %s: %w", c.name, err)
		}
	}
	request.InputDependencies = wire.DependencyMessages(r.InputDependencies,
		func(us []string) *pulumirpc.ConstructRequest_PropertyDependencies {
			return &pulumirpc.ConstructRequest_PropertyDependencies{Urns: us}
		})
	got, err := c.remote.Construct(ctx, request)
	if err != nil {
		return provider.ConstructResponse{}, c.fail(ctx, "construct", err)
	}
	decoding := response(r.Deployment.DryRun)
	decoding.KeepOutputs = true
	outputs, err := c.decode(decoding, "the state of the component", got, "state")
	if err != nil {
		return provider.ConstructResponse{}, err
	}
	dependencies := wire.Dependencies(got.GetStateDependencies())
	outputs = outputs.MapOrEmpty()
	return provider.ConstructResponse{URN: urn.URN(got.GetUrn()), Outputs: outputs,
		StateDependencies: extended(dependencies, outputs)}, nil
}

// extended adds the dependencies found inside values to byKey (E2.44).
func extended(byKey map[string][]urn.URN, properties value.Value) map[string][]urn.URN {
	if byKey == nil {
		byKey = map[string][]urn.URN{}
	}
	for i, key := range properties.Keys() {
		if deps := properties.At(i).AllDeps(); len(deps) > 0 {
			all := append(slices.Clone(byKey[key]), deps...)
			slices.Sort(all)
			byKey[key] = slices.Compact(all)
		}
	}
	return byKey
}

var _ provider.Lister = (*configured)(nil)

// List asks for one page, which a plugin sends as a stream. It cancels a stream with more than provider.MaxListed
// resources and returns an error.
func (c *configured) List(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	request := &pulumirpc.ListRequest{Token: r.Type, Limit: int64(r.Limit),
		ContinuationToken: r.Continuation}
	query := sent{"the query", r.Query.MapOrEmpty(), c.request(withoutUnknowns), "query"}
	if err := c.encodeInto(request, query); err != nil {
		return provider.ListResponse{}, err
	}
	what := "list " + r.Type
	ctx, end := context.WithCancel(ctx)
	defer end() // for a stream that is not read to its end
	stream, err := c.remote.List(ctx, request)
	if err != nil {
		return provider.ListResponse{}, c.fail(ctx, what, err)
	}
	var page provider.ListResponse
	for {
		got, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return page, nil
		}
		if err != nil {
			return provider.ListResponse{}, c.fail(ctx, what, err)
		}
		switch x := got.GetResponse().(type) {
		case *pulumirpc.ListResponse_Result_:
			if len(page.Resources) == provider.MaxListed {
				return provider.ListResponse{}, fmt.Errorf("plugin %s lists more than %d of %s at once", c.name,
					provider.MaxListed, r.Type)
			}
			page.Resources = append(page.Resources, provider.Listed{ID: x.Result.GetId(), Name: x.Result.GetName()})
		case *pulumirpc.ListResponse_Continuation_:
			page.Continuation = x.Continuation.GetContinuationToken()
		case *pulumirpc.ListResponse_Computed_:
			page.Unknown = true
		}
	}
}
