package packages

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/schema"
)

// BuiltinName is the package of the types that belong to the engine itself.
const BuiltinName = "pulumi"

// ProviderPrefix begins the tokens of providers.
const ProviderPrefix = "pulumi:providers:"

// Of returns the package of the provider that a token needs.
func Of(token string) string { return urn.PackageOf(token) }

// IsProvider reports whether a token is the type of a provider.
func IsProvider(token string) bool { return strings.HasPrefix(token, ProviderPrefix) }

// Valid reports whether a token has two or three parts, none of them empty (L7.1).
func Valid(token string) bool {
	colons := strings.Count(token, ":")
	return (colons == 1 || colons == 2) && token[0] != ':' && token[len(token)-1] != ':' && !strings.Contains(token, "::")
}

// OfSDK reports whether a token belongs to the dynamic types of Pulumi's SDKs, which have no schema, since programs in
// TypeScript and Python define them (L10.C16).
func OfSDK(token string) bool {
	pkg, module, _ := strings.Cut(token, ":")
	return (pkg == "pulumi-nodejs" || pkg == "pulumi-python") && strings.HasPrefix(module, "dynamic")
}

// Set holds the packages of a program and of the components that it uses. Resolvers add to it what the text names, Load
// fills it, and from then on it only answers, to any number of goroutines; its reporter of missing packages is used by
// one at a time.
type Set struct {
	loader  schema.Loader             // nil without schemas
	loaded  map[string]*Package       // by the key of the descriptor
	order   []string                  // keys in order of first use
	missing map[*Package][]diag.Range // uses of packages that are missing
}

// NewSet returns an empty set. Without a loader it has nothing but the built-in package.
func NewSet(loader schema.Loader) *Set {
	return &Set{loader: loader, loaded: make(map[string]*Package), missing: make(map[*Package][]diag.Range)}
}

// Package is a package with the results of look-ups in it. Concurrent checks may share it, and a check after an edit
// goes on with it: the same text of a token then means the same schema, by pointer, so that results stay comparable.
type Package struct {
	Descriptor schema.Descriptor
	Schema     *schema.Package // nil when it could not be loaded
	err        error

	// resources and functions by token as written; kinds are resources without a schema
	resources, kinds parallel.Memo[string, namedResource, error]
	functions        parallel.Memo[string, *schema.Function, error]
}

// namedResource is the entry of a resource token in a package.
type namedResource struct {
	schema *schema.Resource
	typ    schema.Type
	old    bool // the token is the former one of a renamed resource
}

// Absent reports whether the package could not be loaded, so that it has no tokens.
func (p *Package) Absent() bool { return p.Schema == nil || p.Schema.Missing() != nil }

// Resource returns the schema of a resource by its token as written.
func (p *Package) Resource(written string) (*schema.Resource, error) {
	found, err := p.resource(written)
	return found.schema, err
}

// resource finds the resource that a token means. An alias is tried after the token itself, since a package may give an
// old name to a new type.
func (p *Package) resource(written string) (namedResource, error) {
	return p.resources.Get(written, func() (found namedResource, err error) {
		found.schema, err = p.Schema.ResolveResource(written)
		if errors.Is(err, schema.ErrNoSuchToken) {
			if token, ok := p.Schema.ResourceByAlias(written); ok {
				found.schema, err = p.Schema.Resource(token)
				found.old = err == nil
			}
		}
		if r := found.schema; r != nil {
			found.typ = r.Type()
		}
		return found, err
	})
}

func (p *Package) function(written string) (*schema.Function, error) {
	return p.functions.Get(written, func() (*schema.Function, error) { return p.Schema.ResolveFunction(written) })
}

// add returns the entry of a package, which Load fills.
func (s *Set) add(d schema.Descriptor) *Package {
	key := d.Key()
	if known := s.loaded[key]; known != nil {
		return known
	}
	entry := &Package{Descriptor: d}
	s.loaded[key] = entry
	s.order = append(s.order, key)
	return entry
}

// Load loads every package of the set, several at a time. A package that is the same as in a former set, which may be
// nil, keeps the results of its look-ups. Loading reads files and may start plugins, so that the time is that of the
// slowest package. Faults stay in the package and are reported with its uses.
func (s *Set) Load(ctx context.Context, former *Set) {
	var wait sync.WaitGroup
	for _, key := range s.order {
		p := s.loaded[key]
		if s.loader == nil && p.Descriptor.Name != BuiltinName {
			continue
		}
		wait.Go(func() {
			if s.loader == nil {
				p.Schema, p.err = schema.Builtin()
				return
			}
			if p.Schema, p.err = s.loader.Load(ctx, p.Descriptor); p.err == nil {
				p.err = p.Schema.Missing()
			}
		})
	}
	wait.Wait()
	if former == nil {
		return
	}
	for key, p := range s.loaded {
		if before := former.loaded[key]; before != nil && before.Schema == p.Schema && p.Schema != nil &&
			before.err == nil && p.err == nil && reflect.DeepEqual(before.Descriptor, p.Descriptor) {
			s.loaded[key] = before
		}
	}
}

// Descriptors returns the packages, each once, in order of first use. The built-in one is none of them (L7.10).
func (s *Set) Descriptors() (all []schema.Descriptor) {
	for _, key := range s.order {
		if d := s.loaded[key].Descriptor; d.PackageName() != BuiltinName {
			all = append(all, d)
		}
	}
	return all
}

// All yields the packages that could be loaded, in order of first use.
func (s *Set) All() iter.Seq[*Package] {
	return func(yield func(*Package) bool) {
		if s == nil {
			return
		}
		for _, key := range s.order {
			if p := s.loaded[key]; p.Schema != nil && !yield(p) {
				return
			}
		}
	}
}

// serving yields the packages that may have a token.
func (s *Set) serving(token string) iter.Seq[*Package] {
	return func(yield func(*Package) bool) {
		for p := range s.All() {
			if p.Descriptor.Serves(Of(token)) && !yield(p) {
				return
			}
		}
	}
}

// ResourceOfType returns a resource's schema by its canonical token, with its package; nil if they are unknown. Several
// versions of a package may be loaded; the first that has the token answers.
func (s *Set) ResourceOfType(token string) (*Package, *schema.Resource) {
	for p := range s.serving(token) {
		if found, _ := p.resource(token); found.schema != nil {
			return p, found.schema
		}
	}
	return nil, nil
}

// InputsOf returns the inputs of a resource by its canonical token; nil if they are unknown.
func (s *Set) InputsOf(token string) *schema.Object {
	for p := range s.serving(token) {
		if r, err := p.Schema.Resource(token); err == nil {
			return r.Inputs
		}
	}
	return nil
}

// FunctionInputs returns the inputs of a function; nil if they are unknown.
func (s *Set) FunctionInputs(token string) *schema.Object {
	for p := range s.serving(token) {
		if f, _ := p.function(token); f != nil {
			return f.Inputs
		}
	}
	return nil
}

// Known resolves a type that another package defines to its definition (F8.7); it returns t if there is none. missing
// reports whether that package is unknown. The packages that schemas refer to are loaded when a value is first compared
// with such a type: a schema may refer to many, and a program needs few of them.
func (s *Set) Known(ctx context.Context, t schema.Type) (found schema.Type, missing bool) {
	switch t := t.(type) {
	case *schema.Token:
		pkg, missing := s.foreign(ctx, t.Package)
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
		pkg, missing := s.foreign(ctx, t.Package)
		if pkg != nil {
			if r, err := pkg.ResolveResource(t.Token); err == nil && r.Token == t.Token {
				return r.Type(), false
			}
		}
		return t, missing
	}
	return t, false
}

// foreign loads the package that a schema refers to; nil if there is none or it is missing, which is not a fault of the
// program.
func (s *Set) foreign(ctx context.Context, d schema.Descriptor) (pkg *schema.Package, missing bool) {
	if d.Name == "" || s == nil || s.loader == nil {
		return nil, false
	}
	pkg, err := s.loader.Load(ctx, d)
	if err != nil {
		return nil, true
	}
	return pkg, false
}

// Miss records a use of a package without a provider, for ReportMissing.
func (s *Set) Miss(p *Package, at diag.Range) {
	if s.loader != nil {
		s.missing[p] = append(s.missing[p], at)
	}
}

// ReportMissing reports each missing package once, with all of its uses (L7.22). start is the position of a range in
// the whole text.
func (s *Set) ReportMissing(report *findings.Reporter, start func(diag.Range) int) {
	for _, key := range s.order {
		p := s.loaded[key]
		uses := s.missing[p]
		if len(uses) == 0 || errors.Is(p.err, schema.ErrReported) {
			continue
		}
		slices.SortStableFunc(uses, func(a, b diag.Range) int { return start(a) - start(b) })
		// An editor's text of a component is another source than the file that its package is read from.
		uses = slices.CompactFunc(uses, func(a, b diag.Range) bool {
			return start(a) == start(b) && a.Source.Name() == b.Source.Name()
		})
		name := p.Descriptor.PackageName()
		d := diag.Diagnostic{Code: diag.PackageMissing, Subject: uses[0], Summary: "no provider for package " + name}
		if v := p.Descriptor.PackageVersion(); v != "" {
			d.Summary += " " + v
		}
		if errors.Is(p.err, schema.ErrNotFound) {
			// No installed package is suggested for a missing one: aws and awsx are different packages.
			d.Detail = strings.TrimSpace("install it with: yamlhost plugin install resource " +
				p.Descriptor.Name + " " + p.Descriptor.Version)
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
		report.Add(d)
	}
}
