package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

// cloud is a provider for tests, with all objects that it manages. It implements provider.Loader; each load starts a
// separate process. The names of properties control it: a change of a property "repl…" forces a replacement, a change
// of "dbr…" a replacement that deletes first, and all other changes are made in place. Check rejects a property "bad",
// and generates a name if there is a property "named". Outputs are the inputs and "out", which is only known after a
// create.
type cloud struct {
	mu      sync.Mutex
	objects map[string]value.Value // by ID
	owner   map[string]string      // ID of the owner (deletedWith), by the ID of the object
	with    map[string]urn.URN     // the owner that the program declares, by ID
	counter map[string]int         // number of objects so far, by name
	fails   map[string]failure     // by "<operation> <name>"
	log     func(format string, args ...any)
	open    int                            // loaded providers that were not closed
	checked func(name string, seed []byte) // called for each check; may be nil
	guessed bool                           // Diff was called with unknown inputs
	monitor monitor.Monitor                // components register their children there
}

type failure struct {
	kind    string // plain, unclear, partial, crash
	message string
	times   int
}

func newCloud() *cloud {
	return &cloud{objects: map[string]value.Value{}, counter: map[string]int{}, owner: map[string]string{},
		with: map[string]urn.URN{}, fails: map[string]failure{},
		log: func(string, ...any) {}}
}

func (c *cloud) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	if p.Name == "missing" {
		return nil, &provider.MissingError{Package: p.Name, Looked: []string{"the plugin directory"}}
	}
	c.mu.Lock()
	c.open++
	c.mu.Unlock()
	made := &process{cloud: c, name: p.Name, version: p.Version}
	z := p.Parameterization
	if z == nil {
		return made, nil
	}
	answer, err := made.Parameterize(ctx, provider.ParameterizeRequest{Name: z.Name, Version: z.Version, Value: z.Value})
	if err == nil && answer.Name != z.Name { // E3.8
		err = fmt.Errorf("parameterize response name %q does not match expected package %q", answer.Name, z.Name)
	}
	if err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return made, nil
}

// intercepting is a cloud with wrapped providers: wrap returns a provider that answers some calls differently.
type intercepting struct {
	*cloud
	wrap func(*intercepted) answering
}

// answering is a provider before and after it is configured.
type answering interface {
	provider.Provider
	provider.Configured
}

// intercepted is embedded by a provider of intercepting; it passes all other calls to the cloud's own provider.
type intercepted struct {
	provider.Provider
	provider.Configured
	outer answering
}

func (i intercepting) Load(ctx context.Context, p provider.Package) (provider.Provider, error) {
	inner, err := i.cloud.Load(ctx, p)
	made := &intercepted{Provider: inner}
	made.outer = i.wrap(made)
	return made.outer, err
}

func (i *intercepted) Configure(ctx context.Context, r provider.ConfigureRequest) (_ provider.Configured, err error) {
	i.Configured, err = i.Provider.Configure(ctx, r)
	return i.outer, err
}

// trip returns the failure that is planned for an operation, if any.
func (c *cloud) trip(operation, name string) (failure, bool) {
	key := operation + " " + name
	f, ok := c.fails[key]
	if ok && f.times > 0 {
		if f.times--; f.times == 0 {
			delete(c.fails, key)
		} else {
			c.fails[key] = f
		}
	}
	return f, ok
}

func (f failure) err(id string, outputs value.Value) error {
	switch f.kind {
	case "unclear":
		return &provider.Error{Outcome: provider.Unclear, Message: f.message}
	case "partial":
		return &provider.Error{Outcome: provider.Partial, Message: f.message, ID: id, Outputs: outputs,
			Reasons: []string{f.message}}
	case "crash":
		return &provider.CrashError{Plugin: "test", Exit: "exit status 2", Output: f.message}
	}
	return &provider.Error{Message: f.message}
}

type process struct {
	cloud         *cloud
	name, version string
	closed        bool
}

func (p *process) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: p.name, Version: p.version}, nil
}
func (p *process) Parameterize(_ context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	p.cloud.log("Parameterize %s %s %s %q", p.name, r.Name, r.Version, r.Value)
	if string(r.Value) == "wrong" {
		return provider.ParameterizeResponse{Name: "another"}, nil
	}
	return provider.ParameterizeResponse{Name: r.Name, Version: r.Version}, nil
}

// Schema fails: the engine needs no schema in any scenario (E3.17).
func (p *process) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return nil, errors.New("not here")
}
func (p *process) CheckConfig(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.cloud.log("CheckConfig %s olds=%s news=%s", r.Name, r.Olds, r.News)
	return provider.CheckResponse{Inputs: r.News}, nil
}
func (p *process) DiffConfig(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.cloud.log("DiffConfig %s olds=%s news=%s", r.Name, r.OldInputs, r.News)
	return diffOf(r), nil
}
func (p *process) Configure(_ context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	p.cloud.log("Configure %s %s", r.Name, r.Inputs)
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if f, ok := p.cloud.trip("configure", r.Name); ok {
		return nil, f.err("", value.Null)
	}
	return p, nil
}
func (p *process) Cancel(context.Context) error { return nil }
func (p *process) Close() error {
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if !p.closed {
		p.closed = true
		p.cloud.open--
	}
	return nil
}

func diffOf(r provider.DiffRequest) provider.DiffResponse {
	answer := provider.DiffResponse{Changes: provider.DiffNone}
	if stable, ok := r.News.Get("stable").AsString(); ok {
		answer.Stables = strings.Split(stable, ",")
	}
	seen := map[string]bool{}
	for _, c := range value.Changes(r.OldInputs, r.News) {
		key := c.Path[0].Key
		if seen[key] {
			continue
		}
		seen[key] = true
		answer.Changes = provider.DiffSome
		answer.Diffs = append(answer.Diffs, key)
		if strings.HasPrefix(key, "repl") || strings.HasPrefix(key, "dbr") {
			answer.Replaces = append(answer.Replaces, key)
			answer.DeleteBeforeReplace = answer.DeleteBeforeReplace || strings.HasPrefix(key, "dbr")
		}
		if key == "auto" {
			return provider.DiffResponse{Changes: provider.DiffUnknown}
		}
	}
	return answer
}

func (p *process) Check(_ context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	p.cloud.log("Check %s olds=%s news=%s%s", r.Name, r.Olds, r.News, p.naming(r.Autonaming))
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if f, ok := p.cloud.trip("check", r.Name); ok {
		return provider.CheckResponse{}, f.err("", value.Null)
	}
	if p.cloud.checked != nil {
		p.cloud.checked(r.Name, r.RandomSeed)
	}
	if r.News.Has("bad") {
		return provider.CheckResponse{Failures: []provider.Failure{{Property: "bad", Reason: "it is bad"}}}, nil
	}
	if r.News.Has("named") { // it generates a different name each time
		p.cloud.counter["names"]++
		r.News = r.News.With("name", value.String(fmt.Sprintf("%s-%d", r.Name, p.cloud.counter["names"])))
	}
	return provider.CheckResponse{Inputs: r.News, AutonamingIgnored: r.Autonaming != nil && p.name == "other"}, nil
}

// naming returns the naming in a check request, for golden files; the package other does not support it.
func (p *process) naming(a *provider.Autonaming) string {
	if a == nil || p.name == "other" {
		return ""
	}
	return fmt.Sprintf(" %s %q", a.Mode, a.Name)
}

func (p *process) Diff(_ context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	p.cloud.log("Diff %s %s olds=%s news=%s", r.Name, r.ID, r.OldInputs, r.News)
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if f, ok := p.cloud.trip("diff", r.Name); ok {
		return provider.DiffResponse{}, f.err("", value.Null)
	}
	p.cloud.guessed = p.cloud.guessed || r.News.ContainsUnknown()
	return diffOf(r), nil
}

func (p *process) Create(_ context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	c := p.cloud
	c.log("Create %s %s%s%s", r.Name, r.Inputs, previewed(r.Preview), timed(r.Timeout))
	p.tellViews(r.Views, r.Inputs)
	if r.Preview {
		return provider.CreateResponse{Outputs: r.Inputs}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, failing := c.trip("create", r.Name)
	if failing && f.kind != "partial" {
		return provider.CreateResponse{}, f.err("", value.Null)
	}
	c.counter[r.Name]++
	id := fmt.Sprintf("%s-%d", r.Name, c.counter[r.Name])
	outputs := r.Inputs.With("out", value.String("out of "+id))
	c.objects[id] = outputs
	if failing {
		return provider.CreateResponse{}, f.err(id, outputs)
	}
	return provider.CreateResponse{ID: id, Outputs: outputs, RefreshBeforeUpdate: outputs.Has("rbu")}, nil
}

func (p *process) Update(_ context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	c := p.cloud
	c.log("Update %s %s olds=%s news=%s%s", r.Name, r.ID, r.OldOutputs, r.News, previewed(r.Preview))
	p.tellViews(r.Views, r.News)
	outputs := r.News
	if out, ok := r.OldOutputs.Lookup("out"); ok {
		outputs = outputs.With("out", out)
	}
	if r.Preview {
		if late, ok := r.News.Get("late").AsString(); ok { // an output that is unknown before the update
			outputs = outputs.With(late, value.Unknown(value.KindString))
		}
		return provider.UpdateResponse{Outputs: outputs}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, failing := c.trip("update", r.Name)
	if failing && f.kind != "partial" {
		return provider.UpdateResponse{}, f.err(r.ID, value.Null)
	}
	if _, ok := c.objects[r.ID]; !ok {
		return provider.UpdateResponse{}, &provider.Error{Message: "there is no " + r.ID}
	}
	c.objects[r.ID] = outputs
	if failing {
		return provider.UpdateResponse{}, f.err(r.ID, outputs)
	}
	return provider.UpdateResponse{Outputs: outputs, RefreshBeforeUpdate: outputs.Has("rbu")}, nil
}

func (p *process) Delete(_ context.Context, r provider.DeleteRequest) error {
	c := p.cloud
	c.log("Delete %s %s%s", r.Name, r.ID, timed(r.Timeout))
	p.tellViews(r.Views, value.EmptyMap())
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.trip("delete", r.Name); ok {
		return f.err(r.ID, value.Null)
	}
	if _, ok := c.objects[r.ID]; !ok {
		return &provider.Error{Message: "there is no " + r.ID}
	}
	c.remove(r.ID)
	return nil
}

// remove deletes an object and all objects that belong to it. The caller holds mu.
func (c *cloud) remove(id string) {
	delete(c.objects, id)
	for other, owner := range c.owner {
		if owner == id {
			delete(c.owner, other)
			c.remove(other)
		}
	}
}

func (p *process) Read(_ context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	c := p.cloud
	c.log("Read %s %s inputs=%s", r.Name, r.ID, r.Inputs)
	c.mu.Lock()
	defer c.mu.Unlock()
	object, ok := c.objects[r.ID]
	if ok {
		p.tellViews(r.Views, object)
	}
	if f, failing := c.trip("read", r.Name); failing {
		return provider.ReadResponse{}, f.err(r.ID, object)
	}
	if !ok {
		return provider.ReadResponse{}, nil
	}
	return provider.ReadResponse{ID: r.ID, Inputs: object.Without("out"), Outputs: object,
		RefreshBeforeUpdate: object.Has("rbu")}, nil
}

func (p *process) Invoke(_ context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	p.cloud.log("Invoke %s %s%s", r.Token, r.Args, previewed(r.Preview))
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if f, ok := p.cloud.trip("invoke", r.Token); ok {
		return provider.InvokeResponse{}, f.err("", value.Null)
	}
	return provider.InvokeResponse{Result: r.Args}, nil
}
func (p *process) Call(_ context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	p.cloud.log("Call %s %s deps=%v at %s", r.Token, r.Args.Without("__self__"), r.ArgDependencies["x"],
		r.Deployment.MonitorEndpoint)
	p.cloud.mu.Lock()
	defer p.cloud.mu.Unlock()
	if f, ok := p.cloud.trip("call", r.Token); ok {
		return provider.CallResponse{}, f.err("", value.Null)
	}
	return provider.CallResponse{Result: r.Args.Without("__self__")}, nil
}

// Construct creates a component and a child.
func (p *process) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	p.cloud.log("Construct %s %s inputs=%s deps=%v at %s", r.Type, r.Name, r.Inputs, r.InputDependencies["v"],
		r.Deployment.MonitorEndpoint)
	p.cloud.mu.Lock()
	f, failing := p.cloud.trip("construct", r.Name)
	p.cloud.mu.Unlock()
	if failing {
		return provider.ConstructResponse{}, f.err("", value.Null)
	}
	m := p.cloud.monitor
	self, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: r.Type, Name: r.Name, Parent: r.Parent,
		Protect: r.Protect})
	if err != nil {
		return provider.ConstructResponse{}, err
	}
	v, _ := r.Inputs.Lookup("v")
	child, err := m.RegisterResource(ctx, monitor.RegisterRequest{Type: "test:index:Res", Name: r.Name + "-child",
		Parent: self.URN, Custom: true,
		Inputs:               value.MapOf(value.Entry{Key: "v", Value: v}),
		PropertyDependencies: urn.DependenciesOf(map[string][]urn.URN{"v": r.InputDependencies["v"]}),
		Dependencies:         r.InputDependencies["v"]})
	if err != nil {
		return provider.ConstructResponse{}, err
	}
	outputs := value.MapOf(value.Entry{Key: "child", Value: child.ID})
	if err := m.RegisterOutputs(ctx, self.URN, outputs); err != nil {
		return provider.ConstructResponse{}, err
	}
	return provider.ConstructResponse{URN: self.URN, Outputs: outputs,
		StateDependencies: map[string][]urn.URN{"child": {child.URN}}}, nil
}

func previewed(preview bool) string {
	if preview {
		return " preview"
	}
	return ""
}

func timed(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return fmt.Sprintf(" timeout=%g", seconds)
}

// inventory returns the objects of the cloud, for golden files.
func (c *cloud) inventory() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.objects))
}
