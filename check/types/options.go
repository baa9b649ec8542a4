package types

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// options checks the options of resources, transforms and calls. Options are for the engine: they have no conversions,
// and most must be known before anything is created.
type options struct {
	decl      *declaration
	constants *constants
	fitter    *fitter
	typer     *typer
}

// checkOptions checks a resource's options (L4). All values are inferred first, in the order of the text; the rules
// follow in the order of the table, in which the editor and the JSON Schema have them, too.
func (c *options) checkOptions(n *program.Node) {
	o := &n.Resource.Decl.Options
	// Also of options that no rule looks at: the editor asks for the types of all expressions.
	o.Each(func(option *ast.Option) { c.typer.infer(option.Value) })

	for _, spec := range ast.OptionSpecs() {
		if field := spec.In(o); field != nil {
			with(*field, func(name string, e ast.Expr) { c.checkOption(n, &spec, e) })
		}
	}
	// These two are maps of their own and have no row in the table of shapes.
	if o.Hooks != nil {
		c.checkHookOption(o)
	}
	if t := o.CustomTimeouts; t != nil {
		for _, option := range []*ast.Option{t.Create, t.Update, t.Delete, t.Read} {
			with(option, c.fitTimeout)
		}
	}
	c.checkDefaultProviderVersion(n)
}

// checkOption checks an option by its own rule, or else by its shape. A rule of its own is needed where the resource's
// type or another package decides; a new option needs a shape in the table only.
func (c *options) checkOption(n *program.Node, spec *ast.OptionSpec, e ast.Expr) {
	fit := c.fitOption
	if spec.Early {
		fit = c.fitEarly
	}
	switch spec.Name {
	case "provider":
		pkg := ""
		if s := n.Resource.Schema; s != nil && !s.Component { // components take options of other packages
			pkg = packages.Of(n.Resource.Token)
		}
		c.fitProvider(spec.Name, e, pkg)
	case "providers":
		c.fitProviders(spec.Name, e)
	case "version":
		if fit(spec.Name, e, schema.String) {
			c.checkVersion(spec.Name, e)
		}
	case "additionalSecretOutputs":
		c.fitSecretOutputs(spec.Name, e, n)
	case "aliases":
		c.fitAliases(spec.Name, e)
	case "envVarMappings":
		// An empty token is that of a type that was not found, which may have been a provider.
		if n.Resource.Token != "" && !packages.IsProvider(n.Resource.Token) {
			c.decl.report.Errorf(diag.UnknownKey, n.Resource.Decl.Options.EnvVarMappings.Key.Range, "",
				"option envVarMappings is for provider resources only")
		}
		fit(spec.Name, e, &schema.Map{Item: schema.String})
	default:
		switch spec.Shape {
		case ast.FlagOption:
			fit(spec.Name, e, schema.Bool)
		case ast.TextOption:
			fit(spec.Name, e, schema.String)
		case ast.TextsOption:
			c.fitTexts(spec.Name, e)
		case ast.PathsOption:
			c.fitPaths(spec.Name, e, n.Resource.Inputs())
		case ast.ResourceOption:
			c.fitOption(spec.Name, e, schema.AnyResource)
		case ast.ResourcesOption:
			c.fitResources(spec.Name, e)
		case ast.AnyOption: // its content has been inferred
		}
	}
}

// with calls fn for an option that is present and not null, which means the same as its absence (L4.6).
func with(o *ast.Option, fn func(name string, e ast.Expr)) {
	if o == nil {
		return
	}
	if _, null := o.Value.(*ast.Null); !null {
		fn(o.Key.Value, o.Value)
	}
}

// fitOption checks the value of an option, and reports whether it fits, so that a caller checks its content only then.
// An undeclared configuration value, of type Any, is refused where a resource
// is wanted: it is mostly the misspelt name of one.
func (c *options) fitOption(name string, e ast.Expr, t schema.Type) bool {
	if a, ok := e.(*ast.Access); ok && schema.Required(t) == schema.AnyResource {
		ref := c.decl.program.Ref(a)
		// A declared value has a type of its own, which the comparison below refuses.
		if ref.Kind == program.RefNode && ref.Node.Kind == program.ConfigNode && ref.Node.Config.Decl == nil {
			c.decl.report.Errorf(diag.NeedsResource, e.Range(), "declare the resource, or write the name of another one",
				"option %s must be a resource, not the configuration value %s", name, findings.Shown(a.Root.Value))
			return false
		}
	}
	return c.fitter.fit(e, t, &destination{what: "option " + name, strict: true, nullable: true})
}

// fitEarly is fitOption for a value that must be known in a preview (L4.2). The engine reads it while it decides what
// to do, in a preview as well.
func (c *options) fitEarly(name string, e ast.Expr, t schema.Type) bool {
	if !c.fitOption(name, e, t) {
		return false
	}
	if c.constants.comesFromResource(e) {
		c.decl.report.Errorf(diag.NotKnownInTime, e.Range(), "use configuration, variables or constants here",
			"option %s must be known before anything is created", name)
		return false
	}
	return true
}

// fitResources accepts a list of resources, at any depth, or a single one (L4.5). A resource with forEach stands for
// all of its instances. A list is gone through item by item, so that the finding is at the one that is no resource.
// A null that is computed is an instance that does not exist.
func (c *options) fitResources(name string, e ast.Expr) {
	switch e := e.(type) {
	case *ast.List:
		c.typer.infer(e)
		for _, item := range e.Items {
			c.fitResources(name, item)
		}
		return
	case *ast.Map:
		for _, entry := range e.Entries {
			if _, empty := entry.Value.(*ast.Null); empty { // {name}, which is a key without a value
				c.decl.report.Errorf(diag.NeedsResource, entry.Key.Range(),
					"write `${name}` with the name of a resource", "option %s: %s is a key without a value", name,
					findings.Shown(entry.Key.Range().Text()))
				return
			}
		}
	}
	c.fitOption(name, e, resourcesLike(c.typer.infer(e)))
}

// resourcesLike returns t with every item and member type replaced by a resource. The shape stays, for a map of
// instances is as good as a list; every leaf may be null, since an instance may not exist.
func resourcesLike(t schema.Type) schema.Type {
	switch t := schema.Required(t).(type) {
	case *schema.Array:
		return schema.OptionalOf(&schema.Array{Item: resourcesLike(t.Item)})
	case *schema.Map:
		return schema.OptionalOf(&schema.Map{Item: resourcesLike(t.Item)})
	case *schema.Object:
		return schema.OptionalOf(&schema.Map{Item: resourcesLike(program.MemberUnion(t))})
	}
	return schema.OptionalOf(schema.AnyResource)
}

// fitProvider requires a provider resource, of package pkg unless that is empty (L4.20). Only what certainly is another
// resource is refused: a type that is not known may be a provider.
func (c *options) fitProvider(name string, e ast.Expr, pkg string) {
	if !c.fitOption(name, e, schema.AnyResource) {
		return
	}
	t, ok := schema.Required(c.typer.infer(e)).(*schema.ResourceType)
	if !ok {
		return
	}
	pkgName, isProvider := strings.CutPrefix(t.Token, packages.ProviderPrefix)
	switch {
	case !isProvider:
		c.decl.report.Errorf(diag.WrongProvider, e.Range(), "declare a resource of type "+packages.ProviderPrefix+cmp.Or(pkg, "<package>"),
			"%s is not a provider but a %s", describeExpr(e), schema.CollapseToken(t.Token))
	case pkg != "" && pkg != pkgName:
		c.decl.report.Errorf(diag.WrongProvider, e.Range(), "use a resource of type "+packages.ProviderPrefix+pkg,
			"provider %s is for package %s, not for %s", describeExpr(e), pkgName, pkg)
	}
}

// fitProviders accepts a list of providers, or a map of them by package (L4.21).
func (c *options) fitProviders(name string, e ast.Expr) {
	switch e := e.(type) {
	case *ast.List:
		for _, item := range e.Items {
			c.fitProvider(name, item, "")
		}
		return
	case *ast.Map:
		for _, entry := range e.Entries {
			pkg := ""
			if key, ok := entry.Key.(*ast.String); ok {
				pkg = key.Value
			}
			c.fitProvider(name, entry.Value, pkg)
		}
		return
	}
	switch schema.Required(c.typer.infer(e)).(type) {
	case *schema.Array:
		// Computed: the packages of the providers are known in the run only.
		c.fitOption(name, e, &schema.Array{Item: schema.AnyResource})
	case *schema.Map, *schema.Object:
		c.fitOption(name, e, &schema.Map{Item: schema.AnyResource})
	default:
		c.fitProvider(name, e, "")
	}
}

// checkVersion reports a literal text that is not a version. The engine would look for a plugin of that version, and
// say only that it is missing.
func (c *options) checkVersion(name string, e ast.Expr) {
	if s, ok := c.constants.constant(e).(*ast.String); ok && !packages.Version().MatchString(s.Value) {
		c.decl.report.Errorf(diag.Malformed, e.Range(), "a version looks like 1.2.3", "%s: %s is not a version", name, findings.Shown(s.Value))
	}
}

// fitTimeout requires a duration such as 5m or 1h30m (L4.13).
func (c *options) fitTimeout(name string, e ast.Expr) {
	const hint = "write a number with a unit, such as 40s, 5m, 1h30m or 1d"
	if _, isNumber := c.constants.constant(e).(*ast.Number); isNumber {
		c.decl.report.Errorf(diag.Malformed, e.Range(), hint, "customTimeouts.%s: a number has no unit", name)
		return
	}
	if !c.fitter.fit(e, schema.String, &destination{what: "customTimeouts." + name, strict: true, nullable: true}) {
		return
	}
	if s, ok := c.constants.constant(e).(*ast.String); ok {
		// A text of another form would be passed on, and fail in the middle of a run.
		if d, err := value.ParseDuration(s.Value); err != nil || d < 0 {
			c.decl.report.Errorf(diag.Malformed, e.Range(), hint, "customTimeouts.%s: %s is not a duration", name, findings.Shown(s.Value))
		}
	}
}

// eachText calls fn for every literal text of a list, or for a single one.
func eachText(e ast.Expr, fn func(text *ast.String)) {
	for _, item := range program.ItemsOf(e) {
		if s, ok := item.(*ast.String); ok {
			fn(s)
		}
	}
}

// fitTexts accepts a list of texts or a single one, as Pulumi YAML does. Both must be known early.
func (c *options) fitTexts(name string, e ast.Expr) bool {
	if t := schema.Required(c.typer.infer(e)); t == schema.String {
		return c.fitEarly(name, e, schema.String)
	}
	return c.fitEarly(name, e, &schema.Array{Item: schema.String})
}

// fitPaths requires property paths (L4.16). The first segment should be a property of inputs; with nil, it may be
// anything. A path that names no property is a warning: the provider may be newer than the schema, and ignoring a
// change that never comes does no harm.
func (c *options) fitPaths(name string, e ast.Expr, inputs *schema.Object) {
	if !c.fitTexts(name, e) {
		return
	}
	eachText(e, func(s *ast.String) {
		path, err := value.ParsePathStrict(s.Value)
		if err != nil || len(path) == 0 {
			c.decl.report.Errorf(diag.Malformed, s.Range(), `A path looks like a.b, a[0], a["x.y"] or a[*].`,
				"%s: %s is not a property path", name, findings.Shown(s.Value))
			return
		}
		first := path[0]
		if inputs == nil || first.IsIndex || first.IsWildcard() || inputs.Property(first.Key) != nil {
			return
		}
		// Only the first segment is compared: below it, maps may have any keys.
		warnNoProperty(c.decl.report, name, "input", s, first.Key, inputs)
	})
}

// warnNoProperty warns of a path in an option that begins with an unknown property.
func warnNoProperty(report *findings.Reporter, option, what string, text *ast.String, name string, o *schema.Object) {
	near := diag.Suggest(name, propertyNames(o))
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownProperty, Subject: text.Range(),
		Detail: findings.DidYouMean(near), Summary: fmt.Sprintf("%s: there is no %s `%s`", option, what, name)}
	// In a longer path the fix would have to know where the segment stands in the text.
	if text.Value == name {
		d.Fixes = findings.Rename(text.Range(), name, near)
	}
	report.Add(d)
}

// fitSecretOutputs checks additionalSecretOutputs (L4.30). The values are names of outputs, no paths. id and urn are no
// properties of a schema, but every resource has them.
func (c *options) fitSecretOutputs(name string, e ast.Expr, n *program.Node) {
	s := n.Resource.Schema
	if !c.fitTexts(name, e) || s == nil {
		return
	}
	eachText(e, func(text *ast.String) {
		if s.Outputs.Property(text.Value) == nil && text.Value != "id" && text.Value != "urn" {
			warnNoProperty(c.decl.report, name, "output", text, text.Value, s.Outputs)
		}
	})
}

// fitAliases checks the literal parts of aliases (L4.10). A plain text is an old name, in any form; only one that
// begins with urn: can be malformed.
func (c *options) fitAliases(name string, e ast.Expr) {
	list, ok := e.(*ast.List)
	if !ok {
		t := schema.Required(c.typer.infer(e))
		array, isArray := t.(*schema.Array)
		switch {
		case t == schema.Any || t == schema.Invalid:
		case !isArray:
			c.decl.report.Errorf(diag.NotAssignable, e.Range(), "write a list of old names, URNs or maps",
				"option %s: expected list, got %s", name, schema.TypeName(t))
		default:
			c.fitAliasType(name, e, array.Item)
		}
		return
	}
	for _, item := range list.Items {
		switch literal := c.constants.constant(item).(type) {
		case *ast.String:
			if strings.HasPrefix(literal.Value, "urn:") { // anything else is an old name
				c.checkURNText(name, item)
			}
		case *ast.Map:
			c.fitAlias(name, literal)
		case *ast.Bad:
		default:
			c.fitAliasType(name, item, c.typer.infer(item))
		}
	}
}

// fitAliasType accepts the type of an alias that is no literal: a text, or a map, whose members the run checks. An
// undetermined type passes, since it may be either.
func (c *options) fitAliasType(name string, e ast.Expr, t schema.Type) {
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		if t == schema.String || t == schema.Any || t == schema.Invalid {
			return
		}
	case *schema.Map, *schema.Object:
		return
	case *schema.Union:
		for _, member := range t.Members {
			c.fitAliasType(name, e, member)
		}
		return
	}
	c.decl.report.Errorf(diag.NotAssignable, e.Range(), "write an old name, a URN or a map", "option %s: an alias cannot be %s",
		name, typeWithArticle(t))
}

// checkURNText reports a literal text that is not a URN.
func (c *options) checkURNText(name string, e ast.Expr) {
	s, ok := c.constants.constant(e).(*ast.String)
	if !ok {
		return
	}
	if _, err := urn.Parse(s.Value); err != nil {
		c.decl.report.Errorf(diag.Malformed, e.Range(), "a URN looks like urn:pulumi:stack::project::package:module:Type::name",
			"%s: %s is not a URN", name, findings.Shown(s.Value))
	}
}

// fitAlias checks an alias that is a literal map (L4.10). Unlike a URN in text form, its parts may be computed, if only
// from what is known early.
func (c *options) fitAlias(option string, m *ast.Map) {
	for _, entry := range m.Entries {
		key, literal := entry.Key.(*ast.String)
		if !literal {
			continue
		}
		what := option + ", " + findings.Quote(key.Value)
		switch key.Value {
		case "name", "type", "stack", "project":
			c.fitOption(what, entry.Value, schema.String)
		case "urn":
			if c.fitOption(what, entry.Value, schema.String) {
				c.checkURNText(option, entry.Value)
			}
		case "noParent":
			c.fitOption(what, entry.Value, schema.Bool)
		case "parent":
			// A parent may be given by its URN, too, since the former parent may not be in the program any more.
			if t := schema.Required(c.typer.infer(entry.Value)); t == schema.String {
				c.checkURNText(option, entry.Value)
				continue
			}
			c.fitOption(what, entry.Value, schema.AnyResource)
		default:
			c.decl.report.Errorf(diag.UnknownKey, key.Range(),
				findings.DidYouMean(diag.Suggest(key.Value, program.AliasKeys())),
				"unknown key `%s` in an alias", key.Value)
		}
	}
}

// checkDefaultProviderVersion applies L7.46: a user of the default provider uses its version.
func (c *options) checkDefaultProviderVersion(n *program.Node) {
	provider := n.Resource.DefaultProvider
	if provider == nil {
		return
	}
	mine, theirs := &n.Resource.Decl.Options, &provider.Resource.Decl.Options
	for _, both := range [][2]*ast.Option{{mine.Version, theirs.Version},
		{mine.PluginDownloadURL, theirs.PluginDownloadURL}} {
		own, given := both[0].Text(), both[1].Text()
		if own != "" && schema.PlainVersion(own) != schema.PlainVersion(given) {
			c.decl.report.Add(diag.Diagnostic{Code: diag.WrongProvider, Subject: both[0].Value.Range(),
				Summary: "option " + both[0].Key.Value + " differs from that of the default provider " + provider.Name,
				Detail:  "leave it out, or name another provider in the option provider",
				Related: []diag.Related{{Range: provider.Range, Message: "the default provider is here"}}})
		}
	}
}
