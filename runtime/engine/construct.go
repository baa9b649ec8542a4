package engine

import (
	"context"
	"errors"
	"maps"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// construct has a component's provider construct it (E2.38–E2.44). The component and its children are registered by the
// provider's process while construct waits, so it holds no slot.
func (d *Deployment) construct(ctx context.Context, g *plan.Goal) (monitor.RegisterResponse, error) {
	u := d.opts.urnOf(g.Parent, g.Type, g.Name)
	i, err := d.registry.Get(g.Provider)
	if err != nil {
		return monitor.RegisterResponse{}, d.failures.notConstructed(u, g, err)
	}
	if i.Unconfigured { // E2.41: the provider cannot construct it in this preview; show a component without children
		local := *g
		local.Remote, local.Inputs, local.PropertyDependencies = false, value.EmptyMap(), urn.Dependencies{}
		reg, err := d.registrar.register(ctx, &local)
		if err != nil {
			return monitor.RegisterResponse{}, err
		}
		return monitor.RegisterResponse{URN: reg.URN, Outputs: value.EmptyMap(), Result: reg.Result}, nil
	}
	if err := d.registry.Extend(i, d.registry.Packages.Extension(g.PackageRef), u); err != nil {
		return monitor.RegisterResponse{}, d.failures.notConstructed(u, g, err)
	}
	if d.opts.MonitorEndpoint == "" {
		return monitor.RegisterResponse{}, d.failures.notConstructed(u, g,
			errors.New("components of a provider cannot be built here: "+
				"this operation cannot be reached by the provider's process"))
	}
	if err := d.journal.Held(d.calls); err != nil { // the provider's process may change things itself
		return monitor.RegisterResponse{}, d.failures.notConstructed(u, g, err)
	}
	aliases := d.table.Aliases(u, g.Parent, g.Aliases)
	answer, err := i.Configured.Construct(d.calls, provider.ConstructRequest{
		Deployment: d.info(ctx), Type: g.Type, Name: g.Name, Parent: g.Parent, Inputs: g.Inputs,
		InputDependencies: g.PropertyDependencies.Map(), Dependencies: g.Dependencies, Providers: g.Providers,
		Aliases: aliases,
		Protect: g.Protect, RetainOnDelete: g.RetainOnDelete, DeleteBeforeReplace: g.DeleteBeforeReplace,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, IgnoreChanges: g.IgnoreChanges,
		ReplaceOnChanges: g.ReplaceOnChanges,
		DeletedWith:      g.DeletedWith, ReplaceWith: g.ReplaceWith, CreateTimeout: g.CustomTimeouts.Create,
		UpdateTimeout: g.CustomTimeouts.Update, DeleteTimeout: g.CustomTimeouts.Delete,
		ReplacementTrigger: g.ReplacementTrigger,
	})
	if err != nil {
		return monitor.RegisterResponse{}, d.failures.notConstructed(u, g, err)
	}
	outputs, deps := answer.Outputs.MapOrEmpty(), map[string][]urn.URN{}
	maps.Copy(deps, answer.StateDependencies)
	for i, key := range outputs.Keys() { // E2.44
		if more := outputs.At(i).AllDeps(); len(more) > 0 {
			deps[key] = plan.Distinct(append(append([]urn.URN{}, deps[key]...), more...))
		}
	}
	return monitor.RegisterResponse{URN: answer.URN, Outputs: outputs.DeepWithoutDeps(), Known: !d.opts.DryRun,
		PropertyDependencies: deps}, nil
}
