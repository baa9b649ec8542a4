package main

import (
	"context"

	"github.com/pulumi/pulumi-go-provider/infer"
)

// Label is a resource whose inputs have defaults in the schema only: the provider fills in none, so the program host
// must. A label exists only in the state.
type Label struct{}

// LabelInputs are the inputs of a label.
type LabelInputs struct {
	Text  string  `pulumi:"text"`
	Mode  *string `pulumi:"mode,optional"`
	Owner *string `pulumi:"owner,optional"`
}

// Annotate sets the defaults: a value for mode, and an environment variable for owner.
func (i *LabelInputs) Annotate(a infer.Annotator) {
	a.SetDefault(&i.Mode, "plain")
	a.SetDefault(&i.Owner, nil, "SHELF_OWNER")
}

// LabelState holds the outputs of a label.
type LabelState struct{ LabelInputs }

// Check fills in no defaults.
func (Label) Check(ctx context.Context, r infer.CheckRequest) (infer.CheckResponse[LabelInputs], error) {
	inputs, failures, err := infer.DefaultCheck[LabelInputs](ctx, r.NewInputs)
	if _, given := r.NewInputs.GetOk("mode"); !given {
		inputs.Mode = nil
	}
	if _, given := r.NewInputs.GetOk("owner"); !given {
		inputs.Owner = nil
	}
	return infer.CheckResponse[LabelInputs]{Inputs: inputs, Failures: failures}, err
}

// Create makes up an ID.
func (Label) Create(_ context.Context, r infer.CreateRequest[LabelInputs]) (infer.CreateResponse[LabelState], error) {
	return infer.CreateResponse[LabelState]{ID: "label-" + r.Name, Output: LabelState{r.Inputs}}, nil
}

// Update returns the new inputs.
func (Label) Update(_ context.Context, r infer.UpdateRequest[LabelInputs, LabelState]) (
	infer.UpdateResponse[LabelState], error) {
	return infer.UpdateResponse[LabelState]{Output: LabelState{r.Inputs}}, nil
}
