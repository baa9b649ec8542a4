package plugin

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
	"github.com/yamlhost/yamlhost/value/urn"
)

var _ provider.Configured = (*unconfigured)(nil)

// unconfigured answers for a plugin whose configuration is not known yet, without asking it (F2.20, E3.52). That
// happens in previews only: what cannot be previewed is refused.
type unconfigured struct{ client *client }

func (u *unconfigured) refuse(what string) error {
	return &provider.Error{Message: fmt.Sprintf("plugin %s cannot %s: its configuration is not known", u.client.name,
		what)}
}

// Check takes the inputs as they are.
func (u *unconfigured) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	return provider.CheckResponse{Inputs: r.News}, nil
}

// Diff is unavailable.
func (u *unconfigured) Diff(context.Context, provider.DiffRequest) (provider.DiffResponse, error) {
	return provider.DiffResponse{Changes: provider.DiffUnavailable}, nil
}

// Create tells no outputs.
func (u *unconfigured) Create(_ context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	if !r.Preview {
		return provider.CreateResponse{}, u.refuse("create")
	}
	return provider.CreateResponse{Outputs: value.EmptyMap()}, nil
}

// Read tells no outputs.
func (u *unconfigured) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	return provider.ReadResponse{ID: r.ID, Outputs: value.EmptyMap()}, nil
}

// Update tells no outputs.
func (u *unconfigured) Update(_ context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	if !r.Preview {
		return provider.UpdateResponse{}, u.refuse("update")
	}
	return provider.UpdateResponse{Outputs: value.EmptyMap()}, nil
}

// Delete is refused: it never happens in a preview.
func (u *unconfigured) Delete(context.Context, provider.DeleteRequest) error {
	return u.refuse("delete")
}

// Invoke tells no result.
func (u *unconfigured) Invoke(context.Context, provider.InvokeRequest) (provider.InvokeResponse, error) {
	return provider.InvokeResponse{Result: value.EmptyMap()}, nil
}

// Call tells no result.
func (u *unconfigured) Call(context.Context, provider.CallRequest) (provider.CallResponse, error) {
	return provider.CallResponse{Result: value.EmptyMap()}, nil
}

// Construct registers an empty component on the plugin's behalf (E2.41).
func (u *unconfigured) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	conn, err := dial(r.Deployment.MonitorEndpoint, nil)
	if err != nil {
		return provider.ConstructResponse{}, fmt.Errorf("register component %s: %w", r.Name, err)
	}
	defer func() { _ = conn.Close() }()
	got, err := pulumirpc.NewResourceMonitorClient(conn).RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: r.Type, Name: r.Name, Parent: string(r.Parent),
	})
	if err != nil {
		return provider.ConstructResponse{}, fmt.Errorf("register component %s: %w", r.Name, errorOf(err))
	}
	return provider.ConstructResponse{URN: urn.URN(got.GetUrn()), Outputs: value.EmptyMap()}, nil
}
