package check

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Dynamic types have a provider that is a source file beside the program (D15).

// DynamicNamespace is the package of the dynamic types that a program declares.
const DynamicNamespace = "dynamic"

// Bundler packs a source file and its imports into one text. source is relative to dir, with slashes. faults are
// mistakes in the source; err is returned if it could not be read.
type Bundler func(ctx context.Context, dir, source string) (b *Bundle, faults []BundleFault, err error)

// Bundle is the code of a source file. It is immutable.
type Bundle struct {
	Language string // node or python
	Code     string
	Digest   string
}

// BundleFault is one thing wrong with a source file.
type BundleFault struct {
	Place   string // file:line:column, or less of it; never empty
	Message string
}

// HandlerSource is a source file that fn::bundle packs into an archive.
type HandlerSource = builtins.BundleRequest

// checkBundle reports faults of a source that a program bundles, if its arguments are literal.
func (c *constants) checkBundle(args []ast.Expr) {
	arg := func(i int) ast.Expr {
		if i < len(args) && args[i] != nil {
			return c.constant(args[i])
		}
		return nil
	}
	entry, ok := arg(0).(*ast.String)
	if !ok || c.opts.Handler == nil || !c.checkConfined(args[0], entry.Value) {
		return
	}
	source := HandlerSource{Entry: entry.Value}
	if export, ok := arg(1).(*ast.String); ok {
		source.Export = export.Value
	}
	switch arg(2).(type) {
	case nil, *ast.Null:
	default:
		source.Captured = true
	}
	if list, ok := arg(3).(*ast.List); ok {
		for _, item := range list.Items {
			if text, ok := c.constant(item).(*ast.String); ok {
				source.External = append(source.External, text.Value)
			}
		}
	}
	rng := args[0].Range()
	c.volatile = true
	faults, err := c.opts.Handler(c.ctx, c.opts.ProgramDir, source)
	for _, f := range faults {
		c.report.Errorf(diag.BadSource, rng, f.Place, "%s cannot be bundled: %s", findings.Shown(entry.Value), f.Message)
	}
	if err != nil {
		c.report.Errorf(diag.FileAccess, rng, "", "cannot read %s: %s", findings.Shown(entry.Value), err)
	}
}

// Dynamic is a checked dynamic type.
type Dynamic struct {
	Decl  *ast.Dynamic
	Token string // canonical
	// Package is the package by path that declares the type; empty for the program's own types.
	Package string
	Schema  *schema.Resource
	// Code is nil without Bundle, and for a faulty source, which has been reported.
	Code *Bundle
	Path string // of the source, relative to the folder of the program or package, with slashes
}

// Replaces reports whether a change of the code replaces the resources of the type.
func (d *Dynamic) Replaces() bool { return d.Decl.OnCodeChange.Text() == "replace" }

// dynamicTypes makes types from declarations.
type dynamicTypes struct {
	report  *findings.Reporter
	bundle  Bundler             // nil if sources are not bundled
	byToken map[string]*Dynamic // by all spellings of the token
	all     []*Dynamic          // in source order
}

// find makes the types of a program and of the packages used by path.
func (c *dynamicTypes) find(ctx context.Context, file *ast.File, opts Options) {
	c.add(ctx, file.Dynamic, opts.ProgramDir, "", DynamicNamespace)
	for _, pkg := range opts.Local {
		c.add(ctx, pkg.File.Dynamic, pkg.Dir, pkg.Name, pkg.Name, pkg.Alias)
	}
}

// add makes the types of one package, and bundles each source once. names are the package's names in tokens; the
// first is the canonical one.
func (c *dynamicTypes) add(ctx context.Context, decls []*ast.Dynamic, dir, pkg string, names ...string) {
	bundles := map[string]*Bundle{}
	for _, decl := range decls {
		d := &Dynamic{Decl: decl, Package: pkg, Token: names[0] + ":index:" + decl.Name.Value}
		d.Schema = c.schemaOf(d)
		if other := c.byToken[d.Token]; other != nil && other.Decl.Name.Range.Source != decl.Name.Range.Source {
			c.report.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: decl.Name.Range,
				Summary: "the package has a type `" + decl.Name.Value + "` already", Detail: "rename one of the two",
				Related: []diag.Related{{Range: other.Decl.Name.Range, Message: "the other one is here"}}})
		}
		c.all = append(c.all, d)
		for _, name := range names {
			c.byToken[name+":index:"+decl.Name.Value], c.byToken[name+":"+decl.Name.Value] = d, d
		}
		if decl.Provider == nil {
			continue
		}
		d.Path = decl.Path()
		if rng := decl.Provider.Range; path.IsAbs(d.Path) || d.Path == ".." || strings.HasPrefix(d.Path, "../") {
			c.report.Errorf(diag.FileAccess, rng, "move the file into the project", "%s is outside of the project", findings.Shown(d.Path))
			continue
		}
		if c.bundle == nil {
			continue
		}
		known, done := bundles[d.Path]
		if !done {
			known = c.code(ctx, decl, dir, d.Path)
			bundles[d.Path] = known
		}
		d.Code = known
	}
}

// code builds a source, and reports its faults at the first declaration that names it.
func (c *dynamicTypes) code(ctx context.Context, decl *ast.Dynamic, dir, source string) *Bundle {
	rng := decl.Provider.Range
	b, faults, err := c.bundle(ctx, dir, source)
	for _, f := range faults {
		c.report.Errorf(diag.BadSource, rng, f.Place, "%s cannot be used: %s", source, f.Message)
	}
	if err != nil {
		c.report.Errorf(diag.FileAccess, rng, "", "cannot read `%s`: %s", source, err)
	}
	if len(faults) > 0 || err != nil {
		return nil
	}
	return b
}

// schemaOf describes the type as a provider's resource. Properties without a declared type have the type any.
func (c *dynamicTypes) schemaOf(d *Dynamic) *schema.Resource {
	r := &schema.Resource{Token: d.Token, Description: d.Decl.Description.Text()}
	inputs := c.properties(d.Decl.Inputs, true)
	outputs := c.properties(d.Decl.Outputs, false)
	r.Inputs = schema.NewObject("", d.Decl.Inputs != nil, func() []*schema.Property { return inputs })
	r.Outputs = schema.NewObject("", d.Package != "", func() []*schema.Property { return outputs })
	return r
}

func (c *dynamicTypes) properties(from *ast.DynamicProperties, input bool) []*schema.Property {
	if from == nil {
		return nil
	}
	list := make([]*schema.Property, 0, len(from.List))
	for _, decl := range from.List {
		p := &schema.Property{Name: decl.Name.Value, Type: configType(decl.Type), Description: decl.Description.Text(),
			Secret: decl.Secret != nil && decl.Secret.Value}
		p.Required = input && decl.Default == nil && (decl.Optional == nil || !decl.Optional.Value) &&
			(decl.Type == nil || !decl.Type.Optional)
		switch literal := decl.Default.(type) {
		case nil, *ast.Bad:
		case *ast.String:
			p.Default = literal.Value
		case *ast.Number:
			p.Default = literal.Value
		case *ast.Bool:
			p.Default = literal.Value
		default:
			c.report.Errorf(diag.ConfigDefault, literal.Range(), "for other defaults, let the code fill them in in its method check",
				"the default of %s must be a text, a number or a boolean", findings.Shown(decl.Name.Value))
		}
		if !p.Required {
			p.Type = schema.OptionalOf(p.Type)
		}
		list = append(list, p)
	}
	return list
}

// servesDynamic reports whether the program or a package by path declares the type of a token.
func (c *run) servesDynamic(token string) bool {
	if c.dynamic[token] != nil {
		return true
	}
	namespace, _, _ := strings.Cut(token, ":")
	return namespace == DynamicNamespace && (len(c.dynamic) > 0 || c.unnamed)
}

// resolveDynamic finds the dynamic type of a resource.
func (c *resolver) resolveDynamic(n *Node) {
	r, token := n.Resource, n.Resource.Decl.Type
	d := c.dynamic[token.Value]
	if d == nil {
		if _, name, _ := strings.Cut(token.Value, ":"); slices.Contains(c.file.Lost, name) || c.nameless(name) {
			return
		}
		var names []string
		for spelling := range c.dynamic {
			if strings.Count(spelling, ":") == 1 {
				names = append(names, spelling)
			}
		}
		slices.Sort(names)
		hint := findings.NearOrAll(diag.Suggest(token.Value, names), names, "there is ", "")
		c.loose.Errorf(diag.TokenNotFound, token.Range, hint, "there is no dynamic type `%s`", token.Value)
		return
	}
	r.Dynamic, r.Schema, r.Token = d, d.Schema, d.Token
	n.Type = &schema.ResourceType{Token: r.Token, Outputs: func() *schema.Object { return d.Schema.Outputs }}
	for _, option := range []*ast.Option{r.Decl.Options.Provider, r.Decl.Options.Version,
		r.Decl.Options.PluginDownloadURL} {
		if option != nil {
			c.loose.Errorf(diag.WrongProvider, option.Key.Range, "leave the option out",
				"%s is served by %s and takes no `%s`", findings.Shown(token.Value), d.Path, option.Key.Value)
		}
	}
}

// ofSDK reports whether a token belongs to the dynamic types of Pulumi's SDKs, which have no schema, since programs in
// TypeScript and Python define them (L10.C16).
func ofSDK(token string) bool {
	pkg, module, _ := strings.Cut(token, ":")
	return (pkg == "pulumi-nodejs" || pkg == "pulumi-python") && strings.HasPrefix(module, "dynamic")
}

// anything is an object with any members.
var anything = schema.NewObject("", false, func() []*schema.Property { return nil })

// DynamicInputs returns the inputs of the provider resource that serves a type and all others of the same package and
// source; runtime/dynamic reads them. d.Code must not be nil.
func DynamicInputs(all []*Dynamic, d *Dynamic) value.Value {
	types := value.EmptyMap()
	var env []string
	for _, other := range all {
		if other.Package != d.Package || other.Path != d.Path || other.Replaces() != d.Replaces() {
			continue
		}
		types = types.With(other.Decl.Name.Value, dynamicType(other.Decl))
		for _, name := range other.Decl.Env {
			env = append(env, name.Value)
		}
	}
	slices.Sort(env)
	inputs := []value.Entry{
		{Key: "source", Value: value.String(d.Path)},
		{Key: "language", Value: value.String(d.Code.Language)},
		{Key: "digest", Value: value.String(d.Code.Digest)},
		{Key: "code", Value: value.String(d.Code.Code).Secret()},
		{Key: "types", Value: types},
	}
	if env = slices.Compact(env); len(env) > 0 {
		inputs = append(inputs, value.Entry{Key: "env", Value: value.Strings(env)})
	}
	return value.MapOf(inputs...)
}

// dynamicType describes a type to the provider.
func dynamicType(d *ast.Dynamic) value.Value {
	t := value.EmptyMap()
	if export := d.Export(); export != "" {
		t = t.With("export", value.String(export))
	}
	if d.OnCodeChange != nil {
		t = t.With("onCodeChange", value.String(d.OnCodeChange.Value))
	}
	// with adds the names of the properties whose flag has a value.
	with := func(key string, list []*ast.DynamicProperty, flag func(*ast.DynamicProperty) *ast.BoolLiteral, want bool) {
		var names []string
		for _, p := range list {
			if set := flag(p); set != nil && set.Value == want {
				names = append(names, p.Name.Value)
			}
		}
		if names != nil {
			t = t.With(key, value.Strings(names))
		}
	}
	if d.Inputs != nil {
		all := []string{}
		for _, p := range d.Inputs.List {
			all = append(all, p.Name.Value)
		}
		t = t.With("inputs", value.Strings(all))
		with("replace", d.Inputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Replace }, true)
	}
	if d.Outputs != nil {
		with("stable", d.Outputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Stable }, true)
		with("secret", d.Outputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Secret }, true)
		with("public", d.Outputs.List, func(p *ast.DynamicProperty) *ast.BoolLiteral { return p.Secret }, false)
	}
	return t
}
