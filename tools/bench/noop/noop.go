// Package noop is a provider whose resources do not exist. It answers at once, so that measurements show the host
// alone.
package noop

import (
	"context"
	_ "embed"
	"sync/atomic"
	"time"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Version is the provider's own.
const Version = "1.0.0"

//go:embed schema.json
var schema []byte

// Provider counts the calls it gets. The zero value is ready for use and safe for concurrent use.
type Provider struct {
	provider.Plain
	Checks, Diffs, Creates, Reads, Updates, Deletes atomic.Int64

	delay time.Duration // that each change takes
}

var (
	_ provider.Provider   = (*Provider)(nil)
	_ provider.Configured = (*Provider)(nil)
)

// Info names the provider.
func (p *Provider) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: "noop", Version: Version}, nil
}

// Schema returns the package's schema.
func (p *Provider) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return schema, nil
}

// Configure needs nothing.
func (p *Provider) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return p, nil
}

// Check accepts all inputs.
func (p *Provider) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.Checks.Add(1)
	return provider.CheckResponse{Inputs: r.News}, nil
}

// Diff compares inputs.
func (p *Provider) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.Diffs.Add(1)
	if value.SameContent(r.OldInputs, r.News) {
		return provider.DiffResponse{Changes: provider.DiffNone}, nil
	}
	var diffs []string
	for _, k := range r.News.Keys() {
		old, _ := r.OldInputs.Lookup(k)
		new, _ := r.News.Lookup(k)
		if !value.SameContent(old, new) {
			diffs = append(diffs, k)
		}
	}
	return provider.DiffResponse{Changes: provider.DiffSome, Diffs: diffs}, nil
}

func outputs(inputs value.Value, name string) value.Value {
	return inputs.With("uid", value.String("uid-"+name))
}

// Create creates nothing.
func (p *Provider) Create(_ context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	p.Creates.Add(1)
	if r.Preview {
		return provider.CreateResponse{Outputs: r.Inputs}, nil
	}
	time.Sleep(p.delay)
	return provider.CreateResponse{ID: "id-" + r.Name, Outputs: outputs(r.Inputs, r.Name)}, nil
}

// Read reports no change.
func (p *Provider) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	p.Reads.Add(1)
	return provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: r.Outputs}, nil
}

// Update changes nothing.
func (p *Provider) Update(_ context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	p.Updates.Add(1)
	time.Sleep(p.delay)
	return provider.UpdateResponse{Outputs: outputs(r.News, r.Name)}, nil
}

// Delete removes nothing.
func (p *Provider) Delete(context.Context, provider.DeleteRequest) error {
	p.Deletes.Add(1)
	time.Sleep(p.delay)
	return nil
}
