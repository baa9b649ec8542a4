package providers

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// guarded is a configured provider whose answers are validated: values that a state cannot store (F1.10) fail only the
// resource concerned.
type guarded struct{ provider.Configured }

var _ provider.Configured = guarded{}

// unstorable returns an error if a state cannot store an answer.
func unstorable(doing, field string, answer value.Value) error {
	if err := value.Storable(answer); err != nil {
		return fmt.Errorf("%s: the provider answered %s that no state can keep: %w", doing, field, err)
	}
	return nil
}

// lost returns the error for a change with an invalid answer: the next run reads the object to find the outcome.
func lost(err error) error {
	return &provider.Error{Outcome: provider.Unclear, Lost: true, Message: err.Error(), Cause: err}
}

// inPart removes values that a state cannot store from a partial failure, so that at least the ID is recorded.
func inPart(err error) error {
	failure, ok := err.(*provider.Error)
	if !ok || failure.Outcome != provider.Partial {
		return err
	}
	kept := *failure
	for _, part := range []*value.Value{&kept.Inputs, &kept.Outputs} {
		if fault := value.Storable(*part); fault != nil {
			*part, kept.RefreshBeforeUpdate = value.EmptyMap(), true
			kept.Reasons = append(kept.Reasons[:len(kept.Reasons):len(kept.Reasons)], fault.Error())
		}
	}
	return &kept
}

// List calls a provider that can list. Its answers are strings and need no validation.
func (g guarded) List(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	return provider.List(ctx, g.Configured, r)
}

// Check returns an error if a state cannot store the inputs.
func (g guarded) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	answer, err := g.Configured.Check(ctx, r)
	if err == nil {
		err = unstorable("check", "inputs", answer.Inputs)
	}
	return answer, err
}

// Create keeps the ID of an object whose outputs cannot be stored: the object is recorded as partially created, and the
// next run reads it.
func (g guarded) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	answer, err := g.Configured.Create(ctx, r)
	if err != nil {
		return answer, inPart(err)
	}
	fault := unstorable("create", "outputs", answer.Outputs)
	if !utf8.ValidString(answer.ID) {
		return provider.CreateResponse{}, lost(fmt.Errorf(
			"create: the provider answered the ID %q, which is not UTF-8: no state can keep it", answer.ID))
	}
	switch {
	case fault == nil:
		return answer, nil
	case answer.ID == "" || r.Preview:
		return provider.CreateResponse{}, lost(fault)
	}
	return provider.CreateResponse{}, &provider.Error{Outcome: provider.Partial, ID: answer.ID, Inputs: r.Inputs,
		Outputs: value.EmptyMap(), Reasons: []string{fault.Error()}, RefreshBeforeUpdate: true, Cause: fault}
}

// Read returns an error if a state cannot store the answer; an ordinary one, since nothing has changed.
func (g guarded) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	answer, err := g.Configured.Read(ctx, r)
	if err != nil {
		return answer, inPart(err)
	}
	if err = unstorable("read", "inputs", answer.Inputs); err == nil {
		err = unstorable("read", "outputs", answer.Outputs)
	}
	return answer, err
}

// Update returns an error with unknown outcome if the outputs cannot be stored: the object may have changed.
func (g guarded) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	answer, err := g.Configured.Update(ctx, r)
	if err != nil {
		return answer, inPart(err)
	}
	if fault := unstorable("update", "outputs", answer.Outputs); fault != nil {
		return provider.UpdateResponse{}, lost(fault)
	}
	return answer, nil
}

// Delete removes unstorable values from a partial failure.
func (g guarded) Delete(ctx context.Context, r provider.DeleteRequest) error {
	return inPart(g.Configured.Delete(ctx, r))
}

// Invoke returns an error if a state cannot store the result.
func (g guarded) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	answer, err := g.Configured.Invoke(ctx, r)
	if err == nil {
		err = unstorable("call "+r.Token, "a result", answer.Result)
	}
	return answer, err
}

// Call returns an error if a state cannot store the result.
func (g guarded) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	answer, err := g.Configured.Call(ctx, r)
	if err == nil {
		err = unstorable("call "+r.Token, "a result", answer.Result)
	}
	return answer, err
}

// Construct returns an error if a state cannot store the outputs.
func (g guarded) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	answer, err := g.Configured.Construct(ctx, r)
	if err == nil {
		err = unstorable("construct "+r.Type, "outputs", answer.Outputs)
	}
	return answer, err
}
