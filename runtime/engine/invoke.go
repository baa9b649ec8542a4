package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/plan"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// Invoke calls a provider function (E2.50–E2.55). The response is Unknown if the call depends on missing resources.
func (d *Deployment) Invoke(ctx context.Context, r monitor.InvokeRequest) (monitor.InvokeResponse, error) {
	if err := d.gate.enter(); err != nil {
		return monitor.InvokeResponse{}, err
	}
	defer d.leave()
	pkg := urn.PackageOf(r.Token)
	if r.Provider == "" {
		r.Provider = d.parentProvider(r.Parent, pkg)
	}
	asked := r.Args
	r, err := d.transforms.invoke(ctx, r)
	if err != nil {
		return monitor.InvokeResponse{}, err
	}
	i, err := d.resolver.instance(ctx, providerRequest{plugin: r.Plugin, pkg: pkg, about: "Invoke",
		position: plan.SourcePosition(d.opts.RootDir, r.SourcePosition)}, r.Token)
	if err != nil {
		return monitor.InvokeResponse{}, err
	}
	ready, err := d.allExist(ctx, r.DependsOn)
	if err != nil {
		return monitor.InvokeResponse{}, err
	}
	args := r.Args.MapOrEmpty().DeepWithoutDeps()
	if !ready || i.Unconfigured || args.ContainsUnknown() { // E2.51, E2.54
		return monitor.InvokeResponse{Unknown: true}, nil
	}
	slot := d.slots.Slot()
	if err := slot.Take(ctx); err != nil {
		return monitor.InvokeResponse{}, err
	}
	defer slot.Free()
	if err := d.journal.Held(d.calls); err != nil { // a function may change things, as command:local:run does
		return monitor.InvokeResponse{}, fmt.Errorf("call of %s: %w", r.Token, err)
	}
	answer, err := i.Configured.Invoke(d.calls, provider.InvokeRequest{Token: r.Token, Args: args,
		Preview: d.opts.DryRun})
	if err != nil {
		if crash, ok := errors.AsType[*provider.CrashError](err); ok { // the full text is reported only once
			err = errors.New(d.report.crashText(crash))
		}
		return monitor.InvokeResponse{}, fmt.Errorf("call of %s: %w", r.Token, err)
	}
	// A result is secret if secrets were among the arguments. The program marks the result itself for its own secrets;
	// here a transform has added them.
	if args.ContainsSecret() && !asked.ContainsSecret() {
		answer.Result = answer.Result.Secret()
	}
	return monitor.InvokeResponse{Result: answer.Result.DependingOn(added(asked, r.Args)...),
		Failures: answer.Failures, Unknown: !answer.Result.IsKnown()}, nil
}

// parentProvider returns the provider that a call inherits from its parent: the one that a component has for the
// package, or the parent's own provider if it serves the package; "" for none.
func (d *Deployment) parentProvider(parent urn.URN, pkg string) string {
	p := d.table.Goal(parent)
	if p == nil {
		return ""
	}
	if ref := p.Providers[pkg]; !p.Custom && ref != "" {
		return ref
	}
	if plan.ProviderPackage(p.Provider) == pkg {
		return p.Provider
	}
	return ""
}

// added returns the resources that only after depends on, because transforms added them to the arguments of a call.
func added(before, after value.Value) []urn.URN {
	known := before.AllDeps()
	return slices.DeleteFunc(after.AllDeps(), func(u urn.URN) bool { return slices.Contains(known, u) })
}

// allExist waits for the named resources and, recursively, for the children of components among them. It reports
// whether every custom resource of these exists (E2.51).
func (d *Deployment) allExist(ctx context.Context, urns []urn.URN) (bool, error) {
	seen := map[urn.URN]bool{}
	work := slices.Clone(urns)
	for len(work) > 0 {
		u := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[u] {
			continue
		}
		seen[u] = true
		reg := d.table.Get(u)
		if reg == nil {
			continue
		}
		if err := d.slots.Wait(ctx, reg.Done); err != nil {
			return false, err
		}
		custom, now := reg.Goal == nil || reg.Goal.Custom, reg.State()
		exists := now != nil && now.ID != "" && now.ID != UnknownID
		switch {
		case custom && !exists:
			return false, nil
		case !custom:
			work = append(work, reg.Children()...)
		}
	}
	return true, nil
}

// Call calls a method of a resource (E2.56–E2.58). It holds no slot, because the method may register resources.
func (d *Deployment) Call(ctx context.Context, r monitor.CallRequest) (monitor.CallResponse, error) {
	if err := d.gate.enter(); err != nil {
		return monitor.CallResponse{}, err
	}
	defer d.leave()
	position := plan.SourcePosition(d.opts.RootDir, r.SourcePosition)
	r.Provider = d.callProvider(r)
	i, err := d.resolver.instance(ctx, providerRequest{plugin: r.Plugin, pkg: urn.PackageOf(r.Token), about: r.Token,
		position: position}, r.Token)
	if err != nil {
		return monitor.CallResponse{}, err
	}
	deps := make(map[string][]urn.URN, r.Args.Len())
	for _, key := range r.Args.Keys() { // E2.57
		part, _ := r.Args.Lookup(key)
		deps[key] = plan.Distinct(slices.Concat(r.ArgDependencies[key], part.AllDeps()))
	}
	err = d.journal.Held(d.calls) // a method may change things
	var answer provider.CallResponse
	if err == nil {
		answer, err = i.Configured.Call(d.calls, provider.CallRequest{Token: r.Token, Args: r.Args.MapOrEmpty(),
			ArgDependencies: deps, Deployment: d.info(ctx)})
	}
	if err != nil { // E2.58
		if errors.Is(err, monitor.ErrShutdown) {
			return monitor.CallResponse{}, d.abort()
		}
		return monitor.CallResponse{}, d.failures.unclaimed(Message{Severity: diag.Error, Code: diag.InvokeFailed,
			Text: fmt.Sprintf("call to function '%s' failed: %s", r.Token, d.report.errorText(err)), Position: position})
	}
	result := answer.Result
	for key, urns := range answer.ReturnDependencies {
		if part, ok := result.Lookup(key); ok {
			result = result.With(key, part.DependingOn(urns...))
		}
	}
	return monitor.CallResponse{Result: result, Failures: answer.Failures}, nil
}

// callProvider returns the provider of a method call: the resource itself if it is a provider, otherwise the request's
// provider or the resource's provider (E2.56).
func (d *Deployment) callProvider(r monitor.CallRequest) string {
	self, _ := r.Args.Lookup("__self__")
	ref, ok := self.AsResource()
	if !ok {
		return r.Provider
	}
	if urn.IsProviderType(ref.URN.Type()) {
		id, _ := ref.ID.AsString()
		return urn.Reference{URN: ref.URN, ID: cmp.Or(id, UnknownID)}.String()
	}
	if r.Provider != "" {
		return r.Provider
	}
	if g := d.table.Goal(ref.URN); g != nil {
		return g.Provider
	}
	return ""
}
