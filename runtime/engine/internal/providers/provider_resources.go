package providers

import (
	"cmp"
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// providerResources manages the resources that are providers (E3.10–E3.16): Check loads a provider and checks its
// configuration; Create and Update configure it.
type providerResources struct {
	broken   // the error for all other calls
	registry *Registry
}

// Check loads the provider and has it check its configuration (E3.18).
func (p providerResources) Check(ctx context.Context, q provider.CheckRequest) (provider.CheckResponse, error) {
	r := p.registry
	if former := r.take(q.URN); former != nil { // the second check of a replacement uses a new process (E3.13)
		_ = former.provider.Close()
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

// withReserved restores the engine's keys in checked inputs (E3.18).
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

// Diff compares configurations (E3.20). A provider that was not checked in this operation, because only the replacement
// of a dependency is planned, is compared with its prior state (E4.58).
func (p providerResources) Diff(ctx context.Context, q provider.DiffRequest) (provider.DiffResponse, error) {
	r, ref := p.registry, urn.Reference{URN: q.URN, ID: q.ID}
	old := cmp.Or(r.Table.Prior.Provider(ref.String()), r.Table.Before(q.URN))
	if old == nil {
		return provider.DiffResponse{Changes: provider.DiffSome}, nil
	}
	r.mu.Lock()
	c := r.candidates[q.URN]
	r.mu.Unlock()
	if c == nil {
		i, err := r.Get(ref.String())
		if err != nil || i.loaded == nil {
			return provider.DiffResponse{Changes: provider.DiffSome}, err
		}
		c = &candidate{provider: i.loaded}
	}
	return diffConfig(ctx, c.provider, q.AllowUnknowns, ref, old, q.News, q.IgnoreChanges)
}

// Create configures the provider and returns a new ID (E1.17).
func (p providerResources) Create(_ context.Context, q provider.CreateRequest) (provider.CreateResponse, error) {
	id := plan.UnknownID
	if !q.Preview {
		id = p.registry.NewID()
	}
	err := p.configure(q.URN, id, q.Inputs)
	return provider.CreateResponse{ID: id, Outputs: WithoutInternal(q.Inputs)}, err
}

// Update configures the provider again under its ID (E3.12).
func (p providerResources) Update(_ context.Context, q provider.UpdateRequest) (provider.UpdateResponse, error) {
	err := p.configure(q.URN, q.ID, q.News)
	return provider.UpdateResponse{Outputs: WithoutInternal(q.News)}, err
}

// configure makes a checked provider available to resources. It returns an error if it was not checked.
func (p providerResources) configure(u urn.URN, id string, inputs value.Value) error {
	c := p.registry.take(u)
	if c == nil {
		return fmt.Errorf("provider %s was not checked", u)
	}
	former := urn.Reference{}
	if old := p.registry.Table.Before(u); old != nil && old.ID == id {
		former = urn.Reference{URN: old.URN, ID: id}
	}
	p.registry.put(urn.Reference{URN: u, ID: id}, former, inputs, c.provider)
	return nil
}

// Delete does nothing: all providers are closed together at the end (E3.16).
func (p providerResources) Delete(context.Context, provider.DeleteRequest) error { return nil }

// Read returns the recorded state: a provider resource exists nowhere else (E7.15).
func (p providerResources) Read(_ context.Context, q provider.ReadRequest) (provider.ReadResponse, error) {
	if q.Inputs.IsNull() {
		return provider.ReadResponse{}, fmt.Errorf("a provider cannot be imported")
	}
	return provider.ReadResponse{ID: q.ID, Inputs: q.Inputs, Outputs: q.Outputs}, nil
}
