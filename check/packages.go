package check

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// packages holds the packages of a program.
type packages struct {
	loaded        map[string]*loadedPackage       // by descriptor
	order         []string                        // keys in order of first use
	callProviders map[*ast.Call]*Node             // default providers of calls
	missing       map[*loadedPackage][]diag.Range // uses of packages that are missing
}

// loadedPackage is a package with the results of lookups in it. Concurrent checks may share it.

type loadedPackage struct {
	descriptor schema.Descriptor
	pkg        *schema.Package // nil when it could not be loaded
	err        error

	// resources and functions by token as written; kinds are resources without a schema
	resources, kinds parallel.Memo[string, resolvedResource, error]
	functions        parallel.Memo[string, *schema.Function, error]
}

type resolvedResource struct {
	r   *schema.Resource
	t   schema.Type
	old bool // the token is the former one of a renamed resource
}

// use is one mention of a package: a resource's type or a call.
type use struct {
	token *ast.Literal
	// The options version and pluginDownloadURL where they are literal.
	versionText, urlText string
	// explicit reports whether it is a provider or names one, so that the default provider does not apply.
	explicit bool
	start    int // in the whole text, once computed
}

// choiceKey determines the schemas in which a token is looked up.
type choiceKey struct {
	pkg, version, url  string
	explicit, provider bool
}

// choice lists the packages in which a token is looked up, in order, with the version of the use.
type choice struct {
	descriptors []schema.Descriptor
	packages    []*loadedPackage
}

// resolver finds the types of the resources of a body.
type resolver struct {
	linker
	// namedVersions holds the first use of each package with a version, which uses without one take over, as in
	// Pulumi's host (L7.21).
	namedVersions map[string]use
	choosing      sync.Mutex // guards the fields below
	choices       map[choiceKey]*choice
	chosenBy      choiceKey // the last one; neighbouring declarations mostly use the same package
	chosen        *choice   // nil for none
}

// loadPackages loads every package that the program names, several at a time, and finds the type of every resource.
func (c *body) loadPackages(bodies []*body) {
	all := make([][]use, len(bodies))
	c.namedVersions = map[string]use{}
	for i := len(bodies) - 1; i >= 0; i-- { // the program's own body is the last
		body := bodies[i]
		all[i] = body.packageUses()
		switch {
		case body.component == nil:
		case body.component.Packaged:
			body.namedVersions = map[string]use{}
		default: // of the program's text
			body.namedVersions = c.namedVersions
		}
		for _, u := range all[i] {
			body.nameVersion(u)
		}
	}
	for i, body := range bodies {
		for _, u := range all[i] {
			if validToken(u.token.Value) {
				body.choose(u) // which adds the packages, in the order of the text
			}
		}
	}
	var wait sync.WaitGroup
	for _, key := range c.packages.order {
		p := c.packages.loaded[key]
		if c.schemas == nil && p.descriptor.Name != pulumiName {
			continue
		}
		wait.Go(func() {
			if c.schemas == nil {
				p.pkg, p.err = schema.Builtin()
				return
			}
			if p.pkg, p.err = c.schemas.Load(c.ctx, p.descriptor); p.err == nil {
				p.err = p.pkg.Missing()
			}
		})
	}
	wait.Wait()
	c.packages.takeOver(c.memory)
	for _, body := range bodies {
		body.renewChoices()
		for _, n := range body.all {
			if n.Kind == ResourceNode {
				c.remarks.types.Add(body.loose.Attempt(func() { body.resolveResource(n) })...)
			}
		}
	}
	for _, key := range c.packages.order {
		if d := c.packages.loaded[key].descriptor; d.PackageName() != pulumiName { // L7.10
			c.program.Packages = append(c.program.Packages, d)
		}
	}
}

// nameVersion records the version of a use, unless the package has one.
func (c *resolver) nameVersion(u use) {
	name := packageOf(u.token.Value)
	if _, named := c.namedVersions[name]; !named && versionText().MatchString(u.versionText) {
		c.namedVersions[name] = u
	}
}

// packageUses returns the uses of packages in a body, in the order of its text.
func (c *resolver) packageUses() []use {
	uses := make([]use, 0, len(c.file.Resources))
	for _, decl := range c.file.Resources {
		if decl.Type != nil && !c.components.serves(decl.Type.Value) && !c.servesDynamic(decl.Type.Value) &&
			!ofSDK(decl.Type.Value) {
			uses = append(uses, resourceUse(decl))
		}
	}
	for unit := range c.file.Units() {
		for call, token := range providerCalls(unit) {
			uses = append(uses, useOf(call, token))
		}
	}
	uses = append(uses, c.policyUses()...)
	for i := range uses {
		uses[i].start = c.startOf(uses[i].token.Range)
	}
	byStart := func(a, b use) int { return a.start - b.start }
	if !slices.IsSortedFunc(uses, byStart) {
		slices.SortStableFunc(uses, byStart)
	}
	return uses
}

// choose returns the packages in which a token is looked up.
func (c *resolver) choose(u use) *choice {
	key := choiceKey{pkg: packageOf(u.token.Value), version: u.versionText, url: u.urlText, explicit: u.explicit,
		provider: isProviderToken(u.token.Value)}
	c.choosing.Lock()
	defer c.choosing.Unlock()
	if c.chosen != nil && c.chosenBy == key {
		return c.chosen
	}
	known := c.choices[key]
	if known == nil {
		known = &choice{descriptors: c.descriptors(u)}
		for _, d := range known.descriptors {
			known.packages = append(known.packages, c.packages.add(d))
		}
		c.choices[key] = known
	}
	c.chosenBy, c.chosen = key, known
	return known
}

// takeOver reuses the lookups of an earlier check, which may be nil, in unchanged packages.
func (ps *packages) takeOver(m *memory) {
	if m == nil {
		return
	}
	for key, p := range ps.loaded {
		if before := m.packages[key]; before != nil && before.pkg == p.pkg && p.pkg != nil && before.err == nil &&
			p.err == nil &&
			reflect.DeepEqual(before.descriptor, p.descriptor) {
			ps.loaded[key] = before
		}
	}
}

// renewChoices puts the loaded packages into the choices. An unchanged choice of an earlier check is reused.
func (c *body) renewChoices() {
	c.chosen = nil
	for key, made := range c.choices {
		for i, p := range made.packages {
			made.packages[i] = c.packages.loaded[p.descriptor.Key()]
		}
		if c.remembered == nil {
			continue
		}
		if before := c.remembered.choices[key]; before != nil && slices.Equal(before.packages, made.packages) &&
			reflect.DeepEqual(before.descriptors, made.descriptors) {
			c.choices[key] = before
		}
	}
}

func (p *packages) add(d schema.Descriptor) *loadedPackage {
	key := d.Key()
	if known := p.loaded[key]; known != nil {
		return known
	}
	entry := &loadedPackage{descriptor: d}
	p.loaded[key] = entry
	p.order = append(p.order, key)
	return entry
}

func resourceUse(decl *ast.Resource) use {
	o := &decl.Options
	return use{token: decl.Type, versionText: o.Version.Text(), urlText: o.PluginDownloadURL.Text(),
		explicit: o.Provider != nil || isProviderToken(decl.Type.Value)}
}

// descriptors returns the packages in which a token may be found, in order (L7.20): the declared packages with its
// namespace, else the plain one, followed by the extensions of its plugin (L1.41). Options of the resource or call win
// (L7.21).
func (c *resolver) descriptors(u use) []schema.Descriptor {
	name := packageOf(u.token.Value)
	var found, extensions []schema.Descriptor
	for _, d := range c.opts.Packages {
		switch {
		case d.Extension && d.Name == name:
			extensions = append(extensions, d)
		case d.PackageName() == name:
			found = append(found, d)
		}
	}
	if len(found) == 0 {
		found = append(found, schema.Descriptor{Name: name})
	}
	return append(c.asUsed(found, u), extensions...)
}

// asUsed gives packages the version and the download URL of a use, or else of the first use with a version (L7.21).
func (c *resolver) asUsed(found []schema.Descriptor, u use) []schema.Descriptor {
	name := packageOf(u.token.Value)
	if provider := c.defaults[name]; provider != nil && !u.explicit && u.versionText == "" && u.urlText == "" {
		options := &provider.Resource.Decl.Options // L7.46
		u.versionText, u.urlText = options.Version.Text(), options.PluginDownloadURL.Text()
	}
	if first, named := c.namedVersions[name]; named && u.versionText == "" && u.urlText == "" &&
		!isProviderToken(u.token.Value) {
		decided := func(d schema.Descriptor) bool { return d.Version != "" || d.Parameterization != nil }
		if slices.ContainsFunc(found, decided) {
			return found // the project has declared it
		}
		u.versionText, u.urlText = first.versionText, first.urlText
		for i := range found {
			found[i].Implied = true
		}
	}
	for i := range found {
		// an invalid version is reported at the option
		if versionText().MatchString(u.versionText) && found[i].Parameterization == nil {
			found[i].Version = schema.PlainVersion(u.versionText)
		}
		if u.urlText != "" {
			found[i].DownloadURL = u.urlText
		}
	}
	return found
}

// validToken reports whether a token has two or three parts, none of them empty (L7.1).
func validToken(token string) bool {
	colons := strings.Count(token, ":")
	return (colons == 1 || colons == 2) && token[0] != ':' && token[len(token)-1] != ':' && !strings.Contains(token, "::")
}

func reportBadToken(report *findings.Reporter, token *ast.Literal, what string) {
	report.Errorf(diag.BadTypeToken, token.Range,
		"it has two or three parts, separated by colons: package:module:"+what+" or package:"+what,
		"%s is not the token of a %s", findings.Shown(token.Value), strings.ToLower(what))
}

// resolveResource finds a resource's type (L7.A).
func (c *resolver) resolveResource(n *Node) {
	r := n.Resource
	if r.Decl.Type == nil {
		return // reported by the parser
	}
	token := r.Decl.Type
	if !validToken(token.Value) {
		reportBadToken(c.loose, token, "Type")
		return
	}
	r.Token = token.Value
	switch {
	case c.dynamic[token.Value] == nil && c.components.serves(token.Value):
		c.resolveComponent(n)
		return
	case c.servesDynamic(token.Value):
		c.resolveDynamic(n)
		return
	}
	if ofSDK(token.Value) {
		r.Package = schema.Descriptor{Name: packageOf(token.Value)}
		n.Type = &schema.ResourceType{Token: token.Value, Outputs: func() *schema.Object { return anything }}
		return
	}
	found, known, d, err := find(c.choose(resourceUse(r.Decl)), token.Value, (*loadedPackage).resource)
	r.Package = d
	switch {
	case err == nil:
		c.useResource(n, found)
		return
	case !errors.Is(err, schema.ErrNoSuchToken):
		c.loose.Errorf(diag.PackageMissing, token.Range, "the package's schema has an error", "%s cannot be used: %s",
			token.Value, err)
		return
	case known.absent():
		c.missingPackage(known, token.Range)
		if isProviderToken(token.Value) {
			n.Type = &schema.ResourceType{Token: token.Value}
		}
		return
	}
	if token.Value == customResource {
		c.loose.Add(customResourceFinding(r.Decl))
		return
	}
	if !c.useOpenKind(n, known) {
		tokenNotFound(c.loose, token, known.pkg, "resource")
	}
}

// find looks a token up in the packages of a choice. pkg is the package that has it. With schema.ErrNoSuchToken it is
// the first, or a missing one, which may have the token.
func find[T any](where *choice, token string, ask func(*loadedPackage, string) (T, error)) (found T,
	pkg *loadedPackage, d schema.Descriptor, err error) {
	for i, p := range where.packages {
		if pkg == nil || !pkg.absent() && p.absent() {
			pkg, d = p, where.descriptors[i]
		}
		if p.pkg == nil {
			continue
		}
		if found, err = ask(p, token); !errors.Is(err, schema.ErrNoSuchToken) {
			return found, p, where.descriptors[i], err
		}
	}
	return found, pkg, d, schema.ErrNoSuchToken
}

func (c *resolver) useResource(n *Node, found resolvedResource) {
	r, token := n.Resource, n.Resource.Decl.Type
	r.Schema, r.Token, n.Type = found.r, found.r.Token, found.t
	c.loose.OldSpelling(token.Range, token.Value, findings.Spelling(token.Value, r.Token))
	if found.old {
		c.loose.Warnf(diag.Deprecated, token.Range, "write `"+schema.CollapseToken(r.Token)+"`", "%s has been renamed", token.Value)
	}
	if found.r.Overlay && r.Token == customResource {
		c.loose.Add(customResourceFinding(r.Decl))
		r.Schema, n.Type = nil, schema.Invalid
		return
	}
	if found.r.Overlay {
		c.loose.Errorf(diag.TokenNotFound, token.Range, overlayHint(r.Token), "%s exists in other languages only",
			schema.CollapseToken(r.Token))
		r.Schema, n.Type = nil, schema.Invalid
		return
	}
	if m := found.r.Deprecation; m != "" {
		c.loose.Warnf(diag.Deprecated, token.Range, schema.Plain(m), "%s is deprecated", schema.CollapseToken(r.Token))
	}
}

func overlayHint(token string) string {
	switch {
	case strings.HasPrefix(token, "kubernetes:helm.sh/"):
		return "use kubernetes:helm.sh/v4:Chart or a Release of kubernetes:helm.sh/v3"
	case strings.HasPrefix(token, "kubernetes:yaml:"):
		return "use the resources of kubernetes:yaml/v2, or one resource for each object"
	case strings.HasPrefix(token, "kubernetes:kustomize:"):
		return "use kubernetes:kustomize/v2:Directory"
	}
	return "the provider itself does not have it"
}

func (p *loadedPackage) resource(written string) (resolvedResource, error) {
	return p.resources.Get(written, func() (found resolvedResource, err error) {
		found.r, err = p.pkg.ResolveResource(written)
		if errors.Is(err, schema.ErrNoSuchToken) {
			if token, ok := p.pkg.ResourceByAlias(written); ok {
				found.r, err = p.pkg.Resource(token)
				found.old = err == nil
			}
		}
		if r := found.r; r != nil {
			found.t = &schema.ResourceType{Token: r.Token, Component: r.Component,
				Outputs: func() *schema.Object { return r.Outputs }}
		}
		return found, err
	})
}

func (p *loadedPackage) function(written string) (*schema.Function, error) {
	return p.functions.Get(written, func() (*schema.Function, error) { return p.pkg.ResolveFunction(written) })
}

// installLine returns the command that installs the plugin of a package. No installed package is suggested for a
// missing one: aws and awsx are different packages.
func installLine(d schema.Descriptor) string {
	return strings.TrimSpace("install it with: yamlhost plugin install resource " + d.Name + " " + d.Version)
}

// missingPackage records a use of a package without a provider, which is reported once, with all of its uses (L7.22).
func (c *run) missingPackage(p *loadedPackage, rng diag.Range) {
	if c.schemas != nil {
		c.packages.missing[p] = append(c.packages.missing[p], rng)
	}
}

func (c *resolver) reportMissingPackages() {
	for _, key := range c.packages.order {
		p := c.packages.loaded[key]
		uses := c.packages.missing[p]
		if len(uses) == 0 || errors.Is(p.err, schema.ErrReported) {
			continue
		}
		slices.SortStableFunc(uses, func(a, b diag.Range) int { return c.startOf(a) - c.startOf(b) })
		name := p.descriptor.PackageName()
		d := diag.Diagnostic{Code: diag.PackageMissing, Subject: uses[0], Summary: "no provider for package " + name}
		if v := p.descriptor.PackageVersion(); v != "" {
			d.Summary += " " + v
		}
		if errors.Is(p.err, schema.ErrNotFound) {
			d.Detail = installLine(p.descriptor)
			if advised, ok := errors.AsType[interface {
				error
				Advice() string
			}](p.err); ok && advised.Advice() != "" {
				d.Detail = advised.Advice()
			}
		} else if p.err != nil {
			d.Summary = "the schema of package " + name + " cannot be read"
			d.Detail = p.err.Error()
		}
		for _, rng := range uses[1:] {
			d.Related = append(d.Related, diag.Related{Range: rng, Message: "it is needed here too"})
		}
		c.loose.Add(d)
	}
}

func tokenNotFound(report *findings.Reporter, token *ast.Literal, pkg *schema.Package, what string) {
	near := nearIn(report, pkg, token.Value, what)
	hint := findings.DidYouMean(near)
	if what == "function" {
		if _, err := pkg.ResolveResource(token.Value); err == nil {
			near, hint = nil, "it is the type of a resource: declare one under `resources`, and read its outputs"
		}
	} else if _, err := pkg.ResolveFunction(token.Value); err == nil {
		near, hint = nil, "it is a function: call it with `fn::"+token.Value+"`"
	}
	if hint == "" {
		hint = "list what the package has with: yamlhost schema " + pkg.Name
	}
	report.Add(diag.Diagnostic{Code: diag.TokenNotFound, Subject: token.Range, Detail: hint,
		Summary: fmt.Sprintf("package %s has no %s %s", pkg.Name, what, token.Value),
		Fixes:   findings.Rename(token.Range, token.Value, near)})
}

// nearIn returns the tokens of functions or resources of a package that a misspelt one may mean.
func nearIn(report *findings.Reporter, pkg *schema.Package, token, what string) []string {
	return report.Near(findings.Question{Name: token, Space: what, Of: pkg}, func() []string {
		if what == "function" {
			return nearTokens(token, pkg.FunctionTokens())
		}
		return nearTokens(token, pkg.ResourceTokens())
	})
}

// nearTokens returns the tokens that a misspelt one may mean (L7.6), in their shortest form: tokens that are similar in
// the short or the long form, else tokens of other modules with the same name.
func nearTokens(written string, tokens []string) []string {
	candidates := make([]string, 0, 2*len(tokens))
	for _, t := range tokens {
		collapsed := schema.CollapseToken(t)
		candidates = append(candidates, collapsed)
		if collapsed != t {
			candidates = append(candidates, t)
		}
	}
	near := diag.Suggest(written, candidates)
	if len(near) == 0 {
		name := strings.ToLower(written[strings.LastIndexByte(written, ':')+1:])
		for _, t := range tokens {
			if other := strings.ToLower(t[strings.LastIndexByte(t, ':')+1:]); other == name && len(near) < 5 {
				near = append(near, t)
			}
		}
	}
	var short []string
	for _, t := range near {
		if t = schema.CollapseToken(t); !slices.Contains(short, t) {
			short = append(short, t)
		}
	}
	return short
}

// known is Program.Known for the declaration that is being checked.
func (c *constants) known(t schema.Type) schema.Type {
	found, missing := known(c.ctx, c.schemas, t)
	c.volatile = c.volatile || missing
	return found
}

// known resolves a type that another package defines. missing reports whether that package is unknown.
func known(ctx context.Context, schemas schema.Loader, t schema.Type) (found schema.Type, missing bool) {
	switch t := t.(type) {
	case *schema.Token:
		pkg, missing := foreign(ctx, schemas, t.Package)
		if pkg != nil {
			if found, err := pkg.Type(t.Token); err == nil {
				return found, false
			}
		}
		return t, missing
	case *schema.ResourceType:
		if t.Outputs != nil {
			return t, false
		}
		pkg, missing := foreign(ctx, schemas, t.Package)
		if pkg != nil {
			if r, err := pkg.ResolveResource(t.Token); err == nil && r.Token == t.Token {
				return &schema.ResourceType{Token: r.Token, Component: r.Component,
					Outputs: func() *schema.Object { return r.Outputs }}, false
			}
		}
		return t, missing
	}
	return t, false
}

// foreign loads the package that a schema refers to; nil if there is none or it is missing, which is not a fault of the
// program.
func foreign(ctx context.Context, schemas schema.Loader, d schema.Descriptor) (pkg *schema.Package, missing bool) {
	if d.Name == "" || schemas == nil {
		return nil, false
	}
	pkg, err := schemas.Load(ctx, d)
	if err != nil {
		return nil, true
	}
	return pkg, false
}
