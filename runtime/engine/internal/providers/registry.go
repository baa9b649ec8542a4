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

// Registry holds the providers of one operation by reference, one loaded provider for each provider resource (E3.9). It
// is safe for concurrent use.
type Registry struct {
	Options
	Packages Packages

	mu         sync.Mutex // guards the rest
	byRef      map[urn.Reference]*Instance
	candidates map[urn.URN]*candidate // checked, but not configured yet
	loaded     []provider.Provider    // every provider that was loaded, to be closed
	defaults   map[string]*defaultProvider
	closed     bool
}

// Instance is a running provider resource. The fields below ready may be read after ready is closed. The registry adds
// the instance before its plugin starts, so that all callers share one start.
type Instance struct {
	ref   urn.Reference
	ready chan struct{}

	inputs     value.Value // as in its state, including the engine's keys
	loaded     provider.Provider
	Configured provider.Configured
	// Unconfigured reports whether its configuration is unknown in this preview (E3.15).
	Unconfigured bool
	extensions   parallel.Memo[string, struct{}, error] // loaded extensions, by reference
}

// candidate is a provider between its check and its creation, update or same. The configuration may be checked more
// than once; only the last check counts.
type candidate struct {
	inputs   value.Value // as checked
	provider provider.Provider
}

// Options are the dependencies of a registry.
type Options struct {
	Loader provider.Loader
	// Calls is cancelled when calls in flight are abandoned. It is a field because it bounds the operation, not a
	// single request.
	Calls  context.Context
	Config Config
	DryRun bool
	NewID  func() string
	Table  *resources.Table
	// Extensions holds the extensions in the state by reference (E3.57); Record adds one to the state.
	Extensions json.RawMessage
	Record     func(ref string, extension json.RawMessage) error
	Warn       func(about urn.URN, text string)
	Guard      func() // deferred first in each goroutine

	// StackOutputs and StackResources may be nil if that is not supported.
	StackOutputs, StackResources func(ctx context.Context, name string) (value.Value, error)
}

// New returns a registry for an operation. The caller closes it.
func New(o Options) *Registry {
	return &Registry{Options: o, Packages: Packages{byRef: map[string]monitor.Package{}, refs: map[string]string{}},
		byRef: map[urn.Reference]*Instance{}, candidates: map[urn.URN]*candidate{},
		defaults: map[string]*defaultProvider{}}
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

// Get returns the provider with a reference: the one registered in this operation, or else one loaded from the state
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

// add adds an incomplete instance. The caller holds mu, and closes ready when the instance is complete.
func (r *Registry) add(ref urn.Reference) *Instance {
	i := &Instance{ref: ref, ready: make(chan struct{})}
	r.byRef[ref] = i
	return i
}

// load starts the provider that its resource's inputs describe.
func (r *Registry) load(pkg string, inputs value.Value) (provider.Provider, error) {
	if pkg == builtinPackage {
		return builtin{r: r}, nil
	}
	request := PackageOf(pkg, inputs)
	request.Config = r.Config.environment(pkg)
	request.ConfigHasSecrets = runsPrograms(pkg) && len(r.Config.Secret) > 0
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
	if closed { // Close does not know it
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

// configure configures a loaded provider with i.inputs. A failure is returned by the first use of the provider (E3.26).
func (r *Registry) configure(i *Instance, p provider.Provider) {
	i.loaded = p
	if i.inputs.ContainsUnknown() {
		i.Unconfigured = true
		i.Configured = unconfigured{func(subject string) error {
			return fmt.Errorf("the configuration of the provider of the %s is not known yet", subject)
		}}
		return
	}
	configured, err := p.Configure(r.Calls, provider.ConfigureRequest{
		Subject: provider.SubjectOf(i.ref.URN), ID: i.ref.ID, Inputs: WithoutInternal(i.inputs)})
	if err != nil {
		i.Configured = newBroken(err)
		return
	}
	i.Configured = guarded{configured}
}

// put makes a provider resource available under its reference and, if it differs, its former one.
func (r *Registry) put(ref, former urn.Reference, inputs value.Value, p provider.Provider) {
	r.mu.Lock()
	i := r.add(ref)
	if former.URN != "" && former != ref {
		r.byRef[former] = i // E3.41
	}
	r.mu.Unlock()
	i.inputs = inputs
	r.configure(i, p)
	close(i.ready)
}

// Keep continues with an unchanged provider resource and its prior inputs (E3.11, E5.20).
func (r *Registry) Keep(old, now *state.Resource) error {
	ref, former := urn.Reference{URN: now.URN, ID: now.ID}, urn.Reference{URN: old.URN, ID: old.ID}
	c := r.take(now.URN)
	r.mu.Lock()
	if i := r.byRef[former]; i != nil { // already loaded from the prior state (E7.28)
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
	r.put(ref, former, old.Inputs, c.provider)
	return nil
}

// take removes and returns the candidate for a provider resource; nil if there is none.
func (r *Registry) take(u urn.URN) *candidate {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.candidates[u]
	delete(r.candidates, u)
	return c
}

// Replaces asks a resource's new provider whether moving from the old one requires a replacement (E3.35).
func (r *Registry) Replaces(old *state.Resource, now urn.Reference) (bool, error) {
	i, err := r.Get(now.String())
	if err != nil {
		return false, err
	}
	if i.loaded == nil {
		return false, nil
	}
	v, err := diffConfig(r.Calls, i.loaded, r.DryRun, i.ref, old, i.inputs, nil)
	return v.Replace(), err
}

// diffConfig compares configurations; a provider without DiffConfig never requires a replacement (E3.19, E3.20).
func diffConfig(ctx context.Context, p provider.Provider, preview bool, ref urn.Reference, old *state.Resource,
	inputs value.Value,
	ignore []string) (provider.DiffResponse, error) {
	v, err := p.DiffConfig(ctx, provider.DiffRequest{
		Subject: provider.SubjectOf(ref.URN), ID: ref.ID, OldInputs: WithoutInternal(
			old.Inputs), OldOutputs: old.Outputs,
		News: WithoutInternal(inputs), IgnoreChanges: ignore, AllowUnknowns: preview})
	if isUnimplemented(err) {
		v, err = provider.DiffResponse{}, nil
	}
	if err == nil && v.Changes == provider.DiffUnknown && !v.Replace() {
		v.Changes = provider.DiffSome
		if value.SameContent(old.Outputs, WithoutInternal(inputs)) {
			v.Changes = provider.DiffNone
		}
	}
	return v, err
}

// isUnimplemented reports whether a provider does not implement a call; that is no failure for optional calls.
func isUnimplemented(err error) bool {
	failure, ok := errors.AsType[*provider.Error](err)
	return ok && failure.Unimplemented
}

// Cancel asks every provider to cancel its calls in flight (E3.55). It returns when all have answered.
func (r *Registry) Cancel(ctx context.Context) {
	r.mu.Lock()
	loaded := slices.Clip(r.loaded)
	r.mu.Unlock()
	r.each(loaded, func(p provider.Provider) { _ = p.Cancel(ctx) }) // providers need not implement it
}

// Close closes all providers concurrently, and prevents further loads.
func (r *Registry) Close() {
	r.mu.Lock()
	loaded := r.loaded
	r.loaded, r.closed = nil, true
	r.mu.Unlock()
	r.each(loaded, func(p provider.Provider) { _ = p.Close() })
}

// each calls do for all providers of list concurrently, and returns when all calls have returned.
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

// broken is a provider that could not be loaded or configured: every call returns the error.
type broken struct {
	provider.Refusing
	err error
}

func newBroken(err error) broken {
	return broken{Refusing: func(string) error { return err }, err: err}
}

// List returns the error.
func (b broken) List(context.Context, provider.ListRequest) (provider.ListResponse, error) {
	return provider.ListResponse{}, b.err
}

// unconfigured stands for a provider whose configuration is unknown in a preview (E3.52). The engine itself answers
// function calls and construction requests.
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

// defaultProvider is a default provider of this operation, which may still be starting (E3.28).
type defaultProvider struct {
	done chan struct{}
	ref  string
	err  error
}

// Default returns the reference of a package's default provider. The first caller registers it; the others call wait
// until that is done.
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
	if err := wait(known.done); err != nil && !resources.Closed(known.done) {
		return "", err
	}
	return known.ref, known.err
}
