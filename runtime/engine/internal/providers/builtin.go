package providers

import (
	"context"
	"errors"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// builtinPackage is the package that the engine itself implements (E2.64–E2.66).
const builtinPackage = "pulumi"

const (
	stackReferenceType = "pulumi:pulumi:StackReference"
	stashType          = "pulumi:index:Stash"
)

// builtin is the provider of the package pulumi: stack references, stashes and a few functions.
type builtin struct {
	provider.Plain
	r *Registry
}

// Info identifies the provider.
func (builtin) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: builtinPackage}, nil
}

// Parameterize returns an error: the package has no parameters.
func (builtin) Parameterize(context.Context, provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	return provider.ParameterizeResponse{}, errors.New("the package pulumi takes no parameters")
}

// Schema returns an error: the engine does not serve the schema.
func (builtin) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return nil, errors.New("the schema of the package pulumi is not served here")
}

// DiffConfig compares the configurations. It never requires a replacement.
func (builtin) DiffConfig(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	if value.SameContent(r.OldInputs.Without(internalKey), r.News) {
		return provider.DiffResponse{Changes: provider.DiffNone}, nil
	}
	return provider.DiffResponse{Changes: provider.DiffSome}, nil
}

// Configure returns the resources and functions of the package.
func (b builtin) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return builtinResources{unknownToken, b.r}, nil
}

// builtinResources manages the resources and functions of the package pulumi.
type builtinResources struct {
	provider.Refusing
	r *Registry
}

// unknownToken returns the error for a resource or function that the package does not have.
func unknownToken(name string) error {
	return fmt.Errorf("the package pulumi has no %s", name)
}

// Check validates the only property of a stack reference or a stash.
func (b builtinResources) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	member := ""
	switch r.Type {
	case stackReferenceType:
		member = "name"
		b.r.Warn(r.URN, "registering a resource of the type "+stackReferenceType+
			" is deprecated; read it instead, with `get`") // E2.64
	case stashType:
		member = "input"
	default:
		return provider.CheckResponse{}, unknownToken("resource " + r.Type)
	}
	var failures []provider.Failure
	for _, key := range r.News.Keys() {
		if key != member {
			failures = append(failures, provider.Failure{Property: key, Reason: "unknown property; the only one is " + member})
		}
	}
	if !r.News.Has(member) {
		failures = append(failures, provider.Failure{Property: member, Reason: "missing required property"})
	} else if name, _ := r.News.Lookup(member); r.Type == stackReferenceType && name.IsKnown() &&
		!name.Is(value.KindString) {
		failures = append(failures, provider.Failure{Property: member, Reason: "property must be a string"})
	}
	return provider.CheckResponse{Inputs: r.News, Failures: failures}, nil
}

// Diff compares inputs; a new name replaces a stack reference.
func (builtinResources) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	if value.SameContent(r.OldInputs, r.News) {
		return provider.DiffResponse{Changes: provider.DiffNone}, nil
	}
	answer := provider.DiffResponse{Changes: provider.DiffSome}
	if r.Type == stackReferenceType {
		answer.Replaces = []string{"name"}
	}
	return answer, nil
}

// Create reads the other stack, or stores the value of a stash.
func (b builtinResources) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	answer := provider.CreateResponse{}
	if !r.Preview {
		answer.ID = b.r.NewID()
	}
	if r.Type == stashType {
		input, _ := r.Inputs.Lookup("input")
		answer.Outputs = value.MapOf(value.Entry{Key: "input", Value: input}, value.Entry{Key: "output", Value: input})
		return answer, nil
	}
	var err error
	answer.Outputs, err = b.stackReference(ctx, r.Inputs)
	return answer, err
}

// stackReference reads the outputs of the named stack (E2.64).
func (b builtinResources) stackReference(ctx context.Context, inputs value.Value) (value.Value, error) {
	named, _ := inputs.Lookup("name")
	name, ok := named.AsString()
	if !ok {
		if !named.IsKnown() {
			return value.EmptyMap(), nil
		}
		return value.Null, errors.New("a stack reference needs the name of a stack")
	}
	if b.r.StackOutputs == nil {
		return value.Null, errors.New("the outputs of other stacks cannot be read here")
	}
	outputs, err := b.r.StackOutputs(ctx, name)
	if err != nil {
		return value.Null, err
	}
	var secret []value.Value
	for i, key := range outputs.Keys() {
		if outputs.At(i).ContainsSecret() {
			secret = append(secret, value.String(key))
		}
	}
	return value.MapOf(value.Entry{Key: "name", Value: named}, value.Entry{Key: "outputs", Value: outputs.MapOrEmpty()},
		value.Entry{Key: "secretOutputNames", Value: value.List(secret...)}), nil
}

// Read reads a stack reference again; a stash keeps its recorded outputs.
func (b builtinResources) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	switch r.Type {
	case stackReferenceType:
		inputs := r.Inputs.MapOrEmpty()
		if !inputs.Has("name") {
			inputs = inputs.With("name", value.String(r.ID))
		}
		outputs, err := b.stackReference(ctx, inputs)
		return provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: outputs}, err
	case stashType:
		if r.Inputs.IsNull() {
			return provider.ReadResponse{}, errors.New("a stash cannot be imported")
		}
		return provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs}, nil
	}
	return provider.ReadResponse{}, unknownToken("resource " + r.Type)
}

// Update keeps the first output of a stash, and reads a stack reference again.
func (b builtinResources) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if r.Type != stashType {
		outputs, err := b.stackReference(ctx, r.News)
		return provider.UpdateResponse{Outputs: outputs}, err
	}
	input, _ := r.News.Lookup("input")
	return provider.UpdateResponse{Outputs: r.OldOutputs.MapOrEmpty().With("input", input)}, nil
}

// Delete does nothing.
func (builtinResources) Delete(context.Context, provider.DeleteRequest) error { return nil }

// Invoke calls one of the functions of E2.65.
func (b builtinResources) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	switch r.Token {
	case "pulumi:pulumi:getResource":
		u, _ := r.Args.Get("urn").AsString()
		result, err := b.r.resourceValue(urn.URN(u))
		return provider.InvokeResponse{Result: result}, err
	case "pulumi:pulumi:readStackOutputs":
		outputs, err := b.stackReference(ctx, r.Args)
		return provider.InvokeResponse{Result: outputs}, err
	case "pulumi:pulumi:readStackResourceOutputs":
		named, _ := r.Args.Lookup("stackName")
		name, ok := named.AsString()
		if !ok || b.r.StackResources == nil {
			return provider.InvokeResponse{}, errors.New(
				"the resources of other stacks cannot be read without the name of a stack, or not here")
		}
		resources, err := b.r.StackResources(ctx, name)
		return provider.InvokeResponse{Result: value.MapOf(value.Entry{Key: "name", Value: named},
			value.Entry{Key: "outputs", Value: resources.MapOrEmpty()})}, err
	}
	return provider.InvokeResponse{}, unknownToken("function " + r.Token)
}

// resourceValue returns the result of getResource: a resource of this operation (E2.65).
func (r *Registry) resourceValue(u urn.URN) (value.Value, error) {
	var now *state.Resource
	if reg := r.Table.Get(u); reg != nil {
		now = reg.State()
	}
	if now == nil {
		return value.Null, fmt.Errorf("unknown resource %v", u)
	}
	id := value.String("")
	if now.Custom {
		id = plan.IDValue(now.ID)
	}
	return value.MapOf(value.Entry{Key: "urn", Value: value.String(string(u))}, value.Entry{Key: "id", Value: id},
		value.Entry{Key: "provider", Value: value.String(now.Provider)},
		value.Entry{Key: "state", Value: now.Outputs}), nil
}
