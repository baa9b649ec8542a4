// Package packages finds out which schema a token means: the package that declares it, its version, the extensions that
// may have it too, and the kinds of Kubernetes that no schema describes (rules L7.A–L7.C).
package packages

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Use is one mention of a package: a resource's type or a call.
type Use struct {
	Token *ast.Literal
	// The options version and pluginDownloadURL where they are literal.
	version, url string
	// explicit reports whether it is a provider or names one, so that the default provider does not apply.
	explicit bool
	Start    int // in the whole text, once computed
}

// OfResource returns the use of a package by a resource, which has a type.
func OfResource(decl *ast.Resource) Use {
	o := &decl.Options
	return Use{Token: decl.Type, version: o.Version.Text(), url: o.PluginDownloadURL.Text(),
		explicit: o.Provider != nil || IsProvider(decl.Type.Value)}
}

// OfCall returns the use of a package by a call of a provider function.
func OfCall(e *ast.Call, token *ast.Literal) Use {
	u := Use{Token: token, explicit: NamesProvider(e)}
	u.version, u.url = callVersion(e)
	return u
}

// key identifies the schemas in which a token is looked up.
type key struct {
	pkg, version, url  string
	explicit, provider bool
}

// Choice lists the packages in which a token is looked up, in order, with the version of the use. It is immutable once
// the packages are loaded, and two uses for which it is the same pointer mean the same. Comparing pointers instead of
// names is what makes a check after an edit cheap: Renew takes the former Choice over if everything in it is the same.
type Choice struct {
	descriptors []schema.Descriptor
	packages    []*Package
}

// Resolver finds the schemas that the tokens of one body mean: a program, or a component. A component of a package has
// one of its own, because the versions and defaults of the program do not apply to it; components of the program's own
// text share the versions.
type Resolver struct {
	set      *Set
	declared []schema.Descriptor // the packages that the project declares (L1.H), in the order of their files
	// defaults are the options of the body's default provider of each package (L7.46).
	defaults map[string]*ast.Options
	// versions holds the first use of each package with a version, which uses without one take over, as in Pulumi's
	// host (L7.21). The bodies of one text share it.
	versions map[string]Use
	// kindsUnknown reports whether definitions of Kubernetes kinds could not be read, so that a kind without a schema
	// may be one of those.
	kindsUnknown bool

	choosing sync.Mutex // guards the fields below
	choices  map[key]*Choice
	lastKey  key     // neighbouring declarations mostly use the same package
	last     *Choice // nil for none
}

// NewResolver returns a resolver that adds to a set. declared are the packages that the project declares, in the order
// of their files.
func NewResolver(set *Set, declared []schema.Descriptor, kindsUnknown bool) *Resolver {
	return &Resolver{set: set, declared: declared, kindsUnknown: kindsUnknown, choices: make(map[key]*Choice),
		versions: make(map[string]Use)}
}

// SetDefaults sets the options of the default providers, by package.
func (r *Resolver) SetDefaults(options map[string]*ast.Options) { r.defaults = options }

// ShareVersions makes uses without a version take it from the uses of another body of the same text, too.
func (r *Resolver) ShareVersions(other *Resolver) { r.versions = other.versions }

// NameVersions records the versions in uses, for packages that have none yet. It is called for all bodies before Choose
// is, for a later use may name the version that an earlier one takes over.
func (r *Resolver) NameVersions(uses []Use) {
	for _, u := range uses {
		name := Of(u.Token.Value)
		if _, named := r.versions[name]; !named && Version().MatchString(u.version) {
			r.versions[name] = u
		}
	}
}

// Choose returns the packages in which a token is looked up. Before Load, it adds them to the set.
func (r *Resolver) Choose(u Use) *Choice {
	k := key{pkg: Of(u.Token.Value), version: u.version, url: u.url, explicit: u.explicit,
		provider: IsProvider(u.Token.Value)}
	r.choosing.Lock()
	defer r.choosing.Unlock()
	if r.last != nil && r.lastKey == k {
		return r.last
	}
	known := r.choices[k]
	if known == nil {
		known = &Choice{descriptors: r.descriptors(u)}
		for _, d := range known.descriptors {
			known.packages = append(known.packages, r.set.add(d))
		}
		r.choices[k] = known
	}
	r.lastKey, r.last = k, known
	return known
}

// Renew puts the loaded packages into the choices. It is called after Load, which may have replaced packages by those
// of an earlier check. An unchanged choice of a former resolver, which may be nil, is taken over, so that uses of it
// compare as equal.
func (r *Resolver) Renew(former *Resolver) {
	r.last = nil
	for k, made := range r.choices {
		for i, p := range made.packages {
			made.packages[i] = r.set.loaded[p.Descriptor.Key()]
		}
		if former == nil {
			continue
		}
		if before := former.choices[k]; before != nil && slices.Equal(before.packages, made.packages) &&
			reflect.DeepEqual(before.descriptors, made.descriptors) {
			r.choices[k] = before
		}
	}
}

// descriptors returns the packages in which a token may be found, in order (L7.20): the declared packages with its
// namespace, else the plain one, followed by the extensions of its plugin (L1.41). Options of the resource or call win
// (L7.21).
func (r *Resolver) descriptors(u Use) []schema.Descriptor {
	name := Of(u.Token.Value)
	var found, extensions []schema.Descriptor
	for _, d := range r.declared {
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
	return append(r.asUsed(found, u), extensions...)
}

// asUsed gives packages the version and the download URL of a use, or else of the first use with a version (L7.21). A
// version that was taken over is marked as implied: messages must not claim that this use has written it.
func (r *Resolver) asUsed(found []schema.Descriptor, u Use) []schema.Descriptor {
	name := Of(u.Token.Value)
	if options := r.defaults[name]; options != nil && !u.explicit && u.version == "" && u.url == "" {
		u.version, u.url = options.Version.Text(), options.PluginDownloadURL.Text() // L7.46
	}
	if first, named := r.versions[name]; named && u.version == "" && u.url == "" && !IsProvider(u.Token.Value) {
		decided := func(d schema.Descriptor) bool { return d.Version != "" || d.Parameterization != nil }
		if slices.ContainsFunc(found, decided) {
			return found // the project has declared it
		}
		u.version, u.url = first.version, first.url
		for i := range found {
			found[i].Implied = true
		}
	}
	for i := range found {
		// an invalid version is reported at the option
		if Version().MatchString(u.version) && found[i].Parameterization == nil {
			found[i].Version = schema.PlainVersion(u.version)
		}
		if u.url != "" {
			found[i].DownloadURL = u.url
		}
	}
	return found
}

// Version matches versions leniently (L4.22).
var Version = lazyregexp.New(`^v?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// Resource is a resource type, resolved to its package and schema.
type Resource struct {
	Token   string            // canonical, if there is a schema
	Package schema.Descriptor // with the options version and pluginDownloadURL applied
	Schema  *schema.Resource  // nil when the type's members are not known
	Type    schema.Type       // Invalid if it has been reported as wrong, or its package is missing
}

// Resource finds the type of a resource (L7.A) whose token is valid and belongs to a provider. The cases are in the
// order in which they explain the failure best: a list and a former name are known tokens, a schema that cannot be read
// hides whether it has the token, and a package that is missing says nothing about it.
func (r *Resolver) Resource(decl *ast.Resource, report *findings.Reporter) Resource {
	token := decl.Type
	found, pkg, d, err := find(r.Choose(OfResource(decl)), token.Value, (*Package).resource)
	result := Resource{Token: token.Value, Package: d, Type: schema.Invalid}
	if errors.Is(err, schema.ErrNoSuchToken) {
		if patch, ok := pkg.patch(token.Value); ok {
			found, err = patch, nil
		}
	}
	switch {
	case pkg.isList(token.Value):
		report.Errorf(diag.TokenNotFound, token.Range, "write a resource of the type "+strings.TrimSuffix(token.Value, "List")+
			" for each object", "%s is a list of objects, which the provider does not create", token.Value)
	case err == nil:
		useResource(&result, decl, found, report)
	case !errors.Is(err, schema.ErrNoSuchToken):
		report.Errorf(diag.PackageMissing, token.Range, "the package's schema has an error", "%s cannot be used: %s",
			token.Value, err)
	case pkg.Absent():
		decl.HideSounding()
		r.set.Miss(pkg, token.Range)
		if IsProvider(token.Value) {
			result.Type = &schema.ResourceType{Token: token.Value}
		}
	case token.Value == customResource:
		report.Add(customResourceFinding(decl))
	case !r.useOpenKind(&result, decl, pkg, report):
		ReportUnknown(report, token, pkg.Schema, "resource")
	}
	// The program is checked again with a damaged schema opened anew, and what is hidden once stays so.
	if result.Type == schema.Invalid && !pkg.Absent() && !pkg.Schema.Damaged() {
		decl.HideTexts()
	}
	return result
}

// Function finds the function that a use calls (L7.B). With schema.ErrNoSuchToken, pkg is the package that should have
// it.
func (r *Resolver) Function(u Use) (f *schema.Function, pkg *Package, d schema.Descriptor, err error) {
	return find(r.Choose(u), u.Token.Value, (*Package).function)
}

// find looks a token up in the packages of a choice. pkg is the package that has it. With schema.ErrNoSuchToken it is
// the first, or a missing one, which may have the token.
func find[T any](where *Choice, token string, ask func(*Package, string) (T, error)) (found T,
	pkg *Package, d schema.Descriptor, err error) {
	for i, p := range where.packages {
		if pkg == nil || !pkg.Absent() && p.Absent() {
			pkg, d = p, where.descriptors[i]
		}
		if p.Schema == nil {
			continue
		}
		if found, err = ask(p, token); !errors.Is(err, schema.ErrNoSuchToken) {
			return found, p, where.descriptors[i], err
		}
	}
	return found, pkg, d, schema.ErrNoSuchToken
}

// useResource sets the schema, token and type of a resource to the one found, and reports what is odd about it. A type
// that only SDKs have becomes Invalid, so that its properties cause no findings.
func useResource(result *Resource, decl *ast.Resource, found namedResource, report *findings.Reporter) {
	token := decl.Type
	result.Schema, result.Token, result.Type = found.schema, found.schema.Token, found.typ
	report.OldToken(token, result.Token)
	if found.old {
		report.Warnf(diag.Deprecated, token.Range, "write `"+schema.CollapseToken(result.Token)+"`", "%s has been renamed",
			token.Value)
	}
	switch m := found.schema.Deprecation; {
	case found.schema.Overlay && result.Token == customResource:
		report.Add(customResourceFinding(decl))
		result.Schema, result.Type = nil, schema.Invalid
	case found.schema.Overlay:
		report.Errorf(diag.TokenNotFound, token.Range, overlayHint(result.Token), "%s exists in other languages only",
			schema.CollapseToken(result.Token))
		result.Schema, result.Type = nil, schema.Invalid
	case m != "":
		report.Warnf(diag.Deprecated, token.Range, schema.Plain(m), "%s is deprecated", schema.CollapseToken(result.Token))
	}
}

// overlayHint names what takes the place of a type that only SDKs have. The types of Kubernetes are the ones that
// programs of other languages use most.
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
