package providers

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// guarded is a configured provider, of a plugin or of our own process, whose answers are checked before anything makes
// use of them: what a state could not give back (F1.10) fails the one resource that it is about.
type guarded struct{ provider.Configured }

var _ provider.Configured = guarded{}

// unstorable returns the fault of an answer, nil if there is none.
func unstorable(doing, field string, answer value.Value) error {
	if err := value.Storable(answer); err != nil {
		return fmt.Errorf("%s: the provider answered %s that no state can keep: %w", doing, field, err)
	}
	return nil
}

// lost returns the error of a change whose answer is of no use: the next run reads what became of it.
func lost(err error) error {
	return &provider.Error{Outcome: provider.Unclear, Lost: true, Message: err.Error(), Cause: err}
}

// inPart drops values that a state cannot hold from the report of a partial failure. Its ID matters most.
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

// List calls a provider that can list. Its answers are texts, so they need no check.
func (g guarded) List(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	return provider.List(ctx, g.Configured, r)
}

// Check refuses inputs that no state can keep.
func (g guarded) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	answer, err := g.Configured.Check(ctx, r)
	if err == nil {
		err = unstorable("check", "inputs", answer.Inputs)
	}
	return answer, err
}

// Create keeps the ID of an object whose other properties cannot be kept: it is in the state, and is read by the next
// run.
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

// Read refuses a state that no state file can keep; nothing has changed, so that the failure is an ordinary one.
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

// Update answers with an unclear outcome where the object has changed and its outputs cannot be kept.
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

// Delete has no answer that a state would keep.
func (g guarded) Delete(ctx context.Context, r provider.DeleteRequest) error {
	return inPart(g.Configured.Delete(ctx, r))
}

// Invoke refuses a result that cannot go into a state.
func (g guarded) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	answer, err := g.Configured.Invoke(ctx, r)
	if err == nil {
		err = unstorable("call "+r.Token, "a result", answer.Result)
	}
	return answer, err
}

// Call refuses a result that cannot go into a state.
func (g guarded) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	answer, err := g.Configured.Call(ctx, r)
	if err == nil {
		err = unstorable("call "+r.Token, "a result", answer.Result)
	}
	return answer, err
}

// Construct refuses outputs that no state can keep.
func (g guarded) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	answer, err := g.Configured.Construct(ctx, r)
	if err == nil {
		err = unstorable("construct "+r.Type, "outputs", answer.Outputs)
	}
	return answer, err
}
