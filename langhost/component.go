package langhost

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/rpc"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/workspace/sources"
)

// componentProvider serves the components of a plugin as a provider. It manages no resources of its own unless the
// plugin has dynamic types.
type componentProvider struct {
	provider.Refusing
	plugin *componentPlugin
	types  provider.Provider // of the dynamic types; nil for none
}

var (
	_ provider.Provider   = componentProvider{}
	_ provider.Configured = componentProvider{}
)

// Info returns the name and version.
func (c componentProvider) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: c.plugin.name, Version: c.plugin.version}, nil
}

// Schema describes the components (L1.33).
func (c componentProvider) Schema(ctx context.Context, _ provider.SchemaRequest) ([]byte, error) {
	return c.plugin.schemaText(ctx)
}

// Construct registers an instance of a component with the monitor of the caller.
func (c componentProvider) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse,
	error) {
	p := c.plugin
	component, err := p.component(ctx, r.Type)
	if err != nil {
		return provider.ConstructResponse{}, err
	}
	m, err := rpc.Dial(r.Deployment.MonitorEndpoint, rpc.WithInfo(r.Deployment.Info))
	if err != nil {
		return provider.ConstructResponse{}, err
	}
	defer func() { _ = m.Close() }()
	request := monitor.RegisterRequest{
		Name: r.Name, Parent: r.Parent, Inputs: dependingOn(r.Inputs, r.InputDependencies),
		PropertyDependencies: urn.DependenciesOf(r.InputDependencies), Dependencies: r.Dependencies,
		Providers: r.Providers, Protect: r.Protect, RetainOnDelete: r.RetainOnDelete,
		DeleteBeforeReplace: r.DeleteBeforeReplace, IgnoreChanges: r.IgnoreChanges,
		ReplaceOnChanges: r.ReplaceOnChanges, AdditionalSecretOutputs: r.AdditionalSecretOutputs,
		DeletedWith: r.DeletedWith, ReplaceWith: r.ReplaceWith, ReplacementTrigger: r.ReplacementTrigger,
		CustomTimeouts: monitor.Timeouts{Create: r.CreateTimeout, Update: r.UpdateTimeout, Delete: r.DeleteTimeout},
	}
	for _, alias := range r.Aliases {
		request.Aliases = append(request.Aliases, monitor.Alias{URN: alias})
	}
	request.Aliases = append(request.Aliases, r.AliasSpecs...)
	made, diags := eval.Construct(ctx, component, m, request, eval.Options{
		Cwd: p.cwd, RootDirectory: p.cwd, Getenv: p.getenv, RequireVersion: p.requireVersion,
		Bundle:     new(sources.Sources).Texts,
		ParseData:  parser.Data,
		SourcePath: func(name string) string { return filepath.Join(p.dir, name) },
	})
	if err := errorOf(diags); err != nil {
		return provider.ConstructResponse{}, err
	}
	p.log(diags)
	response := provider.ConstructResponse{URN: made.URN, Outputs: made.Outputs,
		StateDependencies: map[string][]urn.URN{}}
	for i, key := range made.Outputs.Keys() {
		if deps := made.Outputs.At(i).AllDeps(); len(deps) > 0 {
			response.StateDependencies[key] = deps
		}
	}
	return response, nil
}

// dependingOn adds the dependencies of a request to its inputs, by input name.
func dependingOn(inputs value.Value, deps map[string][]urn.URN) value.Value {
	for key, urns := range deps {
		if v, found := inputs.Lookup(key); found && len(urns) > 0 {
			inputs = inputs.With(key, v.DependingOn(urns...))
		}
	}
	return inputs
}

// CheckConfig accepts all inputs unless there are dynamic types: components have no configuration.
func (c componentProvider) CheckConfig(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	if c.types != nil {
		return c.types.CheckConfig(ctx, r)
	}
	return provider.CheckResponse{Inputs: r.News}, nil
}

// DiffConfig finds no changes unless there are dynamic types: components have no configuration.
func (c componentProvider) DiffConfig(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	if c.types != nil {
		return c.types.DiffConfig(ctx, r)
	}
	return provider.DiffResponse{Changes: provider.DiffNone}, nil
}

// Configure configures the dynamic types, if there are any.
func (c componentProvider) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	if c.types == nil {
		return c, nil
	}
	types, err := c.types.Configure(ctx, r)
	return typedPackage{Configured: types, components: c}, err
}

// typedPackage is a configured package with dynamic types.
type typedPackage struct {
	provider.Configured
	components componentProvider
}

// Construct is as in componentProvider.
func (t typedPackage) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	return t.components.Construct(ctx, r)
}

// Cancel ends the calls of dynamic types. The engine cancels other calls itself.
func (c componentProvider) Cancel(ctx context.Context) error {
	if c.types != nil {
		return c.types.Cancel(ctx)
	}
	return nil
}

// Close ends the processes of dynamic types.
func (c componentProvider) Close() error {
	if c.types != nil {
		return c.types.Close()
	}
	return nil
}

// refusing returns the errors of a package that has only components.
func refusing(plugin string) provider.Refusing {
	return func(what string) error {
		return &provider.Error{Message: fmt.Sprintf("the package %s has components only, and no %s", plugin, what),
			Unimplemented: true}
	}
}

// Parameterize returns an error: component packages take no parameters.
func (c componentProvider) Parameterize(context.Context, provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	return provider.ParameterizeResponse{}, c.Refusing("parameters")
}
