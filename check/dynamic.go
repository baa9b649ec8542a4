package check

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Dynamic types have a provider that is a source file beside the program (D15).

// dynamicTypes makes types from declarations.
type dynamicTypes struct {
	report  *findings.Reporter
	bundle  Bundler             // nil if sources are not bundled
	byToken map[string]*Dynamic // by all spellings of the token
	all     []*Dynamic          // in source order
}

// find makes the types of a program and of the packages used by path.
func (c *dynamicTypes) find(ctx context.Context, file *ast.File, opts Options) {
	c.add(ctx, file.Dynamic, opts.ProgramDir, "", program.DynamicNamespace)
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
		// In one file the parser reports it.
		if other := c.byToken[d.Token]; other != nil && other.Decl.Name.Range.Source != decl.Name.Range.Source {
			c.report.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: decl.Name.Range,
				Summary: "the package has a type `" + decl.Name.Value + "` already", Detail: "rename one of the two",
				Related: []diag.Related{{Range: other.Decl.Name.Range, Message: "the other one is here"}}})
		}
		c.all = append(c.all, d)
		for _, name := range names {
			// Programs write the short form, and SDKs the long one.
			c.byToken[name+":index:"+decl.Name.Value], c.byToken[name+":"+decl.Name.Value] = d, d
		}
		if decl.Provider == nil {
			continue
		}
		d.Path = decl.Path()
		// As written: a package must not read the files of the project that uses it.
		if rng := decl.Provider.Range; path.IsAbs(d.Path) || d.Path == ".." || strings.HasPrefix(d.Path, "../") {
			c.report.Errorf(diag.FileAccess, rng, "move the file into the project", "%s is outside of the project", findings.Shown(d.Path))
			continue
		}
		if c.bundle == nil {
			continue
		}
		// Several types may share a source, and bundling reads files.
		known, done := bundles[d.Path]
		if !done {
			// Kept as nil after a fault, so that it is reported once.
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
	// Without code the type can be checked, and no run begins with an error.
	if len(faults) > 0 || err != nil {
		return nil
	}
	return b
}

// schemaOf describes the type as a provider's resource. Properties without a declared type have the type any. A type
// without declared inputs takes any. The outputs of a package are complete, since others rely on its declaration; those
// of the program's own types may be more than it declares.
func (c *dynamicTypes) schemaOf(d *Dynamic) *schema.Resource {
	r := &schema.Resource{Token: d.Token, Description: d.Decl.Description.Text()}
	inputs := c.properties(d.Decl.Inputs, true)
	outputs := c.properties(d.Decl.Outputs, false)
	r.Inputs = schema.NewObject("", d.Decl.Inputs != nil, func() []*schema.Property { return inputs })
	r.Outputs = schema.NewObject("", d.Package != "", func() []*schema.Property { return outputs })
	return r
}

// properties returns the declared inputs or outputs as those of a schema. Whether a value may be left out is asked for
// inputs only: an output that is missing is a fault of the code, not of the program.
func (c *dynamicTypes) properties(from *ast.DynamicProperties, input bool) []*schema.Property {
	if from == nil {
		return nil
	}
	list := make([]*schema.Property, 0, len(from.List))
	for _, decl := range from.List {
		p := &schema.Property{Name: decl.Name.Value, Type: program.ConfigType(decl.Type),
			Description: decl.Description.Text(),
			Secret:      decl.Secret.IsTrue()}
		p.Required = input && decl.Default == nil && !decl.Optional.IsTrue() &&
			(decl.Type == nil || !decl.Type.Optional)
		switch literal := decl.Default.(type) {
		// A fault of the parser has been reported.
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
func (r *run) servesDynamic(token string) bool {
	if r.dynamic[token] != nil {
		return true
	}
	namespace, _, _ := strings.Cut(token, ":")
	// With a declaration that has lost its name, a token of the namespace may be that one's.
	return namespace == program.DynamicNamespace && (len(r.dynamic) > 0 || r.file.Nameless > 0)
}

// resolveDynamic finds the dynamic type of a resource.
func (b *body) resolveDynamic(n *Node) {
	r, token := n.Resource, n.Resource.Decl.Type
	d := b.run.dynamic[token.Value]
	if d == nil {
		if _, name, _ := strings.Cut(token.Value, ":"); slices.Contains(b.file.Lost, name) || b.scope.Nameless(name) {
			return
		}
		var names []string
		for spelling := range b.run.dynamic {
			// The long spellings would be suggested beside the short ones.
			if strings.Count(spelling, ":") == 1 {
				names = append(names, spelling)
			}
		}
		slices.Sort(names)
		hint := findings.NearOrAll(diag.Suggest(token.Value, names), names, "there is ", "")
		// No schema says which of the properties are secret.
		r.Decl.HideTexts()
		b.run.report.Errorf(diag.TokenNotFound, token.Range, hint, "there is no dynamic type `%s`", token.Value)
		return
	}
	r.Dynamic, r.Schema, r.Token = d, d.Schema, d.Token
	n.Type = d.Schema.Type()
	// The provider is the source beside the program, so there is nothing to choose.
	for _, option := range []*ast.Option{r.Decl.Options.Provider, r.Decl.Options.Version,
		r.Decl.Options.PluginDownloadURL} {
		if option != nil {
			b.run.report.Errorf(diag.WrongProvider, option.Key.Range, "leave the option out",
				"%s is served by %s and takes no `%s`", findings.Shown(token.Value), d.Path, option.Key.Value)
		}
	}
}
