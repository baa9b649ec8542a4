package guard

import (
	"context"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// A protection holds what is needed to guard the calls of one provider: the watchdog for slow calls and the secrets to
// mask.
type protection struct {
	dog     *watchdog
	secrets secrets
	name    string // of the provider
	open    []string
}

// enter registers the start of a call and records the secrets in its values. The caller calls leave when the call ends.
func (p protection) enter(does string, about urn.URN, values ...value.Value) (leave func()) {
	p.learn(values)
	return p.dog.begin(p.name, does, about)
}

// learn records the secrets in inputs and outputs.
func (p protection) learn(values []value.Value) {
	for _, v := range values {
		for _, key := range p.open {
			v = v.Without(key)
		}
		p.secrets.Learn(v)
	}
}

// answer records the secrets in the results of a call and masks secrets in its failures and its error. failures may be
// nil.
func (p protection) answer(err error, failures *[]provider.Failure, out ...value.Value) error {
	p.learn(out)
	if failures != nil {
		*failures = p.secrets.failures(*failures)
	}
	return p.secrets.error(err)
}

// guarded is a guarded provider without configuration.
type guarded struct {
	provider.Provider
	protection
}

var _ provider.Provider = guarded{}

// Schema returns the schema.
func (p guarded) Schema(ctx context.Context, r provider.SchemaRequest) ([]byte, error) {
	defer p.enter("give its schema", "")()
	return p.Provider.Schema(ctx, r)
}

// Parameterize makes the provider serve another package.
func (p guarded) Parameterize(ctx context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	defer p.enter("take its parameters", "")()
	return p.Provider.Parameterize(ctx, r)
}

// Configure configures the provider.
func (p guarded) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	defer p.enter("take its configuration", r.URN, r.Inputs)()
	c, err := p.Provider.Configure(ctx, r)
	if err != nil || c == nil {
		return c, p.secrets.error(err)
	}
	return configured{c, p.protection}, nil
}

// configured is a guarded provider with configuration.
type configured struct {
	provider.Configured
	protection
}

var _ provider.Configured = configured{}

// CheckConfig checks the provider's configuration.
func (p guarded) CheckConfig(ctx context.Context, r provider.CheckRequest) (out provider.CheckResponse, err error) {
	defer p.enter("check its configuration", r.URN, r.News)()
	out, err = p.Provider.CheckConfig(ctx, r)
	err = p.answer(err, &out.Failures, out.Inputs)
	return out, err
}

// DiffConfig compares the provider's configurations.
func (p guarded) DiffConfig(ctx context.Context, r provider.DiffRequest) (out provider.DiffResponse, err error) {
	defer p.enter("compare its configuration", r.URN, r.News, r.OldInputs)()
	out, err = p.Provider.DiffConfig(ctx, r)
	return out, p.answer(err, nil)
}

func (p configured) Check(ctx context.Context, r provider.CheckRequest) (out provider.CheckResponse, err error) {
	defer p.enter("check inputs", r.URN, r.News)()
	out, err = p.Configured.Check(ctx, r)
	err = p.answer(err, &out.Failures, out.Inputs)
	return out, err
}

func (p configured) Diff(ctx context.Context, r provider.DiffRequest) (out provider.DiffResponse, err error) {
	defer p.enter("compare inputs", r.URN, r.News, r.OldInputs, r.OldOutputs)()
	out, err = p.Configured.Diff(ctx, r)
	return out, p.answer(err, nil)
}

func (p configured) Create(ctx context.Context, r provider.CreateRequest) (out provider.CreateResponse, err error) {
	defer p.enter("create the resource", r.URN, r.Inputs)()
	out, err = p.Configured.Create(ctx, r)
	return out, p.answer(err, nil, out.Outputs)
}

func (p configured) Read(ctx context.Context, r provider.ReadRequest) (out provider.ReadResponse, err error) {
	defer p.enter("read the resource", r.URN, r.Inputs, r.Outputs)()
	out, err = p.Configured.Read(ctx, r)
	// A value that was secret before the read stays secret, whether or not the provider marks it.
	out.Inputs, out.Outputs = out.Inputs.SecretLike(r.Inputs), out.Outputs.SecretLike(r.Outputs)
	return out, p.answer(err, nil, out.Inputs, out.Outputs)
}

func (p configured) Update(ctx context.Context, r provider.UpdateRequest) (out provider.UpdateResponse, err error) {
	defer p.enter("update the resource", r.URN, r.News, r.OldInputs, r.OldOutputs)()
	out, err = p.Configured.Update(ctx, r)
	return out, p.answer(err, nil, out.Outputs)
}

func (p configured) Invoke(ctx context.Context, r provider.InvokeRequest) (out provider.InvokeResponse, err error) {
	defer p.enter("answer "+r.Token, "", r.Args)()
	out, err = p.Configured.Invoke(ctx, r)
	err = p.answer(err, &out.Failures, out.Result)
	return out, err
}

func (p configured) Call(ctx context.Context, r provider.CallRequest) (out provider.CallResponse, err error) {
	defer p.enter("answer "+r.Token, "", r.Args)()
	out, err = p.Configured.Call(ctx, r)
	err = p.answer(err, &out.Failures, out.Result)
	return out, err
}

// List forwards the request to a provider that can list resources.
func (p configured) List(ctx context.Context, r provider.ListRequest) (provider.ListResponse, error) {
	defer p.enter("list "+r.Type, "", r.Query)()
	out, err := provider.List(ctx, p.Configured, r)
	return out, p.answer(err, nil)
}

func (p configured) Construct(ctx context.Context, r provider.ConstructRequest) (out provider.ConstructResponse,
	err error) {
	defer p.enter("construct "+r.Type, "", r.Inputs)()
	out, err = p.Configured.Construct(ctx, r)
	return out, p.answer(err, nil, out.Outputs)
}

func (p configured) Delete(ctx context.Context, r provider.DeleteRequest) error {
	defer p.enter("delete the resource", r.URN, r.Inputs, r.Outputs)()
	return p.secrets.error(p.Configured.Delete(ctx, r))
}
