package cli

import (
	"context"

	"github.com/yamlhost/yamlhost/runtime/provider"
)

// attendedLoader gives out providers whose calls a watchdog knows of, and who keep secrets to themselves.
type attendedLoader struct {
	provider.Loader
	dog      *watchdog
	discreet *discretion
}

// Load starts a provider.
func (l attendedLoader) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	defer l.dog.begin(pkg.Name, "start", "")()
	p, err := l.Loader.Load(ctx, pkg)
	if err != nil || p == nil {
		return p, err
	}
	return attended{p, l.dog, l.discreet, pkg.Name}, nil
}

// attended is a provider that is not configured yet.
type attended struct {
	provider.Provider
	dog      *watchdog
	discreet *discretion
	name     string
}

var _ provider.Provider = attended{}

// Schema asks for the schema.
func (p attended) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	defer p.dog.begin(p.name, "give its schema", "")()
	return p.Provider.Schema(ctx, r)
}

// Parameterize makes it serve another package.
func (p attended) Parameterize(ctx context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse, error) {
	defer p.dog.begin(p.name, "take its parameters", "")()
	return p.Provider.Parameterize(ctx, r)
}

// Configure gives it its configuration.
func (p attended) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	p.discreet.learn(r.Inputs)
	defer p.dog.begin(p.name, "take its configuration", r.URN)()
	c, err := p.Provider.Configure(ctx, r)
	if err != nil || c == nil {
		return c, p.discreet.error(err)
	}
	return attendedCalls{c, p.dog, p.discreet, p.name}, nil
}

// attendedCalls is a provider at work.
type attendedCalls struct {
	provider.Configured
	dog      *watchdog
	discreet *discretion
	name     string
}

var _ provider.Configured = attendedCalls{}

func (p attended) CheckConfig(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.discreet.learn(r.News)
	defer p.dog.begin(p.name, "check its configuration", r.URN)()
	out, err := p.Provider.CheckConfig(ctx, r)
	p.discreet.learn(out.Inputs)
	out.Failures = p.discreet.failures(out.Failures)
	return out, p.discreet.error(err)
}

func (p attended) DiffConfig(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.discreet.learn(r.News, r.OldInputs)
	defer p.dog.begin(p.name, "compare its configuration", r.URN)()
	out, err := p.Provider.DiffConfig(ctx, r)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.discreet.learn(r.News)
	defer p.dog.begin(p.name, "check inputs", r.URN)()
	out, err := p.Configured.Check(ctx, r)
	p.discreet.learn(out.Inputs)
	out.Failures = p.discreet.failures(out.Failures)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.discreet.learn(r.News, r.OldInputs, r.OldOutputs)
	defer p.dog.begin(p.name, "compare inputs", r.URN)()
	out, err := p.Configured.Diff(ctx, r)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	p.discreet.learn(r.Inputs)
	defer p.dog.begin(p.name, "create the resource", r.URN)()
	out, err := p.Configured.Create(ctx, r)
	p.discreet.learn(out.Outputs)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	p.discreet.learn(r.Inputs, r.Outputs)
	defer p.dog.begin(p.name, "read the resource", r.URN)()
	out, err := p.Configured.Read(ctx, r)
	// What was secret before it was read is so afterwards, whatever the provider knows of that.
	out.Inputs, out.Outputs = out.Inputs.SecretLike(r.Inputs), out.Outputs.SecretLike(r.Outputs)
	p.discreet.learn(out.Inputs, out.Outputs)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	p.discreet.learn(r.News, r.OldInputs, r.OldOutputs)
	defer p.dog.begin(p.name, "update the resource", r.URN)()
	out, err := p.Configured.Update(ctx, r)
	p.discreet.learn(out.Outputs)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	p.discreet.learn(r.Args)
	defer p.dog.begin(p.name, "answer "+r.Token, "")()
	out, err := p.Configured.Invoke(ctx, r)
	p.discreet.learn(out.Result)
	out.Failures = p.discreet.failures(out.Failures)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	p.discreet.learn(r.Args)
	defer p.dog.begin(p.name, "answer "+r.Token, "")()
	out, err := p.Configured.Call(ctx, r)
	p.discreet.learn(out.Result)
	out.Failures = p.discreet.failures(out.Failures)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	p.discreet.learn(r.Inputs)
	defer p.dog.begin(p.name, "construct "+r.Type, "")()
	out, err := p.Configured.Construct(ctx, r)
	p.discreet.learn(out.Outputs)
	return out, p.discreet.error(err)
}

func (p attendedCalls) Delete(ctx context.Context, r provider.DeleteRequest) error {
	p.discreet.learn(r.Inputs, r.Outputs)
	defer p.dog.begin(p.name, "delete the resource", r.URN)()
	return p.discreet.error(p.Configured.Delete(ctx, r))
}
