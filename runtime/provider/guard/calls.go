package guard

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// guarded is a guarded provider that is not configured yet.
type guarded struct {
	provider.Provider
	dog     *watchdog
	secrets secrets
	name    string
}

var _ provider.Provider = guarded{}

// Schema asks for the schema.
func (p guarded) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	defer p.dog.begin(p.name, "give its schema", "")()
	return p.Provider.Schema(ctx, r)
}

// Parameterize makes it serve another package.
func (p guarded) Parameterize(ctx context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	defer p.dog.begin(p.name, "take its parameters", "")()
	return p.Provider.Parameterize(ctx, r)
}

// Configure gives it its configuration.
func (p guarded) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	p.secrets.learn(r.Inputs)
	defer p.dog.begin(p.name, "take its configuration", r.URN)()
	c, err := p.Provider.Configure(ctx, r)
	if err != nil || c == nil {
		return c, p.secrets.error(err)
	}
	return configured{c, p.dog, p.secrets, p.name}, nil
}

// configured is a guarded provider that has its configuration.
type configured struct {
	provider.Configured
	dog     *watchdog
	secrets secrets
	name    string
}

var _ provider.Configured = configured{}

func (p guarded) CheckConfig(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.secrets.learn(r.News)
	defer p.dog.begin(p.name, "check its configuration", r.URN)()
	out, err := p.Provider.CheckConfig(ctx, r)
	p.secrets.learn(out.Inputs)
	out.Failures = p.secrets.failures(out.Failures)
	return out, p.secrets.error(err)
}

func (p guarded) DiffConfig(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.secrets.learn(r.News, r.OldInputs)
	defer p.dog.begin(p.name, "compare its configuration", r.URN)()
	out, err := p.Provider.DiffConfig(ctx, r)
	return out, p.secrets.error(err)
}

func (p configured) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.secrets.learn(r.News)
	defer p.dog.begin(p.name, "check inputs", r.URN)()
	out, err := p.Configured.Check(ctx, r)
	p.secrets.learn(out.Inputs)
	out.Failures = p.secrets.failures(out.Failures)
	return out, p.secrets.error(err)
}

func (p configured) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.secrets.learn(r.News, r.OldInputs, r.OldOutputs)
	defer p.dog.begin(p.name, "compare inputs", r.URN)()
	out, err := p.Configured.Diff(ctx, r)
	return out, p.secrets.error(err)
}

func (p configured) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	p.secrets.learn(r.Inputs)
	defer p.dog.begin(p.name, "create the resource", r.URN)()
	out, err := p.Configured.Create(ctx, r)
	p.secrets.learn(out.Outputs)
	return out, p.secrets.error(err)
}

func (p configured) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	p.secrets.learn(r.Inputs, r.Outputs)
	defer p.dog.begin(p.name, "read the resource", r.URN)()
	out, err := p.Configured.Read(ctx, r)
	// What was secret before it was read is so afterwards, whatever the provider knows of that.
	out.Inputs, out.Outputs = out.Inputs.SecretLike(r.Inputs), out.Outputs.SecretLike(r.Outputs)
	p.secrets.learn(out.Inputs, out.Outputs)
	return out, p.secrets.error(err)
}

func (p configured) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	p.secrets.learn(r.News, r.OldInputs, r.OldOutputs)
	defer p.dog.begin(p.name, "update the resource", r.URN)()
	out, err := p.Configured.Update(ctx, r)
	p.secrets.learn(out.Outputs)
	return out, p.secrets.error(err)
}

func (p configured) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	p.secrets.learn(r.Args)
	defer p.dog.begin(p.name, "answer "+r.Token, "")()
	out, err := p.Configured.Invoke(ctx, r)
	p.secrets.learn(out.Result)
	out.Failures = p.secrets.failures(out.Failures)
	return out, p.secrets.error(err)
}

func (p configured) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	p.secrets.learn(r.Args)
	defer p.dog.begin(p.name, "answer "+r.Token, "")()
	out, err := p.Configured.Call(ctx, r)
	p.secrets.learn(out.Result)
	out.Failures = p.secrets.failures(out.Failures)
	return out, p.secrets.error(err)
}

func (p configured) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	p.secrets.learn(r.Inputs)
	defer p.dog.begin(p.name, "construct "+r.Type, "")()
	out, err := p.Configured.Construct(ctx, r)
	p.secrets.learn(out.Outputs)
	return out, p.secrets.error(err)
}

func (p configured) Delete(ctx context.Context, r provider.DeleteRequest) error {
	p.secrets.learn(r.Inputs, r.Outputs)
	defer p.dog.begin(p.name, "delete the resource", r.URN)()
	return p.secrets.error(p.Configured.Delete(ctx, r))
}
