// Package monitortest provides a monitor for tests of programs.
package monitortest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Recorder is a Monitor for tests: it records the requests of a program and answers from a script. Set the exported
// fields before use. A nil function stands for a provider that accepts everything: the ID of a resource is id-<name>,
// unknown in a preview, outputs equal inputs, and results equal arguments.
type Recorder struct {
	Deployment monitor.Info
	Register   func(monitor.RegisterRequest) (monitor.RegisterResponse, error)
	Read       func(monitor.ReadRequest) (monitor.ReadResponse, error)
	Function   func(monitor.InvokeRequest) (monitor.InvokeResponse, error)
	Method     func(monitor.CallRequest) (monitor.CallResponse, error)

	mu       sync.Mutex // guards the rest
	requests []any
	outputs  map[urn.URN]value.Value
	// The transforms of the program: for the stack, and for the descendants of a resource.
	stack   []monitor.Transform
	below   map[urn.URN][]monitor.Transform
	invokes []monitor.InvokeTransform
}

var (
	_ monitor.Monitor            = (*Recorder)(nil)
	_ monitor.TransformRegistrar = (*Recorder)(nil)
)

// RegisterStackTransform adds a transform for later registrations; the Recorder records the transformed ones.
func (r *Recorder) RegisterStackTransform(_ context.Context, t monitor.Transform) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stack = append(r.stack, t)
	return nil
}

// RegisterStackInvokeTransform adds a transform for later calls; the Recorder records the transformed ones.
func (r *Recorder) RegisterStackInvokeTransform(_ context.Context, t monitor.InvokeTransform) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invokes = append(r.invokes, t)
	return nil
}

// transformed applies the transforms of a resource, of its ancestors, and of the stack.
func (r *Recorder) transformed(ctx context.Context, g monitor.RegisterRequest) (monitor.RegisterRequest, error) {
	r.mu.Lock()
	lower := append(slices.Clone(g.Transforms), r.below[g.Parent]...)
	all := append(slices.Clone(lower), r.stack...)
	if r.below == nil {
		r.below = make(map[urn.URN][]monitor.Transform)
	}
	r.below[r.urn(g.Parent, g.Type, g.Name)] = lower
	r.mu.Unlock()
	for _, transform := range all {
		var err error
		if g, err = transform(ctx, g); err != nil {
			return g, err
		}
	}
	return g, nil
}

func (r *Recorder) record(request any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
}

// Requests returns the requests so far in order of arrival: RegisterRequest, ReadRequest, InvokeRequest, CallRequest
// and Package.
func (r *Recorder) Requests() []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Registered returns the registration of the resource with a name, and whether there was one.
func (r *Recorder) Registered(name string) (monitor.RegisterRequest, bool) {
	for _, request := range r.Requests() {
		if g, ok := request.(monitor.RegisterRequest); ok && g.Name == name {
			return g, true
		}
	}
	return monitor.RegisterRequest{}, false
}

// Outputs returns the registered outputs of a resource; null if there are none.
func (r *Recorder) Outputs(u urn.URN) value.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outputs[u]
}

// Info returns the Deployment field.
func (r *Recorder) Info(context.Context) (monitor.Info, error) { return r.Deployment, nil }

// SupportsFeature returns true for every feature.
func (r *Recorder) SupportsFeature(context.Context, string) (bool, error) { return true, nil }

// RegisterPackage returns a reference built from name and version.
func (r *Recorder) RegisterPackage(_ context.Context, p monitor.Package) (string, error) {
	r.record(p)
	ref := p.Name + "@" + p.Version
	if q := p.Parameterization; q != nil {
		ref = q.Name + "@" + q.Version + " by " + ref
	}
	return ref, nil
}

// RegisterResource answers from the script.
func (r *Recorder) RegisterResource(ctx context.Context, g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
	g, err := r.transformed(ctx, g)
	if err != nil {
		return monitor.RegisterResponse{}, err
	}
	r.record(g)
	response := monitor.RegisterResponse{
		URN: r.urn(g.Parent, g.Type, g.Name), Outputs: g.Inputs, Known: !r.Deployment.DryRun,
	}
	if g.Custom {
		response.ID = value.String("id-" + g.Name)
		if r.Deployment.DryRun {
			response.ID = value.Unknown(value.KindString)
		}
	}
	if r.Register == nil || g.Type == urn.RootStackType {
		return response, nil
	}
	scripted, err := r.Register(g)
	scripted.URN = cmp.Or(scripted.URN, response.URN)
	return scripted, err
}

func (r *Recorder) urn(parent urn.URN, typ, name string) urn.URN {
	return urn.New(r.Deployment.Stack, r.Deployment.Project, parent, typ, name)
}

// RegisterOutputs records the outputs.
func (r *Recorder) RegisterOutputs(_ context.Context, u urn.URN, outputs value.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outputs == nil {
		r.outputs = make(map[urn.URN]value.Value)
	}
	r.outputs[u] = outputs
	return nil
}

// ReadResource answers from the script.
func (r *Recorder) ReadResource(_ context.Context, g monitor.ReadRequest) (monitor.ReadResponse, error) {
	r.record(g)
	response := monitor.ReadResponse{URN: r.urn(g.Parent, g.Type, g.Name), ID: g.ID, Outputs: g.State,
		Known: g.ID.IsKnown()}
	if r.Read == nil {
		return response, nil
	}
	scripted, err := r.Read(g)
	scripted.URN = cmp.Or(scripted.URN, response.URN)
	return scripted, err
}

// Invoke answers from the script.
func (r *Recorder) Invoke(ctx context.Context, g monitor.InvokeRequest) (monitor.InvokeResponse, error) {
	r.mu.Lock()
	transforms := r.invokes
	r.mu.Unlock()
	for _, transform := range transforms {
		var err error
		if g, err = transform(ctx, g); err != nil {
			return monitor.InvokeResponse{}, err
		}
	}
	r.record(g)
	if r.Function == nil {
		return monitor.InvokeResponse{Result: g.Args.Bare()}, nil
	}
	return r.Function(g)
}

// Call answers from the script.
func (r *Recorder) Call(_ context.Context, g monitor.CallRequest) (monitor.CallResponse, error) {
	r.record(g)
	if r.Method == nil {
		return monitor.CallResponse{Result: g.Args}, nil
	}
	return r.Method(g)
}

// SignalAndWaitForShutdown does not wait.
func (r *Recorder) SignalAndWaitForShutdown(context.Context) error { return nil }

// String returns all requests, one paragraph each, for golden files. It shows the plaintext of secrets as secret(…):
// scripts hold no real secrets.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, request := range r.Requests() {
		p := paragraph{b: &b}
		switch g := request.(type) {
		case monitor.RegisterRequest:
			p.register(g)
		case monitor.ReadRequest:
			p.head("read", g.Type, g.Name, g.SourcePosition)
			p.value("id", g.ID)
			p.inputs(g.State, nil)
			p.urns("parent", g.Parent)
			p.urns("dependencies", g.Dependencies...)
			p.text("provider", shortReference(g.Provider))
			p.texts("secret outputs", g.AdditionalSecretOutputs)
			p.pack(g.Plugin)
		case monitor.InvokeRequest:
			p.head("invoke", g.Token, "", g.SourcePosition)
			p.inputs(g.Args, nil)
			p.urns("parent", g.Parent)
			p.urns("depends on", g.DependsOn...)
			p.text("provider", shortReference(g.Provider))
			p.pack(g.Plugin)
		case monitor.CallRequest:
			p.head("call", g.Token, "", g.SourcePosition)
			p.inputs(g.Args, g.ArgDependencies)
			p.text("provider", shortReference(g.Provider))
			p.pack(g.Plugin)
		case monitor.Package:
			p.head("package", g.Name, g.Version, nil)
			if q := g.Parameterization; q != nil {
				p.text("as", q.Name+" "+q.Version+" "+strconv.Quote(string(q.Value)))
			}
		}
	}
	return b.String()
}

// paragraph writes the text form of one request, without empty properties.
type paragraph struct{ b *strings.Builder }

func (p paragraph) head(verb, token, name string, pos *monitor.Position) {
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	p.b.WriteString(verb + " " + token)
	if name != "" {
		p.b.WriteString(" " + strconv.Quote(name))
	}
	if pos != nil {
		fmt.Fprintf(p.b, " at %d:%d", pos.Line, pos.Column)
	}
	p.b.WriteByte('\n')
}

func (p paragraph) text(label, text string) {
	if text != "" {
		p.b.WriteString("  " + label + ": " + text + "\n")
	}
}

func (p paragraph) texts(label string, texts []string) { p.text(label, strings.Join(texts, ", ")) }

func (p paragraph) flag(label string, set *bool) {
	if set != nil {
		p.text(label, strconv.FormatBool(*set))
	}
}

func (p paragraph) urns(label string, urns ...urn.URN) {
	texts := make([]string, 0, len(urns))
	for _, u := range urns {
		if u != "" {
			texts = append(texts, shortURN(u))
		}
	}
	p.texts(label, texts)
}

func (p paragraph) value(label string, v value.Value) {
	if !v.IsNull() {
		p.text(label, render(v))
	}
}

func (p paragraph) inputs(m value.Value, deps map[string][]urn.URN) {
	for i, key := range m.Keys() {
		text := render(m.At(i))
		if len(deps[key]) > 0 {
			names := make([]string, len(deps[key]))
			for j, u := range deps[key] {
				names[j] = shortURN(u)
			}
			text += "  <- " + strings.Join(names, ", ")
		}
		p.text("."+key, text)
	}
}

func (p paragraph) pack(plugin monitor.Plugin) {
	p.text("version", plugin.Version)
	p.text("plugin from", plugin.PluginDownloadURL)
	p.text("package", plugin.PackageRef)
}

func (p paragraph) register(g monitor.RegisterRequest) {
	p.head("register", g.Type, g.Name, g.SourcePosition)
	p.inputs(g.Inputs, g.PropertyDependencies.Map())
	switch {
	case g.Remote:
		p.text("kind", "remote component")
	case !g.Custom:
		p.text("kind", "component")
	}
	p.urns("parent", g.Parent)
	p.urns("dependencies", g.Dependencies...)
	p.text("provider", shortReference(g.Provider))
	for _, pkg := range slices.Sorted(maps.Keys(g.Providers)) {
		p.text("provider of "+pkg, shortReference(g.Providers[pkg]))
	}
	p.pack(g.Plugin)
	p.flag("protect", g.Protect)
	p.flag("retain on delete", g.RetainOnDelete)
	p.flag("delete before replace", g.DeleteBeforeReplace)
	p.texts("ignore changes", g.IgnoreChanges)
	p.texts("replace on changes", g.ReplaceOnChanges)
	p.texts("hide diffs", g.HideDiffs)
	p.texts("secret outputs", g.AdditionalSecretOutputs)
	for _, a := range g.Aliases {
		var parts []string
		for _, part := range [...]struct{ label, text string }{
			{"urn", string(a.URN)}, {"name", a.Name}, {"type", a.Type}, {"stack", a.Stack}, {"project", a.Project},
			{"parent", shortURN(a.Parent)},
		} {
			if part.text != "" {
				parts = append(parts, part.label+" "+part.text)
			}
		}
		if a.NoParent {
			parts = append(parts, "no parent")
		}
		p.texts("alias", parts)
	}
	p.text("import", g.ImportID)
	if t := g.CustomTimeouts; t != (monitor.Timeouts{}) {
		p.text("timeouts", fmt.Sprintf("create %q, update %q, delete %q, read %q", t.Create, t.Update, t.Delete, t.Read))
	}
	p.urns("deleted with", g.DeletedWith)
	p.urns("replace with", g.ReplaceWith...)
	p.value("replacement trigger", g.ReplacementTrigger)
	for _, name := range slices.Sorted(maps.Keys(g.EnvVarMappings)) {
		p.text("environment "+name, g.EnvVarMappings[name])
	}
	for _, kind := range slices.Sorted(maps.Keys(g.Hooks)) {
		p.texts("hooks "+kind, g.Hooks[kind])
	}
}

func shortURN(u urn.URN) string {
	if u == "" {
		return ""
	}
	return u.Name()
}

func shortReference(text string) string {
	ref, err := urn.ParseReference(text)
	if err != nil {
		return text
	}
	return ref.URN.Name() + "::" + ref.ID
}

// render returns the text of v, including the plaintext of secrets as secret(…).
func render(v value.Value) string {
	if v.IsSecret() {
		return "secret(" + render(v.Public()) + ")"
	}
	var parts []string
	switch {
	case v.Is(value.KindList):
		for i := range v.Len() {
			parts = append(parts, render(v.At(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.Is(value.KindMap):
		for i, key := range v.Keys() {
			parts = append(parts, strconv.Quote(key)+": "+render(v.At(i)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v.Is(value.KindResource):
		ref, _ := v.AsResource()
		return "resource(" + shortURN(ref.URN) + ")"
	}
	return v.String()
}
