package providers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/engine/internal/resources"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// Registry keeps the providers of one operation: one loaded provider per provider resource (E3.9), by reference. It is
// also the provider of provider resources themselves: Check loads one, Create and Update configure it. It is safe for
// concurrent use.
type Registry struct {
	Options
	Packages Packages

	mu         sync.Mutex // guards the rest
	byRef      map[urn.Reference]*Instance
	candidates map[urn.URN]*candidate // checked, and not configured yet
	loaded     []provider.Provider    // everything that was ever loaded, to be closed
	defaults   map[string]*defaultProvider
	closed     bool
}

// Instance is a running provider resource. Callers read the fields below ready only after ready is closed: the
// registry holds the instance before its plugin has started, so that all callers share one start.
type Instance struct {
	ref   urn.Reference
	ready chan struct{}

	inputs     value.Value // as in its state, reserved keys included
	loaded     provider.Provider
	Configured provider.Configured
	// Unconfigured reports whether its configuration is not known in this preview (E3.15).
	Unconfigured bool
	extensions   parallel.Memo[string, struct{}, error] // those that it knows, by reference
}

// candidate is a provider between its check and its creation, update or same. Configuration may be checked more than
// once, and only the last check counts.
type candidate struct {
	inputs   value.Value // as checked
	provider provider.Provider
}

// Options are the parts that a registry works with.
type Options struct {
	Loader provider.Loader
	// Calls ends when calls in flight are given up. It is the operation's own lifetime, which no single request's context
	// has.
	Calls  context.Context
	Config Config
	DryRun bool
	NewID  func() string
	Table  *resources.Table
	// Extensions are those that the state knows, by reference (E3.57); Record keeps one more there.
	Extensions json.RawMessage
	Record     func(ref string, extension json.RawMessage) error
	Warn       func(about urn.URN, text string)
	Guard      func() // deferred where a goroutine begins

	// nil when that is not possible
	StackOutputs, StackResources func(ctx context.Context, name string) (value.Value, error)
}

// New makes the registry of an operation. The caller closes it.
func New(o Options) *Registry {
	return &Registry{Options: o, Packages: Packages{byRef: map[string]monitor.Package{}, refs: map[string]string{}},
		byRef: map[urn.Reference]*Instance{}, candidates: map[urn.URN]*candidate{}, defaults: map[string]*defaultProvider{}}
}

// Of returns the provider that manages a custom resource (E5.27).
func (r *Registry) Of(s *state.Resource) (provider.Configured, error) {
	if s.IsProvider() {
		return providerResources{registry: r}, nil
	}
	if s.Provider == "" {
		return nil, fmt.Errorf("unknown provider '' for resource %s", s.URN)
	}
	i, err := r.Get(s.Provider)
	if err != nil {
		return nil, err
	}
	if err := r.Extend(i, s.ExtensionRef, s.URN); err != nil {
		return nil, err
	}
	return i.Configured, nil
}

// Get returns the provider of a reference: the one registered in this operation, else one loaded from the state
// (E3.14, E4.8).
func (r *Registry) Get(ref string) (*Instance, error) {
	parsed, err := urn.ParseReference(ref)
	if err != nil {
		return nil, err
	}
	if parsed.ID == deniedID {
		return nil, fmt.Errorf("Default provider for '%s' disabled. An explicit provider is needed.", parsed.URN.Name())
	}
	r.mu.Lock()
	i := r.byRef[parsed]
	if i != nil {
		r.mu.Unlock()
		<-i.ready
		return i, nil
	}
	s := r.Table.Prior.Provider(ref)
	if s == nil {
		r.mu.Unlock()
		return nil, fmt.Errorf("could not find provider %s", ref)
	}
	i = r.add(parsed)
	r.mu.Unlock()
	i.inputs = s.Inputs
	p, err := r.load(parsed.URN.Package(), s.Inputs)
	if err != nil {
		i.Configured = newBroken(err)
	} else {
		r.configure(i, p)
	}
	close(i.ready)
	return i, nil
}

// add makes room for a reference. The caller holds mu, and closes ready when the instance is complete.
func (r *Registry) add(ref urn.Reference) *Instance {
	i := &Instance{ref: ref, ready: make(chan struct{})}
	r.byRef[ref] = i
	return i
}

// load starts a provider as its resource's inputs describe it.
func (r *Registry) load(pkg string, inputs value.Value) (provider.Provider, error) {
	if pkg == builtinPackage {
		return builtin{r}, nil
	}
	request := PackageOf(pkg, inputs)
	request.Config = r.Config.environment(pkg)
	p, err := r.Loader.Load(r.Calls, request)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.loaded = append(r.loaded, p)
	}
	r.mu.Unlock()
	if closed { // nobody else would end it
		return nil, errors.Join(context.Canceled, p.Close())
	}
	if info, err := p.Info(r.Calls); err == nil && request.Version != "" && info.Version != request.Version &&
		slices.Compare(versionNumbers(info.Version), versionNumbers(request.Version)) < 0 {
		r.Warn("", fmt.Sprintf( // E3.6
			"resource plugin %s is expected to have version >=%s, but has %s; the wrong version may be installed",
			request.Name, request.Version, cmp.Or(info.Version, "none")))
	}
	return p, nil
}

// configure gives a loaded provider the configuration of i.inputs. A failure shows when the provider is first used
// (E3.26).
func (r *Registry) configure(i *Instance, p provider.Provider) {
	i.loaded = p
	if i.inputs.ContainsUnknown() {
		i.Unconfigured = true
		i.Configured = unconfigured{func(what string) error {
			return fmt.Errorf("the configuration of the provider of the %s is not known yet", what)
		}}
		return
	}
	configured, err := p.Configure(r.Calls, provider.ConfigureRequest{
		Subject: provider.SubjectOf(i.ref.URN), ID: i.ref.ID, Inputs: WithoutInternal(i.inputs)})
	if err != nil {
		configured = newBroken(err)
	} else {
		configured = guarded{configured}
	}
	i.Configured = configured
}

// put makes a provider resource available under its reference; was is the reference that it had before, if another.
func (r *Registry) put(ref, was urn.Reference, inputs value.Value, p provider.Provider) {
	r.mu.Lock()
	i := r.add(ref)
	if was.URN != "" && was != ref {
		r.byRef[was] = i // E3.41
	}
	r.mu.Unlock()
	i.inputs = inputs
	r.configure(i, p)
	close(i.ready)
}

// Keep goes on with a provider resource that did not change, with its old inputs (E3.11, E5.20).
func (r *Registry) Keep(old, now *state.Resource) error {
	ref, was := urn.Reference{URN: now.URN, ID: now.ID}, urn.Reference{URN: old.URN, ID: old.ID}
	c := r.take(now.URN)
	r.mu.Lock()
	if i := r.byRef[was]; i != nil { // loaded from the state before (E7.28)
		r.byRef[ref] = i
		r.mu.Unlock()
		if c != nil {
			_ = c.provider.Close() // it is not needed any more
		}
		return nil
	}
	r.mu.Unlock()
	if c == nil {
		return fmt.Errorf("provider %s was not checked", now.URN)
	}
	r.put(ref, was, old.Inputs, c.provider)
	return nil
}

// take removes the candidate for a provider resource.
func (r *Registry) take(u urn.URN) *candidate {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.candidates[u]
	delete(r.candidates, u)
	return c
}

// Replaces asks the provider that a resource has now whether the resource can stay, coming from another one (E3.35).
func (r *Registry) Replaces(was *state.Resource, now urn.Reference) (bool, error) {
	i, err := r.Get(now.String())
	if err != nil {
		return false, err
	}
	if i.loaded == nil {
		return false, nil
	}
	v, err := diffConfig(r.Calls, i.loaded, r.DryRun, i.ref, was, i.inputs, nil)
	return v.Replace(), err
}

// diffConfig compares configurations; a provider that does not know how never asks for a replacement (E3.19, E3.20).
func diffConfig(ctx context.Context, p provider.Provider, preview bool, about urn.Reference, was *state.Resource,
	inputs value.Value,
	ignore []string) (provider.DiffResponse, error) {
	v, err := p.DiffConfig(ctx, provider.DiffRequest{
		Subject: provider.SubjectOf(about.URN), ID: about.ID, OldInputs: WithoutInternal(was.Inputs), OldOutputs: was.Outputs,
		News: WithoutInternal(inputs), IgnoreChanges: ignore, AllowUnknowns: preview})
	if isUnimplemented(err) {
		v, err = provider.DiffResponse{}, nil
	}
	if err == nil && v.Changes == provider.DiffUnknown && !v.Replace() {
		v.Changes = provider.DiffSome
		if value.SameContent(was.Outputs, WithoutInternal(inputs)) {
			v.Changes = provider.DiffNone
		}
	}
	return v, err
}

// isUnimplemented reports whether a provider does not know the call, which is no failure for optional ones.
func isUnimplemented(err error) bool {
	failure, ok := errors.AsType[*provider.Error](err)
	return ok && failure.Unimplemented
}

// Cancel asks every provider to end what is in flight soon (E3.55). It returns when all have answered.
func (r *Registry) Cancel(ctx context.Context) {
	r.mu.Lock()
	loaded := slices.Clip(r.loaded)
	r.mu.Unlock()
	r.each(loaded, func(p provider.Provider) { _ = p.Cancel(ctx) }) // providers need not know how
}

// Close ends every provider, all at once, and lets none be loaded after that.
func (r *Registry) Close() {
	r.mu.Lock()
	loaded := r.loaded
	r.loaded, r.closed = nil, true
	r.mu.Unlock()
	r.each(loaded, func(p provider.Provider) { _ = p.Close() })
}

// each calls do for all providers of a list at once, and returns when all calls have returned.
func (r *Registry) each(list []provider.Provider, do func(provider.Provider)) {
	var group sync.WaitGroup
	for _, p := range list {
		group.Go(func() {
			defer r.Guard()
			do(p)
		})
	}
	group.Wait()
}

// broken is a provider that could not be loaded or configured: it answers everything with the error.
type broken struct {
	provider.Refusing
	err error
}

func newBroken(err error) broken {
	return broken{Refusing: func(string) error { return err }, err: err}
}

// List refuses.
func (b broken) List(context.Context, provider.ListRequest) (provider.ListResponse, error) {
	return provider.ListResponse{}, b.err
}

// unconfigured stands for a provider whose configuration is not known in a preview (E3.52). The engine answers
// functions and components itself.
type unconfigured struct{ provider.Refusing }

func (unconfigured) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	return provider.CheckResponse{Inputs: r.News}, nil
}
func (unconfigured) Diff(context.Context, provider.DiffRequest) (provider.DiffResponse, error) {
	return provider.DiffResponse{Changes: provider.DiffUnavailable}, nil
}
func (unconfigured) Create(context.Context, provider.CreateRequest) (provider.CreateResponse, error) {
	return provider.CreateResponse{Outputs: value.EmptyMap()}, nil
}
func (unconfigured) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	return provider.ReadResponse{ID: r.ID, Outputs: value.EmptyMap()}, nil
}
func (unconfigured) Update(context.Context, provider.UpdateRequest) (provider.UpdateResponse, error) {
	return provider.UpdateResponse{Outputs: value.EmptyMap()}, nil
}
func (unconfigured) Call(context.Context, provider.CallRequest) (provider.CallResponse, error) {
	return provider.CallResponse{Result: value.Unknown(value.KindMap)}, nil
}

// defaultProvider is a default provider of this operation, or one on its way (E3.28).
type defaultProvider struct {
	done chan struct{}
	ref  string
	err  error
}

// Default returns the reference of a package's default provider. The first one who asks registers it; the others wait
// for that, with wait.
func (r *Registry) Default(p monitor.Package, register func() (string, error), wait func(done <-chan struct{}) error) (
	string, error) {
	key := fmt.Sprintf("%q %q %q %q", PackageName(p), p.Name, VersionOf(p), p.DownloadURL)
	r.mu.Lock()
	known := r.defaults[key]
	if known == nil {
		known = &defaultProvider{done: make(chan struct{})}
		r.defaults[key] = known
		r.mu.Unlock()
		known.ref, known.err = register()
		close(known.done)
		return known.ref, known.err
	}
	r.mu.Unlock()
	if err := wait(known.done); err != nil {
		select {
		case <-known.done:
		default:
			return "", err
		}
	}
	return known.ref, known.err
}
