package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// shell is the common implementation of all embedded providers. It follows the schema and calls a kind for the rest. It
// is immutable, except that it can be cancelled.
type shell struct {
	name   string
	schema *schema.Package
	text   []byte
	kinds  kinds
	done   context.Context // ends all calls in flight
	cancel context.CancelFunc
}

var (
	_ provider.Provider   = (*shell)(nil)
	_ provider.Configured = configured{}
)

func (s *shell) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: s.name, Version: s.schema.Version}, nil
}

func (s *shell) Parameterize(context.Context, provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	return provider.ParameterizeResponse{}, s.unimplemented("parameterization")
}

func (s *shell) Schema(_ context.Context, r provider.SchemaRequest) ([]byte, error) {
	if r.SubpackageName != "" {
		return nil, s.unimplemented("the subpackage " + r.SubpackageName)
	}
	return s.text, nil
}

// CheckConfig returns the configuration unchanged, with a failure if configure refuses it.
func (s *shell) CheckConfig(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	response := provider.CheckResponse{Inputs: r.News.MapOrEmpty()}
	if s.kinds.configure != nil && !response.Inputs.ContainsUnknown() {
		if _, err := s.kinds.configure(response.Inputs); err != nil {
			response.Failures = []provider.Failure{{Reason: err.Error()}}
		}
	}
	return response, nil
}

// DiffConfig never requires a replacement. It ignores keys that begin with two underscores, which plugins add.
func (s *shell) DiffConfig(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	response := provider.DiffResponse{Changes: provider.DiffNone}
	for _, change := range value.Changes(withoutNotes(r.OldInputs), withoutNotes(r.News)) {
		response.Changes = provider.DiffSome
		response.Diffs = appendNew(response.Diffs, change.Path[:1].String())
	}
	return response, nil
}

func (s *shell) Configure(_ context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	if s.kinds.configure == nil {
		return configured{s}, nil
	}
	kinds, err := s.kinds.configure(r.Inputs.MapOrEmpty())
	if err != nil {
		return nil, err
	}
	set := *s
	set.kinds = kinds
	return configured{&set}, nil
}

// Cancel ends calls in flight; the context of later calls has already ended.
func (s *shell) Cancel(context.Context) error { return s.Close() }

// Close cancels; there is nothing else to release.
func (s *shell) Close() error {
	s.cancel()
	return nil
}

func (s *shell) unimplemented(what string) error {
	return &provider.Error{
		Message:       fmt.Sprintf("the embedded provider %s does not support %s", s.name, what),
		Unimplemented: true,
	}
}

// configured is a provider after Configure.
type configured struct{ *shell }

// lookup returns the implementation and the schema of a resource type.
func (s *shell) lookup(token string) (kind, *schema.Resource, error) {
	if why, refused := s.kinds.refused[token]; refused {
		return kind{}, nil, &provider.Error{Message: fmt.Sprintf("the embedded provider %s does not manage %s: %s", s.name,
			token, why)}
	}
	k, ok := s.kinds.resources[token]
	if !ok {
		return kind{}, nil, &provider.Error{Message: fmt.Sprintf("package %s has no resource type %s", s.name, token)}
	}
	r, err := s.schema.Resource(token)
	return k, r, err
}

// bound returns a copy of ctx that also ends when the provider is cancelled, and after a timeout in seconds from a
// resource's customTimeouts; 0 is no timeout. The caller must call the function.
func (s *shell) bound(ctx context.Context, seconds float64) (context.Context, func()) {
	var cancel context.CancelFunc
	if seconds > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	stop := context.AfterFunc(s.done, cancel)
	if s.done.Err() != nil { // AfterFunc would cancel asynchronously
		cancel()
	}
	return ctx, func() { stop(); cancel() }
}

func (c configured) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	k, def, err := c.lookup(r.Type)
	if err != nil {
		return provider.CheckResponse{}, err
	}
	inputs, failures := checkObject(def.Inputs, r.News, r.Type)
	if len(failures) == 0 && k.check != nil {
		failures = k.check(inputs)
	}
	return provider.CheckResponse{Inputs: inputs, Failures: failures}, nil
}

// checkObject converts inputs to the types of the schema. It returns failures for properties that are missing, of
// another type or not in the schema. It drops nulls, except for a required property of any type.
func checkObject(o *schema.Object, news value.Value, token string) (value.Value, []provider.Failure) {
	inputs := news.MapOrEmpty()
	var failures []provider.Failure
	for _, key := range inputs.Keys() {
		given, _ := inputs.Lookup(key)
		property := o.Property(key)
		if given.IsNull() {
			if property == nil || !property.Required || schema.Required(property.Type) != schema.Any {
				inputs = inputs.Without(key)
			}
			continue
		}
		if property == nil {
			if !strings.HasPrefix(key, "__") {
				failures = append(failures, provider.Failure{Property: key, Reason: fmt.Sprintf("%s has no property %q", token,
					key)})
			}
			continue
		}
		converted, err := schema.Convert(property.Type, given)
		if err != nil {
			failures = append(failures, provider.Failure{Property: key, Reason: err.Error()})
			continue
		}
		if !schema.Fits(property.Type, converted) {
			failures = append(failures, provider.Failure{Property: key, Reason: fmt.Sprintf(
				"%s must be %s, not a %s", key, schema.TypeName(property.Type), converted.Kind())})
			continue
		}
		inputs = inputs.With(key, converted)
	}
	for _, property := range o.Properties() {
		if property.Required && !inputs.Has(property.Name) {
			failures = append(failures, provider.Failure{Property: property.Name,
				Reason: fmt.Sprintf("missing required property %q", property.Name)})
		}
	}
	return inputs, failures
}

func (c configured) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	k, def, err := c.lookup(r.Type)
	if err != nil {
		return provider.CreateResponse{}, err
	}
	inputs := k.complete(r.Inputs)
	outputs := inputs
	if r.Preview {
		outputs = k.conceal(def, markPending(outputs, def, k.pendingOutputs(def, inputs, value.Null)), inputs,
			value.Null)
		if k.idOutput {
			outputs = outputs.With("id", value.Unknown(value.KindString))
		}
		return provider.CreateResponse{Outputs: outputs}, nil
	}
	if inputs.ContainsUnknown() {
		return provider.CreateResponse{}, &provider.Error{Message: "an input is not known yet"}
	}
	ctx, release := c.bound(ctx, r.Timeout)
	defer release()
	id, made, err := k.create(ctx, r.Subject, inputs)
	if err != nil {
		return provider.CreateResponse{}, err
	}
	outputs = k.conceal(def, seal(overlay(outputs, made), def), inputs, value.Null)
	if k.idOutput {
		outputs = outputs.With("id", value.String(id))
	}
	return provider.CreateResponse{ID: id, Outputs: outputs}, nil
}

func (c configured) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	k, def, err := c.lookup(r.Type)
	if err != nil {
		return provider.UpdateResponse{}, err
	}
	inputs := k.complete(r.News)
	outputs := r.OldOutputs.DeepWithoutDeps().MapOrEmpty().Without(rawStateNote)
	for _, property := range def.Inputs.Properties() {
		if !slices.Contains(k.computed, property.Name) {
			outputs = outputs.Without(property.Name)
		}
	}
	// A state of an older release has plain outputs that were made of secrets.
	prior := k.conceal(def, outputs, k.complete(r.OldInputs), value.Null)
	outputs = overlay(prior, inputs)
	if r.Preview && (!k.foreseeable || inputs.ContainsUnknown()) {
		outputs = markPending(outputs, def, k.pendingOutputs(def, inputs, r.OldOutputs))
		return provider.UpdateResponse{Outputs: k.conceal(def, outputs, inputs, prior)}, nil
	}
	if inputs.ContainsUnknown() {
		return provider.UpdateResponse{}, &provider.Error{Message: "an input is not known yet"}
	}
	if k.update != nil {
		ctx, release := c.bound(ctx, r.Timeout)
		defer release()
		made, err := k.update(ctx, r.Subject, inputs, overlay(r.OldOutputs.MapOrEmpty(), prior))
		if err != nil {
			return provider.UpdateResponse{}, err
		}
		outputs = overlay(outputs, made)
	}
	return provider.UpdateResponse{Outputs: k.conceal(def, seal(outputs, def), inputs, prior)}, nil
}

func (c configured) Delete(ctx context.Context, r provider.DeleteRequest) error {
	k, _, err := c.lookup(r.Type)
	if err != nil || k.delete == nil {
		return err
	}
	ctx, release := c.bound(ctx, r.Timeout)
	defer release()
	return k.delete(ctx, r.Subject, r.Outputs)
}

// Read returns a known resource unchanged unless the kind has a read function, because its state is the only record of
// it. Without outputs it imports the resource.
func (c configured) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	k, def, err := c.lookup(r.Type)
	if err != nil {
		return provider.ReadResponse{}, err
	}
	if r.Outputs.Len() > 0 {
		inputs := r.Inputs
		if inputs.IsNull() {
			inputs = inputsOf(r.Outputs, def)
		}
		outputs := r.Outputs.DeepWithoutDeps()
		if k.read != nil {
			var exists bool
			if outputs, exists = k.read(outputs); !exists {
				return provider.ReadResponse{}, nil
			}
		}
		outputs = k.conceal(def, outputs, k.complete(inputs), value.Null)
		return provider.ReadResponse{ID: r.ID, Inputs: inputs, Outputs: outputs}, nil
	}
	if k.adopt == nil {
		return provider.ReadResponse{}, &provider.Error{Message: fmt.Sprintf("%s cannot be imported: %s", r.Type,
			k.cannotAdopt)}
	}
	id, made, err := k.adopt(r.ID)
	if err != nil {
		return provider.ReadResponse{}, &provider.Error{Message: fmt.Sprintf("import %s: %s", r.Type, err), Cause: err}
	}
	outputs := seal(k.complete(made), def)
	if k.idOutput {
		outputs = outputs.With("id", value.String(id))
	}
	inputs := inputsOf(outputs, def)
	for _, name := range k.computed {
		// Leave out a computed property if the inputs are valid without it.
		if fewer := inputs.Without(name); k.check == nil || len(k.check(fewer)) == 0 {
			inputs = fewer
		}
	}
	return provider.ReadResponse{ID: id, Inputs: inputs, Outputs: outputs}, nil
}

// Invoke calls a function. If an argument is unknown, the result is unknown.
func (c configured) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	if why, refused := c.kinds.refused[r.Token]; refused {
		return provider.InvokeResponse{}, c.unimplemented(r.Token + ": " + why)
	}
	call, ok := c.kinds.functions[r.Token]
	if !ok {
		return provider.InvokeResponse{}, &provider.Error{Message: fmt.Sprintf("package %s has no function %s", c.name,
			r.Token)}
	}
	def, err := c.schema.Function(r.Token)
	if err != nil {
		return provider.InvokeResponse{}, err
	}
	args, failures := checkObject(def.Inputs, r.Args.DeepWithoutDeps(), r.Token)
	if len(failures) > 0 {
		return provider.InvokeResponse{Failures: failures}, nil
	}
	if args.ContainsUnknown() {
		return provider.InvokeResponse{Result: value.UnknownFrom(value.KindMap, args)}, nil
	}
	ctx, release := c.bound(ctx, 0)
	defer release()
	result, err := call(ctx, args)
	return provider.InvokeResponse{Result: result}, err
}

func (c configured) Call(_ context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	if why, refused := c.kinds.refused[r.Token]; refused {
		return provider.CallResponse{}, c.unimplemented(r.Token + ": " + why)
	}
	return provider.CallResponse{}, c.unimplemented("the method " + r.Token)
}

func (c configured) Construct(_ context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	return provider.ConstructResponse{}, c.unimplemented("the component " + r.Type)
}
