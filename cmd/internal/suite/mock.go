package suite

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// A mock describes in a test file how resources or functions answer.
type mock struct {
	place    diag.Range
	function bool
	match    *regexp.Regexp // pattern of the type or function token
	name     *regexp.Regexp // pattern of the resource's name; nil matches any
	id       string
	outputs  value.Value // outputs of a resource, or result of a function
	fails    string
	replace  []string
	reached  atomic.Bool
}

func newMock(e ast.Expr, l layer, function bool) *mock {
	text := func(name string) string {
		if l[name].value == nil {
			return ""
		}
		return keyText(l[name].value)
	}
	m := &mock{place: e.Range(), function: function, match: glob(text("match")), id: text("id"), fails: text("error"),
		outputs: value.EmptyMap()}
	if pattern := text("name"); pattern != "" {
		m.name = glob(pattern)
	}
	result := l["outputs"]
	if function {
		result = l["result"]
	}
	if result.value != nil {
		m.outputs = dataOf(result.value)
	}
	if list, ok := l["replaceOn"].value.(*ast.List); ok {
		for _, item := range list.Items {
			m.replace = append(m.replace, keyText(item))
		}
	}
	return m
}

// glob returns an expression that matches a whole text; `*` in the pattern stands for any text.
func glob(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`^(?s:` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `)$`)
}

// providers loads mock providers. If live is set, embedded providers really act, except for what mocks replace.
type providers struct {
	real    provider.Loader // the built-in providers
	schemas schema.Loader
	mocks   []*mock
	live    bool
}

// find returns the first mock that matches a token and a name, or nil, and marks the mock as reached.
func (p *providers) find(token, name string, function bool) *mock {
	for _, m := range p.mocks {
		if m.function == function && (m.match.MatchString(token) || m.match.MatchString(schema.CollapseToken(token))) &&
			(m.name == nil || m.name.MatchString(name)) {
			m.reached.Store(true)
			return m
		}
	}
	return nil
}

// Load makes the mock provider of a package.
func (p *providers) Load(ctx context.Context, pkg provider.Package) (provider.Provider, error) {
	d := schema.Descriptor{Name: pkg.Name, Version: pkg.Version, DownloadURL: pkg.DownloadURL}
	if q := pkg.Parameterization; q != nil {
		d.Parameterization = &schema.Parameterization{Name: q.Name, Version: q.Version, Value: q.Value}
	}
	m := &mockProvider{Provider: blank{}, all: p, pkg: pkg}
	if _, builtIn := embedded.Version(pkg.Name); builtIn {
		var err error
		if m.Provider, err = p.real.Load(ctx, pkg); err != nil {
			return nil, err
		}
	}
	if s, err := p.schemas.Load(ctx, d); err == nil {
		m.schema = s
	}
	return m, nil
}

// A mockProvider answers calls from the schema and from mocks. It is its own configured form.
type mockProvider struct {
	provider.Provider // the real provider; blank for a package that is not built in
	all               *providers
	pkg               provider.Package
	schema            *schema.Package     // nil when there is none
	acts              provider.Configured // the configured real provider; nil if there is none
}

var (
	_ provider.Provider   = (*mockProvider)(nil)
	_ provider.Configured = (*mockProvider)(nil)
)

// Info returns the name and version of the package.
func (m *mockProvider) Info(context.Context) (provider.Info, error) {
	return provider.Info{Name: m.pkg.Name, Version: m.pkg.Version}, nil
}

// Parameterize accepts all parameters and returns the package that the request names.
func (m *mockProvider) Parameterize(_ context.Context, r provider.ParameterizeRequest) (provider.ParameterizeResponse,
	error) {
	return provider.ParameterizeResponse{Name: r.Name, Version: r.Version}, nil
}

// Schema always returns an error. Nobody calls it, because the checker has the schemas.
func (m *mockProvider) Schema(context.Context, provider.SchemaRequest) ([]byte, error) {
	return nil, errors.New("a mock has no schema text")
}

// Configure configures the real provider, and returns a mock provider that uses it.
func (m *mockProvider) Configure(ctx context.Context, r provider.ConfigureRequest) (provider.Configured, error) {
	configured := *m
	var err error
	configured.acts, err = m.Provider.Configure(ctx, r)
	return &configured, err
}

// blank replaces the real provider of a package that is not built in. The mock provider answers all calls other than
// these.
type blank struct{ provider.Plain }

// Info names nothing.
func (blank) Info(context.Context) (provider.Info, error) { return provider.Info{}, nil }

// DiffConfig finds no change.
func (blank) DiffConfig(context.Context, provider.DiffRequest) (provider.DiffResponse, error) {
	return provider.DiffResponse{}, nil
}

// Configure returns nil, as nothing real stands behind the mock.
func (blank) Configure(context.Context, provider.ConfigureRequest) (provider.Configured, error) {
	return nil, nil
}

// resource returns the schema of a resource type, or nil if it has none.
func (m *mockProvider) resource(token string) *schema.Resource {
	if m.schema == nil {
		return nil
	}
	r, err := m.schema.Resource(token)
	if err != nil {
		return nil
	}
	return r
}

// lives reports whether the real provider handles a call, because the run is live and there is no mock for the call.
func (m *mockProvider) lives(found *mock) bool { return m.all.live && m.acts != nil && found == nil }

// Check accepts inputs unchanged. Built-in providers check theirs.
func (m *mockProvider) Check(ctx context.Context, r provider.CheckRequest) (provider.CheckResponse, error) {
	if m.acts != nil {
		return m.acts.Check(ctx, r)
	}
	return provider.CheckResponse{Inputs: r.News}, nil
}

// Diff compares inputs. The schema and the mocks determine which changes force a replacement.
func (m *mockProvider) Diff(ctx context.Context, r provider.DiffRequest) (provider.DiffResponse, error) {
	found := m.all.find(r.Type, r.Name, false)
	if m.acts != nil && (found == nil || len(found.replace) == 0) {
		return m.acts.Diff(ctx, r)
	}
	d := provider.DiffResponse{Changes: provider.DiffNone}
	known := m.resource(r.Type)
	for _, change := range value.Changes(r.OldInputs.MapOrEmpty(), r.News.MapOrEmpty()) {
		if len(change.Path) == 0 {
			continue
		}
		key := change.Path[0].Key
		if strings.HasPrefix(key, "__") && len(change.Path) == 1 && known == nil {
			continue
		}
		d.Changes = provider.DiffSome
		if !slices.Contains(d.Diffs, key) {
			d.Diffs = append(d.Diffs, key)
		}
		replaces := found != nil && slices.Contains(found.replace, key)
		if known != nil {
			for _, o := range []*schema.Object{known.Inputs, known.Outputs} {
				if p := o.Property(key); p != nil && p.ReplaceOn {
					replaces = true
				}
			}
		}
		if replaces && !slices.Contains(d.Replaces, key) {
			d.Replaces = append(d.Replaces, key)
		}
	}
	return d, nil
}

// Create returns made-up outputs, unless the real provider handles the call.
func (m *mockProvider) Create(ctx context.Context, r provider.CreateRequest) (provider.CreateResponse, error) {
	found := m.all.find(r.Type, r.Name, false)
	if m.lives(found) {
		return m.acts.Create(ctx, r)
	}
	if found != nil && found.fails != "" {
		return provider.CreateResponse{}, errors.New(found.fails)
	}
	out := r.Inputs
	if m.acts != nil { // the outputs of a preview include the provider's defaults
		foreseen := r
		foreseen.Preview = true
		planned, err := m.acts.Create(ctx, foreseen)
		if err != nil {
			return planned, err
		}
		out = planned.Outputs
	}
	out, err := m.outputs(r.Subject, found, out, value.EmptyMap(), r.Preview)
	response := provider.CreateResponse{ID: r.Name + "-id", Outputs: out}
	if found != nil && found.id != "" {
		response.ID = found.id
	}
	if r.Preview {
		response.ID = ""
	}
	return response, err
}

// outputs combines the inputs, the outputs of the mock, the computed outputs from before, and made-up values for what
// else the schema requires.
func (m *mockProvider) outputs(s provider.Subject, found *mock, inputs, before value.Value,
	preview bool) (value.Value, error) {
	out := inputs.MapOrEmpty()
	for i, key := range before.Keys() {
		v, has := out.Lookup(key)
		if !has && m.computed(s.Type, key) || has && !v.IsKnown() && !preview {
			out = out.With(key, before.At(i))
		}
	}
	if found != nil {
		for i, key := range found.outputs.Keys() {
			out = out.With(key, found.outputs.At(i))
		}
	}
	known := m.resource(s.Type)
	if known == nil {
		return out, nil
	}
	made := &faker{}
	for _, p := range known.Outputs.Properties() {
		v, has := out.Lookup(p.Name)
		pending := has && v.ContainsUnknown() && !preview
		switch {
		case has && !pending:
			if p.Secret {
				out = out.With(p.Name, v.Secret())
			}
			continue
		case !pending && (!p.Required || m.acts != nil || !m.computed(s.Type, p.Name)):
			continue
		case preview:
			v = value.Unknown(value.KindNull)
		default:
			v = made.value(p.Type, s.Name+"-"+p.Name, 0)
		}
		if p.Secret {
			v = v.Secret()
		}
		out = out.With(p.Name, v)
	}
	return out, made.failed(s.Type)
}

// computed reports whether a property is an output but not an input.
func (m *mockProvider) computed(token, name string) bool {
	known := m.resource(token)
	return known != nil && known.Inputs.Property(name) == nil
}

// maxFakes is the maximum number of made-up values of a resource or a result.
const maxFakes = 10_000

// faker makes up values until the limit is reached.
type faker struct{ made int }

// failed returns an error about a type if the limit was reached.
func (f *faker) failed(token string) error {
	if f.made <= maxFakes {
		return nil
	}
	return fmt.Errorf("the schema of %s requires more than %d values, too many to make up: give them in a mock", token, maxFakes)
}

// value returns a made-up value of a type. The same arguments always give the same value.
func (f *faker) value(t schema.Type, name string, depth int) value.Value {
	if f.made++; depth > 4 || f.made > maxFakes {
		return value.Null
	}
	switch t := t.(type) {
	case schema.Primitive:
		switch t {
		case schema.Bool:
			return value.Bool(false)
		case schema.Integer, schema.Number:
			return value.Number(1)
		case schema.JSON:
			return value.String("{}")
		case schema.Asset:
			return value.NewAsset(&value.Asset{Text: name, HasText: true})
		case schema.Null, schema.Archive, schema.AnyResource:
			return value.Null
		default:
			if strings.HasSuffix(strings.ToLower(name), "rfc3339") {
				return value.String("2006-01-02T15:04:05Z")
			}
			return value.String(name)
		}
	case *schema.Optional:
		return f.value(t.Elem, name, depth)
	case *schema.Array:
		return value.List(f.value(t.Item, name, depth+1))
	case *schema.Map:
		return value.MapOf(value.Entry{Key: "key", Value: f.value(t.Item, name, depth+1)})
	case *schema.Object:
		entries := []value.Entry{}
		for _, p := range t.Properties() {
			if p.Required {
				entries = append(entries, value.Entry{Key: p.Name, Value: f.value(p.Type, name+"-"+p.Name, depth+1)})
			}
		}
		return value.MapOf(entries...)
	case *schema.Enum:
		if len(t.Values) > 0 {
			switch v := t.Values[0].Value.(type) {
			case string:
				return value.String(v)
			case float64:
				return value.Number(v)
			case bool:
				return value.Bool(v)
			}
		}
		return f.value(t.Base, name, depth)
	case *schema.Union:
		if len(t.Members) > 0 {
			return f.value(t.Members[0], name, depth)
		}
	case *schema.Token:
		return f.value(t.Underlying, name, depth)
	}
	return value.Null
}

// Read returns the inputs and outputs in the state, unless the real provider handles the call.
func (m *mockProvider) Read(ctx context.Context, r provider.ReadRequest) (provider.ReadResponse, error) {
	found := m.all.find(r.Type, r.Name, false)
	if m.lives(found) {
		return m.acts.Read(ctx, r)
	}
	if found != nil && found.fails != "" {
		return provider.ReadResponse{}, errors.New(found.fails)
	}
	out, err := m.outputs(r.Subject, found, r.Inputs, r.Outputs, false)
	return provider.ReadResponse{ID: r.ID, Inputs: r.Inputs, Outputs: out}, err
}

// Update returns made-up outputs and keeps computed ones, unless the real provider handles the call.
func (m *mockProvider) Update(ctx context.Context, r provider.UpdateRequest) (provider.UpdateResponse, error) {
	found := m.all.find(r.Type, r.Name, false)
	if m.lives(found) {
		return m.acts.Update(ctx, r)
	}
	if found != nil && found.fails != "" {
		return provider.UpdateResponse{}, errors.New(found.fails)
	}
	out := r.News
	if m.acts != nil {
		foreseen := r
		foreseen.Preview = true
		planned, err := m.acts.Update(ctx, foreseen)
		if err != nil {
			return planned, err
		}
		out = planned.Outputs
	}
	out, err := m.outputs(r.Subject, found, out, r.OldOutputs, r.Preview)
	return provider.UpdateResponse{Outputs: out}, err
}

// Delete does nothing, unless the real provider handles the call.
func (m *mockProvider) Delete(ctx context.Context, r provider.DeleteRequest) error {
	found := m.all.find(r.Type, r.Name, false)
	if m.lives(found) {
		return m.acts.Delete(ctx, r)
	}
	return nil
}

// pure lists the packages whose functions only compute, and so are called even if the run is not live.
var pure = []string{"std"}

// Invoke returns the result of a mock or of a function that only computes, or else a made-up one that fits the schema.
// In a live run, built-in functions without a mock are called.
func (m *mockProvider) Invoke(ctx context.Context, r provider.InvokeRequest) (provider.InvokeResponse, error) {
	found := m.all.find(r.Token, "", true)
	if m.acts != nil && found == nil && (m.all.live || slices.Contains(pure, m.pkg.Name)) {
		return m.acts.Invoke(ctx, r)
	}
	v, err := m.answer(found, r.Token)
	return provider.InvokeResponse{Result: v}, err
}

// answer returns the result of a function from its mock or its schema.
func (m *mockProvider) answer(found *mock, token string) (value.Value, error) {
	switch {
	case found != nil && found.fails != "":
		return value.Null, errors.New(found.fails)
	case found != nil:
		return found.outputs, nil
	case m.schema == nil:
		return value.EmptyMap(), nil
	}
	f, err := m.schema.Function(token)
	if err != nil {
		return value.Null, fmt.Errorf("mock %s: %w", token, err)
	}
	name := token[strings.LastIndexByte(token, ':')+1:]
	made := &faker{}
	v := made.value(f.Result, name, 0)
	if f.Scalar {
		v = value.MapOf(value.Entry{Key: "result", Value: v})
	}
	return v, made.failed(token)
}

// Call returns the result of a method, like Invoke.
func (m *mockProvider) Call(ctx context.Context, r provider.CallRequest) (provider.CallResponse, error) {
	found := m.all.find(r.Token, "", true)
	if m.acts != nil && found == nil && m.all.live {
		return m.acts.Call(ctx, r)
	}
	v, err := m.answer(found, r.Token)
	return provider.CallResponse{Result: v}, err
}

// Construct returns an error, unless a built-in provider handles it in a live run: only a plugin knows the resources of
// its component.
func (m *mockProvider) Construct(ctx context.Context, r provider.ConstructRequest) (provider.ConstructResponse, error) {
	if m.acts != nil && m.all.live {
		return m.acts.Construct(ctx, r)
	}
	return provider.ConstructResponse{}, fmt.Errorf("the component %s is made by a plugin, and tests start none", r.Type)
}
