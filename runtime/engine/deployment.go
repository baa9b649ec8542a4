package engine

import (
	"context"
	"maps"

	"github.com/google/uuid"

	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

var (
	_ monitor.Monitor            = (*Deployment)(nil)
	_ monitor.HookRegistrar      = (*Deployment)(nil)
	_ monitor.TransformRegistrar = (*Deployment)(nil)
)

// Deployment is the monitor of one operation: it serves the requests of the program that Update, Refresh or Destroy
// runs. After the operation has ended it returns monitor.ErrShutdown. It is safe for concurrent use.
//
// Each method decodes its request, finds the provider (resolver), has the registration handled (registrar), and builds
// the response, all on its caller's goroutine. At most Options.Parallel provider calls run concurrently; with one slot
// the operation is serial.
type Deployment struct {
	*core
	*transforms
	resolver  *resolver
	registrar *registrar
	outputs   *outputRecorder
}

// Info identifies the deployment (E2.3).
func (d *Deployment) Info(context.Context) (monitor.Info, error) {
	return monitor.Info{
		Project: d.opts.Project, Stack: d.opts.Stack, Organization: d.opts.Organization,
		Config: maps.Clone(d.opts.Config), ConfigSecretKeys: d.opts.ConfigSecretKeys,
		DryRun: d.opts.DryRun, Parallel: d.opts.Parallel,
	}, nil
}

// features are the names that SupportsFeature accepts (E2.4).
var features = map[string]bool{
	"secrets": true, "resourceReferences": true, "outputValues": true, "aliasSpecs": true, "replacementTrigger": true,
	"deletedWith": true, "replaceWith": true, "parameterization": true, "resourceHooks": true, "errorHooks": true,
	"transforms": true, "invokeTransforms": true,
}

// SupportsFeature reports whether the engine supports the named feature of E2.4.
func (d *Deployment) SupportsFeature(_ context.Context, feature string) (bool, error) {
	return features[feature], nil
}

// SignalAndWaitForShutdown ends the requests of the program, and waits until all steps have ended (E2.68). A program
// need not call it: returning has the same effect.
func (d *Deployment) SignalAndWaitForShutdown(ctx context.Context) error { return d.gate.shutDown(ctx) }

// RegisterHook registers a hook; see apply.Hooks.
func (d *Deployment) RegisterHook(_ context.Context, h monitor.Hook) error {
	return d.executor.Hooks.Register(h)
}

// RegisterPackage registers a package and returns its reference. Equal packages share one reference (E2.67).
func (d *Deployment) RegisterPackage(_ context.Context, p monitor.Package) (string, error) {
	return d.registry.Packages.Register(p, uuid.NewString)
}

// info returns the description of the deployment that providers get with construct and method calls.
func (d *Deployment) info(ctx context.Context) provider.DeploymentInfo {
	info, _ := d.Info(ctx) // never fails
	return provider.DeploymentInfo{Info: info, MonitorEndpoint: d.opts.MonitorEndpoint}
}
