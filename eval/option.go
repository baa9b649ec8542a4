package eval

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// optionReader evaluates the options of a resource and collects their faults.
type optionReader struct {
	*scope
	ctx    context.Context
	failed *fault
}

func (o *optionReader) blame(f *fault) { o.failed = o.failed.and(f) }

// options puts the options of a resource into its registration (L4.A). The engine handles inheritance.
func (s *instance) options(ctx context.Context, request *monitor.RegisterRequest) *fault {
	r := s.resource
	o, from := &optionReader{scope: &s.scope, ctx: ctx}, &r.Decl.Options
	o.provider(r, from, &request.Provider, &request.Providers)
	request.Parent = o.urn(from.Parent)
	if request.Parent == "" {
		request.Parent = s.frame.parent
	}
	o.merge(from, request)
	request.Aliases = append(request.Aliases, s.oldName()...)
	request.EnvVarMappings = o.textMap(from.EnvVarMappings)
	transforms, f := s.transforms()
	o.blame(f)
	request.Transforms = transforms
	if r.Schema != nil {
		request.AdditionalSecretOutputs = union(request.AdditionalSecretOutputs, r.Schema.SecretOutputs())
		request.ReplaceOnChanges = union(request.ReplaceOnChanges, r.Schema.ReplaceOnChanges())
		for _, old := range r.Schema.Aliases { // L4.12
			request.Aliases = append(request.Aliases, monitor.Alias{Type: old})
		}
	}
	o.pack(r, from, &request.Plugin)
	return o.failed
}

// merge merges options into those of a registration: lists and maps are joined, other options are overwritten. It does
// not handle the package and the providers.
func (o *optionReader) merge(from *ast.Options, r *monitor.RegisterRequest) {
	r.Dependencies = append(slices.Clip(r.Dependencies), o.urns(from.DependsOn)...)
	o.plain(from, r)
	r.Aliases = append(slices.Clip(r.Aliases), o.aliases(from.Aliases)...)
	if u := o.urn(from.DeletedWith); u != "" {
		r.DeletedWith = u
	}
	r.ReplaceWith = append(slices.Clip(r.ReplaceWith), o.urns(from.ReplaceWith)...)
	if hooks := o.hooks(from.Hooks); len(hooks) > 0 {
		merged := make(map[string][]string, len(hooks))
		maps.Copy(merged, r.Hooks)
		for moment, names := range hooks {
			merged[moment] = union(merged[moment], names)
		}
		r.Hooks = merged
	}
	if t := from.CustomTimeouts; t != nil {
		old := &r.CustomTimeouts
		*old = monitor.Timeouts{Create: cmp.Or(o.duration(t.Create), old.Create),
			Update: cmp.Or(o.duration(t.Update), old.Update), Delete: cmp.Or(o.duration(t.Delete), old.Delete),
			Read: cmp.Or(o.duration(t.Read), old.Read)}
	}
	if trigger := from.ReplacementTrigger; trigger != nil {
		v, f := o.eval(o.ctx, trigger.Value)
		o.blame(f)
		o.blame(storable("replacementTrigger", v, propertyRanges{}, trigger.Value.Range()))
		r.ReplacementTrigger = v
		r.Dependencies = append(r.Dependencies, v.AllDeps()...)
	}
}

// setting points to the field of a registration for a flag, a text or a list of texts; one of the three is set.
type setting struct {
	option string
	flag   func(*monitor.RegisterRequest) **bool
	text   func(*monitor.RegisterRequest) *string
	texts  func(*monitor.RegisterRequest) *[]string
}

// settings are the options that set one field of a registration. All other options are read one by one.
var settings = []setting{
	{option: "protect", flag: func(r *monitor.RegisterRequest) **bool { return &r.Protect }},
	{option: "retainOnDelete", flag: func(r *monitor.RegisterRequest) **bool { return &r.RetainOnDelete }},
	{option: "deleteBeforeReplace", flag: func(r *monitor.RegisterRequest) **bool { return &r.DeleteBeforeReplace }},
	{option: "ignoreChanges", texts: func(r *monitor.RegisterRequest) *[]string { return &r.IgnoreChanges }},
	{option: "replaceOnChanges", texts: func(r *monitor.RegisterRequest) *[]string { return &r.ReplaceOnChanges }},
	{option: "hideDiffs", texts: func(r *monitor.RegisterRequest) *[]string { return &r.HideDiffs }},
	{option: "additionalSecretOutputs",
		texts: func(r *monitor.RegisterRequest) *[]string { return &r.AdditionalSecretOutputs }},
	{option: "import", text: func(r *monitor.RegisterRequest) *string { return &r.ImportID }},
}

// plain puts the options of the table into a registration: lists are appended to those of the registration, other
// options overwrite them.
func (o *optionReader) plain(from *ast.Options, r *monitor.RegisterRequest) {
	for _, s := range settings {
		option := *ast.OptionSpecOf(s.option).In(from)
		switch {
		case option == nil:
		case s.flag != nil:
			if b := o.bool(option); b != nil {
				*s.flag(r) = b
			}
		case s.texts != nil:
			if dst, texts := s.texts(r), o.texts(option); len(*dst) == 0 {
				*dst = texts
			} else {
				*dst = union(*dst, texts)
			}
		default:
			if text := o.text(option); text != "" {
				*s.text(r) = text
			}
		}
	}
}

// pack sets the package of a request. The options version and pluginDownloadURL have been applied by the
// checker where they are literal (L7.21).
func (o *optionReader) pack(r *check.Resource, from *ast.Options, p *monitor.Plugin) {
	d := r.Package
	if v := o.text(from.Version); v != "" {
		if d.Implied {
			d.DownloadURL, d.Implied = "", false
		}
		d.Version = schema.PlainVersion(v)
	}
	if u := o.text(from.PluginDownloadURL); u != "" {
		d.DownloadURL = u
	}
	if err := o.e.setPackage(o.ctx, p, d); err != nil {
		rng := r.Decl.Name.Range
		if r.Decl.Type != nil {
			rng = r.Decl.Type.Range
		}
		o.blame(failure(err, diag.OperationFailed, rng, "cannot announce the package %s: %s", d.PackageName(), err))
	}
}

// provider chooses the provider: the option, else one of providers, which the engine selects, else the program's
// default provider for the package (L7.40).
func (o *optionReader) provider(r *check.Resource, from *ast.Options, provider *string, providers *map[string]string) {
	if r.Dynamic != nil && r.Dynamic.Package == "" {
		ref, f := o.e.dynamicProvider(o.ctx, r.Dynamic)
		o.blame(f)
		*provider = ref
		return
	}
	*provider = o.providerOf(from.Provider)
	if from.Providers != nil {
		*providers = o.providers(from.Providers)
	}
	remote := r.Component == nil && r.Schema != nil && r.Schema.Component
	if remote {
		*providers = withProvider(*providers, *provider)
		if ref, err := urn.ParseReference(*provider); err == nil && !serves(r, ref.URN.Package()) {
			*provider = "" // only for the children: a provider of its own package builds a component (L4.20)
		}
	}
	if _, given := (*providers)[urn.PackageOf(r.Token)]; *provider == "" && !given && r.DefaultProvider != nil {
		ref, f := o.defaultProvider(o.ctx, r.DefaultProvider)
		o.blame(f)
		*provider = ref
		if remote {
			*providers = withProvider(*providers, ref)
		}
	}
}

// serves reports whether a provider of a package can manage a resource: pkg is the resource's package, or the package
// of the plugin that the resource's package is made from.
func serves(r *check.Resource, pkg string) bool {
	return pkg == urn.PackageOf(r.Token) || pkg == r.Package.Name
}

// defaultProvider returns the reference of the declared default provider of a package (L7.45).
func (s *scope) defaultProvider(ctx context.Context, n *check.Node) (string, *fault) {
	v, f := s.node(ctx, n)
	if f != nil {
		return "", f
	}
	if v.IsNull() {
		return "", nil // its `if` is false
	}
	ref, ok := v.AsResource()
	if !ok {
		return "", poison
	}
	return providerReference(ref), nil
}

// known evaluates an option that is null when absent. It must be fully known and may not be secret (L4.3, L9.17).
func (o *optionReader) known(option *ast.Option) value.Value {
	if option == nil {
		return value.Null
	}
	v, f := o.eval(o.ctx, option.Value)
	switch {
	case f != nil:
	case unknownBesidesIDs(v):
		f = blame(diag.NotKnownInTime, option.Value.Range(), "use values that do not come from resources to be created",
			"%s must be known before anything is created", option.Key.Value)
	case v.ContainsSecret():
		f = blame(diag.NotAssignable, option.Value.Range(),
			"options are stored in plain text; use fn::unsecret if that is acceptable",
			"%s must not be secret", option.Key.Value)
	default:
		return v
	}
	o.blame(f)
	return value.Null
}

// unknownBesidesIDs reports whether v contains unknown values other than IDs of resources to be created, of which
// options need only the URN (L4.10).
func unknownBesidesIDs(v value.Value) bool {
	return v.Transform(func(x value.Value) value.Value {
		if x.Is(value.KindResource) {
			return value.Null
		}
		return x
	}).ContainsUnknown()
}

// wrong reports an option of the wrong kind.
func (o *optionReader) wrong(option *ast.Option, wants string, v value.Value) {
	o.blame(blame(diag.NotAssignable, option.Value.Range(), "", "%s must be %s, not %s", option.Key.Value, wants,
		kindOf(v)))
}

// bool returns nil if the option is absent or null (L4.6).
func (o *optionReader) bool(option *ast.Option) *bool {
	v := o.known(option)
	if b, ok := v.AsBool(); ok {
		return &b
	}
	if !v.IsNull() {
		o.wrong(option, "a boolean", v)
	}
	return nil
}

func (o *optionReader) text(option *ast.Option) string {
	v := o.known(option)
	s, ok := v.AsString()
	if !ok && !v.IsNull() {
		o.wrong(option, "a string", v)
	}
	return s
}

// duration returns a text that other engines can read too, without days (L4.13).
func (o *optionReader) duration(option *ast.Option) string {
	text := o.text(option)
	if d, err := value.ParseDuration(text); err == nil && strings.Contains(text, "d") {
		return d.String()
	}
	return text
}

// texts returns a list of strings; a single string counts as a list (L4.2).
func (o *optionReader) texts(option *ast.Option) []string {
	const wants = "a list of strings"
	v := o.known(option)
	if !v.IsNull() && !v.Is(value.KindString) && !v.Is(value.KindList) {
		o.wrong(option, wants, v)
	}
	var texts []string
	for _, item := range oneOrMany(v) {
		if s, ok := item.AsString(); ok {
			texts = append(texts, s)
		} else if !item.IsNull() {
			o.wrong(option, wants, item)
		}
	}
	return texts
}

// oneOrMany returns a text as a list of one, or the items of a list; none for any other value.
func oneOrMany(v value.Value) []value.Value {
	if v.Is(value.KindString) {
		return []value.Value{v}
	}
	items, _ := v.AsList()
	return items
}

// entries yields the entries of an option that is a map; none for null.
func (o *optionReader) entries(option *ast.Option, wants string) iter.Seq2[string, value.Value] {
	return func(yield func(string, value.Value) bool) {
		v := o.known(option)
		if !v.Is(value.KindMap) {
			if !v.IsNull() {
				o.wrong(option, wants, v)
			}
			return
		}
		for i, key := range v.Keys() {
			if !yield(key, v.At(i)) {
				return
			}
		}
	}
}

func (o *optionReader) textMap(option *ast.Option) map[string]string {
	if option == nil {
		return nil
	}
	const wants = "a map of strings"
	texts := make(map[string]string)
	for key, v := range o.entries(option, wants) {
		s, ok := v.AsString()
		if !ok {
			o.wrong(option, wants, v)
		}
		texts[key] = s
	}
	return texts
}

func (o *optionReader) hooks(option *ast.Option) map[string][]string {
	if option == nil {
		return nil
	}
	const wants = "a map from kinds of hooks to names"
	hooks := make(map[string][]string)
	for kind, names := range o.entries(option, wants) {
		if kind != "" {
			kind = strings.ToUpper(kind[:1]) + kind[1:] // the monitor's name: BeforeCreate for beforeCreate
		}
		for _, item := range oneOrMany(names) {
			s, ok := item.AsString()
			if !ok {
				o.wrong(option, wants, item)
			}
			hooks[kind] = append(hooks[kind], s)
		}
	}
	return hooks
}

func (o *optionReader) urn(option *ast.Option) urn.URN {
	if option == nil {
		return ""
	}
	ref, f := o.resourceIn(o.ctx, option.Key.Value, option.Value)
	o.blame(f)
	if ref == nil {
		return ""
	}
	return ref.URN
}

func (o *optionReader) urns(option *ast.Option) []urn.URN {
	if option == nil {
		return nil
	}
	refs, f := o.resourcesIn(o.ctx, option.Key.Value, option.Value)
	o.blame(f)
	urns := make([]urn.URN, len(refs))
	for i, ref := range refs {
		urns[i] = ref.URN
	}
	return urns
}

// providers reads the option providers: a list of provider resources, or a map of them by package (L4.21).
func (o *optionReader) providers(option *ast.Option) map[string]string {
	v, f := o.eval(o.ctx, option.Value)
	if f != nil {
		o.blame(f)
		return nil
	}
	items, ok := v.AsList()
	if v.Is(value.KindMap) {
		for i := range v.Len() {
			items = append(items, v.At(i))
		}
	} else if v.Is(value.KindResource) {
		items = []value.Value{v}
	} else if !ok && !v.IsNull() {
		o.wrong(option, "a list of provider resources", v)
	}
	providers := make(map[string]string, len(items))
	for i, item := range items {
		if item.IsNull() {
			continue
		}
		ref, f := providerResource(option.Key.Value, item, elementRange(option.Value, i))
		if f != nil {
			o.blame(f)
			continue
		}
		pkg := ref.URN.Package()
		if v.Is(value.KindMap) && v.Keys()[i] != pkg {
			o.blame(blame(diag.WrongProvider, option.Value.Range(), "a key is the name of the provider's package",
				"providers: %q is given a provider of package %s", v.Keys()[i], pkg))
		}
		providers[pkg] = providerReference(ref)
	}
	return providers
}

// providerOf returns the provider reference of an option; empty for none.
func (o *optionReader) providerOf(option *ast.Option) string {
	if option == nil {
		return ""
	}
	ref, f := o.providerIn(o.ctx, option.Key.Value, option.Value)
	o.blame(f)
	return ref
}

// providerIn returns the provider reference of an expression; empty for none.
func (s *scope) providerIn(ctx context.Context, name string, e ast.Expr) (string, *fault) {
	if e == nil {
		return "", nil
	}
	v, f := s.eval(ctx, e)
	if f != nil || v.IsNull() {
		return "", f
	}
	if s.e.postponed(s.frame, e, v) {
		return "", later
	}
	ref, f := providerResource(name, v, e.Range())
	if f != nil {
		return "", f
	}
	return providerReference(ref), nil
}

func providerResource(name string, v value.Value, rng diag.Range) (*value.ResourceRef, *fault) {
	ref, f := needResource(name, v, rng)
	if f == nil && !urn.IsProviderType(ref.URN.Type()) {
		return nil, blame(diag.NeedsResource, rng, "a provider is a resource of type pulumi:providers:<package>",
			"%s needs a provider, not a resource of type %s", name, ref.URN.Type())
	}
	return ref, f
}

// resourceIn returns the resource that an expression evaluates to; nil for no expression or null (L4.6).
func (s *scope) resourceIn(ctx context.Context, name string, e ast.Expr) (*value.ResourceRef, *fault) {
	if e == nil {
		return nil, nil
	}
	v, f := s.eval(ctx, e)
	if f != nil || v.IsNull() {
		return nil, f
	}
	if s.e.postponed(s.frame, e, v) {
		return nil, later
	}
	return needResource(name, v, e.Range())
}

// resourcesIn returns the resources that an expression evaluates to: one, or a list of them, at any depth (L4.5).
func (s *scope) resourcesIn(ctx context.Context, name string, e ast.Expr) ([]*value.ResourceRef, *fault) {
	if e == nil {
		return nil, nil
	}
	v, f := s.eval(ctx, e)
	if f != nil {
		return nil, f
	}
	var refs []*value.ResourceRef
	var failed *fault
	var walk func(v value.Value, rng diag.Range, written ast.Expr)
	walk = func(v value.Value, rng diag.Range, written ast.Expr) {
		switch {
		case v.IsNull():
		case !v.IsKnown() && s.e.info.DryRun && !v.Is(value.KindString):
			// Instances that the preview does not know yet cannot be named as dependencies.
		case v.Is(value.KindList) || v.Is(value.KindMap):
			for i := range v.Len() {
				walk(v.At(i), elementRange(written, i), nil)
			}
		default:
			ref, f := needResource(name, v, rng)
			failed = failed.and(f)
			if f == nil {
				refs = append(refs, ref)
			}
		}
	}
	walk(v, e.Range(), e)
	return refs, failed
}

// elementRange returns the place of an item in a literal list; else the place of the whole expression.
func elementRange(e ast.Expr, i int) diag.Range {
	switch l := e.(type) {
	case nil:
		return diag.Range{}
	case *ast.List:
		if i < len(l.Items) {
			return l.Items[i].Range()
		}
	}
	return e.Range()
}

func needResource(name string, v value.Value, rng diag.Range) (*value.ResourceRef, *fault) {
	if ref, ok := v.AsResource(); ok {
		return ref, nil
	}
	if !v.IsKnown() {
		return nil, blame(diag.NeedsResource, rng, "write the resource itself, such as ${server}",
			"%s needs a resource that is known before anything is created", name)
	}
	return nil, blame(diag.NeedsResource, rng, "write the resource itself, such as ${server}, not one of its properties",
		"%s needs a resource, not %s", name, kindOf(v))
}

// union returns a followed by the elements of b that it lacks.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a[:len(a):len(a)], s)
		}
	}
	return a
}
