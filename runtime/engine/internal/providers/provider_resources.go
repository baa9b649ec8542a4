package providers

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// providerResources manages the resources that are providers themselves (E3.10–E3.16): to check one is to load it and
// check its configuration, to create or update one is to configure it.
type providerResources struct {
	broken   // what no provider resource can do
	registry *Registry
}

// Check loads the provider and has it check its configuration (E3.18).
func (p providerResources) Check(ctx context.Context, q provider.CheckRequest) (provider.CheckResponse, error) {
	r := p.registry
	if before := r.take(q.URN); before != nil { // the second check of a replacement has a process of its own (E3.13)
		_ = before.provider.Close()
	}
	loaded, err := r.load(q.URN.Package(), q.News)
	if err != nil {
		return provider.CheckResponse{}, err
	}
	ask := q
	ask.Olds, ask.News = WithoutInternal(q.Olds), WithoutInternal(q.News)
	answer, err := loaded.CheckConfig(ctx, ask)
	if isUnimplemented(err) { // E3.19
		answer, err = provider.CheckResponse{Inputs: ask.News}, nil
	}
	if err != nil || len(answer.Failures) > 0 {
		return answer, err
	}
	if !answer.Inputs.Is(value.KindMap) {
		answer.Inputs = ask.News
	}
	if err := unstorable("check the configuration", "inputs", answer.Inputs); err != nil {
		return provider.CheckResponse{}, err
	}
	if answer.Inputs, err = withReserved(q.URN, answer.Inputs, q.News); err != nil {
		return answer, err
	}
	r.mu.Lock()
	r.candidates[q.URN] = &candidate{answer.Inputs, loaded}
	r.mu.Unlock()
	return answer, nil
}

// withReserved restores the keys of checked inputs that belong to the engine (E3.18).
func withReserved(u urn.URN, checked, asked value.Value) (value.Value, error) {
	if version, ok := asked.Lookup(versionKey); ok {
		now, kept := checked.Lookup(versionKey)
		if kept && !value.SameContent(now, version) {
			return checked, fmt.Errorf("provider %q attempted to change version from %q to %q", u, plan.Printed(version),
				plan.Printed(now))
		}
		checked = checked.With(versionKey, version)
	}
	checked = checked.Without(internalKey)
	if internal, ok := asked.Lookup(internalKey); ok {
		checked = checked.With(internalKey, internal)
	}
	return checked, nil
}

// Diff compares configurations (E3.20). A provider that was not checked in this operation is asked as the state has it:
// on behalf of the replacement of something that it depends on (E4.58).
func (p providerResources) Diff(ctx context.Context, q provider.DiffRequest) (provider.DiffResponse, error) {
	r, about := p.registry, urn.Reference{URN: q.URN, ID: q.ID}
	was := r.Table.Prior.Provider(about.String())
	if was == nil {
		was = r.Table.Before(q.URN)
	}
	if was == nil {
		return provider.DiffResponse{Changes: provider.DiffSome}, nil
	}
	r.mu.Lock()
	c := r.candidates[q.URN]
	r.mu.Unlock()
	if c == nil {
		i, err := r.Get(about.String())
		if err != nil || i.loaded == nil {
			return provider.DiffResponse{Changes: provider.DiffSome}, err
		}
		c = &candidate{provider: i.loaded}
	}
	return diffConfig(ctx, c.provider, q.AllowUnknowns, about, was, q.News, q.IgnoreChanges)
}

// Create configures the provider under a new ID (E1.17).
func (p providerResources) Create(_ context.Context, q provider.CreateRequest) (provider.CreateResponse, error) {
	id := plan.UnknownID
	if !q.Preview {
		id = p.registry.NewID()
	}
	err := p.configure(q.URN, id, q.Inputs)
	return provider.CreateResponse{ID: id, Outputs: WithoutInternal(q.Inputs)}, err
}

// Update configures the provider anew under its ID (E3.12).
func (p providerResources) Update(_ context.Context, q provider.UpdateRequest) (provider.UpdateResponse, error) {
	err := p.configure(q.URN, q.ID, q.News)
	return provider.UpdateResponse{Outputs: WithoutInternal(q.News)}, err
}

// configure makes a provider that was checked ready for the resources that name it. It is an error if it was not.
func (p providerResources) configure(u urn.URN, id string, inputs value.Value) error {
	c := p.registry.take(u)
	if c == nil {
		return fmt.Errorf("provider %s was not checked", u)
	}
	was := urn.Reference{}
	if old := p.registry.Table.Before(u); old != nil && old.ID == id {
		was = urn.Reference{URN: old.URN, ID: id}
	}
	p.registry.put(urn.Reference{URN: u, ID: id}, was, inputs, c.provider)
	return nil
}

// Delete has nothing to do: the provider is closed with the others (E3.16).
func (p providerResources) Delete(context.Context, provider.DeleteRequest) error { return nil }

// Read answers with what is known: a provider resource is not found anywhere else (E7.15).
func (p providerResources) Read(_ context.Context, q provider.ReadRequest) (provider.ReadResponse, error) {
	if q.Inputs.IsNull() {
		return provider.ReadResponse{}, fmt.Errorf("a provider cannot be imported")
	}
	return provider.ReadResponse{ID: q.ID, Inputs: q.Inputs, Outputs: q.Outputs}, nil
}
