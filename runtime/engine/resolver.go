package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// resolver finds the provider of a resource or call, and registers a default provider on its first use
// (E3.28–E3.34). It is safe for concurrent use.
type resolver struct {
	*core
	registrar *registrar
}

// providerRequest describes the provider that a request needs, and the one that it names explicitly.
type providerRequest struct {
	plugin   monitor.Plugin // of the request
	pkg      string         // the package of the type or token
	about    string         // URN, token or kind of request, for messages
	position string         // in the program, for messages
}

// resolve returns the reference of the provider.
func (r *resolver) resolve(ctx context.Context, w providerRequest) (string, error) {
	p, err := r.registry.Packages.Request(w.pkg, w.plugin)
	if err != nil {
		return "", err
	}
	return r.reference(ctx, w.plugin.Provider, p, w.about, w.position)
}

// instance returns the provider, with the request's extension loaded. token is the type or function of the request.
func (r *resolver) instance(ctx context.Context, w providerRequest, token string) (*providers.Instance, error) {
	ref, err := r.resolve(ctx, w)
	if err != nil {
		return nil, err
	}
	i, err := r.registry.Get(ref)
	if err != nil {
		return nil, err
	}
	return i, r.registry.Extend(i, r.registry.Packages.Extension(w.plugin.PackageRef), urn.URN(token))
}

// reference returns the reference of the named provider or else of the package's default provider, which it registers
// if it is missing. about and position are for messages.
func (r *resolver) reference(ctx context.Context, named string, p monitor.Package, about, position string) (string,
	error) {
	if named != "" {
		return r.known(named)
	}
	pkg := providers.PackageName(p)
	if r.registry.Config.DeniesDefault(pkg) {
		u, _ := urn.Parse(about) // the zero URN for a call
		_ = r.failures.unclaimed(operationFailed(u, position,
			fmt.Sprintf("Default provider for '%s' disabled. '%s' must use an explicit provider.", pkg, about)))
		return "", errDenied
	}
	return r.registry.Default(p, func() (string, error) { return r.registerDefault(ctx, pkg, p) },
		func(done <-chan struct{}) error { return r.slots.Wait(ctx, done) })
}

// errDenied is ErrReported for a request that needs a default provider which is disabled.
var errDenied = fmt.Errorf("%w", monitor.ErrReported)

// failed reports what becomes of a resource whose provider was not found: it fails if it may not have the default
// provider, and is skipped if that has failed.
func (r *resolver) failed(goal *state.Resource, err error) {
	switch {
	case errors.Is(err, errDenied):
		r.report.resourceFailed(nil, goal)
	case errors.Is(err, monitor.ErrReported):
		r.report.skip(goal.URN)
	}
}

// known parses a reference that the program passed. The ID of a provider that exists only in the preview is unknown to
// the program; it is replaced by the ID that the preview assigned.
func (r *resolver) known(text string) (string, error) {
	ref, err := urn.ParseReference(text)
	if err != nil {
		return "", err
	}
	if reg := r.table.Get(ref.URN); reg != nil && (ref.ID == "" || ref.ID == UnknownID) {
		if now := reg.State(); now != nil {
			ref.ID = now.ID
		}
	}
	return ref.String(), nil
}

// registerDefault registers a default provider like any other resource, and returns its reference.
func (r *resolver) registerDefault(ctx context.Context, pkg string, p monitor.Package) (string, error) {
	unprotected := false
	g, err := plan.NewGoal(monitor.RegisterRequest{
		Type: urn.ProviderType(pkg), Name: providers.DefaultName(providers.VersionOf(p), p.DownloadURL), Custom: true,
		Inputs: providers.WithPackage(r.registry.Config.Default(pkg), p, nil), Protect: &unprotected}, r.opts.RootDir)
	if err != nil {
		return "", err
	}
	g.PropertyDependencies = urn.Dependencies{} // Pulumi records none either for default providers
	reg, err := r.registrar.register(ctx, g)
	if err != nil {
		return "", err
	}
	if reg.State() == nil || reg.Result != monitor.Succeeded {
		return "", monitor.ErrReported
	}
	return urn.Reference{URN: reg.URN, ID: reg.State().ID}.String(), nil
}

// PackageOfProvider returns the plugin package that a provider resource of a state needs (E3.22).
func PackageOfProvider(r *state.Resource) provider.Package {
	return providers.PackageOf(strings.TrimPrefix(r.Type, urn.ProviderType("")), r.Inputs)
}
