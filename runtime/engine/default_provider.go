package engine

import (
	"context"
	"fmt"
	"maps"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/providers"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/value/urn"
)

// provider resolves the provider of a resource or call: the one named, else the default one of its package, which is
// registered when it is first needed (E3.28–E3.34). about says for whom.
func (d *Deployment) provider(ctx context.Context, named string, p monitor.Package, about, position string) (string,
	error) {
	if named != "" {
		return d.knownReference(named)
	}
	pkg := providers.PackageName(p)
	if d.registry.Config.DeniesDefault(pkg) {
		d.report.message(Message{URN: urnOrNone(about), Severity: diag.Error, Code: diag.OperationFailed, Position: position,
			Text: fmt.Sprintf("Default provider for '%s' disabled. '%s' must use an explicit provider.", pkg, about)})
		return "", d.bail()
	}
	return d.registry.Default(p, func() (string, error) { return d.registerDefault(ctx, pkg, p) },
		func(done <-chan struct{}) error { return d.slots.Wait(ctx, done) })
}

func urnOrNone(text string) urn.URN {
	u, _ := urn.Parse(text)
	return u
}

// knownReference reads a reference that a program made. The ID of a provider that is only previewed is not known to the
// program; it is the one that the preview gave it.
func (d *Deployment) knownReference(text string) (string, error) {
	ref, err := urn.ParseReference(text)
	if err != nil {
		return "", err
	}
	if reg := d.table.Get(ref.URN); reg != nil && (ref.ID == "" || ref.ID == UnknownID) {
		if now := reg.State(); now != nil {
			ref.ID = now.ID
		}
	}
	return ref.String(), nil
}

// registerDefault registers a default provider like any other resource.
func (d *Deployment) registerDefault(ctx context.Context, pkg string, p monitor.Package) (string, error) {
	no := false
	g, err := plan.NewGoal(monitor.RegisterRequest{
		Type: urn.ProviderType(pkg), Name: providers.DefaultName(providers.VersionOf(p), p.DownloadURL), Custom: true,
		Inputs: providers.WithPackage(d.registry.Config.Default(pkg), p, nil), Protect: &no}, d.opts.RootDir)
	if err != nil {
		return "", err
	}
	g.PropertyDependencies = nil // no program gave the inputs, and the Pulumi CLI notes none either
	reg, err := d.register(ctx, g)
	if err != nil {
		return "", err
	}
	if reg.State() == nil || reg.Result != monitor.Succeeded {
		return "", monitor.ErrReported
	}
	return urn.Reference{URN: reg.URN, ID: reg.State().ID}.String(), nil
}

// preludeConfig is the configuration for people: secrets are hidden (E8.8).
func (d *Deployment) preludeConfig() map[string]string {
	shown := maps.Clone(d.opts.Config)
	for _, key := range d.opts.ConfigSecretKeys {
		if _, ok := shown[key]; ok {
			shown[key] = "[secret]"
		}
	}
	return shown
}
