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

// Deployment is the monitor of one operation: it answers what a program asks for while Update, Refresh or Destroy runs
// it, and refuses everything with monitor.ErrShutdown once the operation has ended. It is safe for concurrent use.
//
// Each method reads its request, finds the provider (resolver), has the registration handled (registrar), and words the
// answer. It works on its caller's goroutine. Of all that talks to providers, at most Options.Parallel go on at the
// same time; one slot makes the operation serial.
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

// features are the names that SupportsFeature affirms (E2.4).
var features = map[string]bool{
	"secrets": true, "resourceReferences": true, "outputValues": true, "aliasSpecs": true, "replacementTrigger": true,
	"deletedWith": true, "replaceWith": true, "parameterization": true, "resourceHooks": true, "errorHooks": true,
	"transforms": true, "invokeTransforms": true,
}

// SupportsFeature reports whether the engine has a feature, by the names of E2.4.
func (d *Deployment) SupportsFeature(_ context.Context, feature string) (bool, error) {
	return features[feature], nil
}

// RegisterHook announces a hook; see apply.Hooks.
func (d *Deployment) RegisterHook(_ context.Context, h monitor.Hook) error {
	return d.executor.Hooks.Register(h)
}

// RegisterPackage announces a package. Equal packages get the same reference (E2.67).
func (d *Deployment) RegisterPackage(_ context.Context, p monitor.Package) (string, error) {
	return d.registry.Packages.Register(p, uuid.NewString)
}

// SignalAndWaitForShutdown announces that the program makes no further requests, and waits until the engine is done
// (E2.68). The program given to Update need not call it: returning says the same.
func (d *Deployment) SignalAndWaitForShutdown(ctx context.Context) error {
	return d.waitForShutdown(ctx)
}

// info returns the description of the deployment that providers get when they construct components or call methods.
func (d *Deployment) info(ctx context.Context) provider.DeploymentInfo {
	info, _ := d.Info(ctx) // never fails
	return provider.DeploymentInfo{Info: info, MonitorEndpoint: d.opts.MonitorEndpoint}
}
