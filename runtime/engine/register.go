package engine

import (
	"context"
	"fmt"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// RegisterResource registers a resource and returns after it has reached the declared state or, in a preview, is
// planned (E2.9–E2.37). It returns an error of its own for an invalid request; ErrReported means that the error was
// reported already.
func (d *Deployment) RegisterResource(ctx context.Context, r monitor.RegisterRequest) (monitor.RegisterResponse,
	error) {
	if err := d.gate.enter(); err != nil {
		return monitor.RegisterResponse{}, err
	}
	defer d.leave()
	own, all := d.transforms.of(&r, d.table.Transforms(r.Parent))
	g, err := plan.NewGoal(r, d.opts.RootDir)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	g.Base = d.registry.Packages.Extends(r.PackageRef)
	parent := d.table.Goal(g.Parent)
	g.Inherit(parent)
	if g.Inputs, err = d.opts.withHashes(ctx, g.Inputs); err != nil {
		return monitor.RegisterResponse{}, fmt.Errorf("%s %q: %w", g.Type, g.Name, err)
	}
	if len(all) > 0 {
		if g, err = d.opts.transformed(ctx, g, all); err != nil {
			return monitor.RegisterResponse{}, err
		}
	}
	g.Own = own
	g.InheritProviders(parent)
	if err := d.resolve(ctx, g); err != nil {
		d.resolver.failed(g.NewState(d.opts.urnOf(g.Parent, g.Type, g.Name), nil), err)
		return monitor.RegisterResponse{}, err
	}
	if g.Remote {
		return d.construct(ctx, g)
	}
	reg, err := d.registrar.register(ctx, g)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	return response(reg), nil
}

// resolve sets the provider of a goal, and registers a default provider that is missing (E2.20, E2.22). A provider
// resource has no provider: its inputs name its plugin.
func (d *Deployment) resolve(ctx context.Context, g *plan.Goal) error {
	if !g.Custom && !g.Remote {
		return nil
	}
	pkg := urn.PackageOf(g.Type)
	if urn.IsProviderType(g.Type) {
		p, err := d.registry.Packages.Request(pkg, g.Plugin)
		if err == nil {
			g.Inputs = providers.WithPackage(g.Inputs, p, g.EnvVarMappings)
		}
		return err
	}
	ref, err := d.resolver.resolve(ctx, providerRequest{plugin: g.Plugin, pkg: pkg,
		about: string(d.opts.urnOf(g.Parent, g.Type, g.Name)), position: g.Position})
	if err == nil {
		g.Provider = ref
	}
	return err
}

// response returns the monitor's response for a registered resource (E2.34–E2.37, E5.30, E5.31).
func response(reg *resources.Registration) monitor.RegisterResponse {
	r := monitor.RegisterResponse{URN: reg.URN, Outputs: value.EmptyMap(), Result: reg.Result}
	now := reg.State()
	if reg.Result != monitor.Succeeded || now == nil {
		if reg.Goal.Custom {
			r.ID = value.Unknown(value.KindString)
		}
		return r
	}
	r.Known = reg.Known()
	if !now.Custom { // E2.35
		return r
	}
	r.ID = plan.IDValue(now.ID)
	r.Outputs = now.Outputs
	return r
}
