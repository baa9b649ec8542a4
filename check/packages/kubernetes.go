package packages

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Kinds of Kubernetes that the schema of the package lacks: the provider accepts objects of any kind, and the cluster
// decides which exist (D21).

const (
	Kubernetes      = "kubernetes"
	metadataType    = "kubernetes:meta/v1:ObjectMeta"
	customResource  = "kubernetes:apiextensions.k8s.io:CustomResource"
	DefinitionToken = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
	NamespaceToken  = "kubernetes:core/v1:Namespace"
)

// Kind matches the token of a kind that a definition can add: its group is a domain name.
var Kind = lazyregexp.New(`^kubernetes:([a-z0-9]([a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+)/` +
	`(v[0-9]+(?:(?:alpha|beta)[0-9]+)?):([A-Z][A-Za-z0-9]*)$`)

// openKind returns the schema of a kind without a description: only its metadata is checked. ok is false for any other
// token, such as one in a group that the package has. A group of which the package has kinds is complete: there, a
// missing kind is a misspelt one. The schema is made once for each token, so that two checks see the same pointer.
func (p *Package) openKind(written string) (found namedResource, ok bool) {
	m := Kind().FindStringSubmatch(written)
	if m == nil || p.Schema == nil || p.Schema.Missing() != nil {
		return found, false
	}
	group, version, kind := m[1], m[4], m[5]
	for _, token := range p.Schema.ResourceTokens() {
		if sameGroup(token, group) && !p.Schema.Added(token) {
			return found, false
		}
	}
	found, _ = p.kinds.Get(written, func() (namedResource, error) {
		constant := func(name, text string) *schema.Property {
			return &schema.Property{Name: name, Type: schema.String, Required: true, Const: text}
		}
		var metadata schema.Type = schema.Any
		if t, err := p.Schema.Type(metadataType); err == nil {
			metadata = t
		}
		members := []*schema.Property{constant("apiVersion", group+"/"+version), constant("kind", kind),
			{Name: "metadata", Type: schema.OptionalOf(metadata)}}
		object := schema.NewObject("", false, func() []*schema.Property { return members })
		r := &schema.Resource{Token: written, Inputs: object, Outputs: object}
		return namedResource{schema: r, typ: r.Type()}, nil
	})
	return found, true
}

// patch returns the schema of a patch of a described kind: the kind with no member required, as the provider takes it
// (D21). ok is false for any other token. Pulumi's provider makes a patch for each kind of its own schema; those that
// the project's files describe get one here.
func (p *Package) patch(written string) (found namedResource, ok bool) {
	kind, ok := strings.CutSuffix(written, "Patch")
	if !ok || p.Schema == nil || !p.Schema.Added(kind) {
		return found, false
	}
	whole, err := p.resource(kind)
	if err != nil {
		return found, false
	}
	found, _ = p.kinds.Get(written, func() (namedResource, error) {
		r := &schema.Resource{Token: written, Description: whole.schema.Description,
			Inputs: partial(whole.schema.Inputs), Outputs: partial(whole.schema.Outputs)}
		return namedResource{schema: r, typ: r.Type()}, nil
	})
	return found, true
}

// partial returns an object type without required members, at any depth.
func partial(o *schema.Object) *schema.Object {
	return schema.NewObject(o.Token, o.Closed, func() []*schema.Property {
		members := make([]*schema.Property, 0, len(o.Properties()))
		for _, p := range o.Properties() {
			part := *p
			if p.Const == nil { // what names the kind is filled in
				part.Type, part.Required = schema.OptionalOf(partialType(p.Type)), false
			}
			members = append(members, &part)
		}
		return members
	})
}

// partialType makes the objects in a type partial. The items of a list are, too, since a patch merges them by their
// keys.
func partialType(t schema.Type) schema.Type {
	switch t := t.(type) {
	case *schema.Optional:
		return schema.OptionalOf(partialType(t.Elem))
	case *schema.Array:
		return &schema.Array{Item: partialType(t.Item)}
	case *schema.Map:
		return &schema.Map{Item: partialType(t.Item)}
	case *schema.Object:
		return partial(t)
	}
	return t
}

// isList reports whether a token is that of a list of objects, which the provider refuses. The name of a described kind
// may end in List too.
func (p *Package) isList(written string) bool {
	kind, ok := strings.CutSuffix(written, "List")
	if !ok || Of(written) != Kubernetes || p.Schema == nil {
		return false
	}
	if _, err := p.resource(written); err == nil && p.Schema.Added(written) {
		return false
	}
	_, err := p.resource(kind)
	return err == nil
}

// sameGroup reports whether a token is of a kind of a group.
func sameGroup(token, group string) bool {
	rest, ok := strings.CutPrefix(token, Kubernetes+":"+group)
	return ok && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, ":"))
}

// useOpenKind accepts a kind without a description, with a warning. It reports whether the token names one. It is a
// warning, since the program works. There is none if definitions could not be read, which has been reported.
func (r *Resolver) useOpenKind(result *Resource, decl *ast.Resource, p *Package, report *findings.Reporter) bool {
	token := decl.Type
	found, ok := p.openKind(token.Value)
	if !ok {
		return false
	}
	near, m := nearIn(report, p.Schema, token.Value, "resource"), Kind().FindStringSubmatch(token.Value)
	if misspeltGroup(m[1], m[5], near) {
		return false
	}
	useResource(result, decl, found, report)
	if !r.kindsUnknown {
		detail := findings.Sentences(findings.DidYouMean(near),
			"name the file with its CustomResourceDefinition under `crds` in the project file")
		report.Add(diag.Diagnostic{Severity: diag.Warning, Code: diag.TokenNotFound, Subject: token.Range,
			Detail:  detail,
			Summary: "the kind " + m[5] + " of " + m[1] + "/" + m[4] + " is not described: its properties are not checked"})
	}
	return true
}

// misspeltGroup reports whether a near token has the same kind in another group, so that the group is misspelt.
func misspeltGroup(group, kind string, near []string) bool {
	return slices.ContainsFunc(near, func(token string) bool {
		return !sameGroup(token, group) && strings.HasSuffix(token, ":"+kind) && diag.Surely(group, groupOf(token))
	})
}

// groupOf returns the API group of a token.
func groupOf(token string) string {
	module := strings.TrimPrefix(token, Kubernetes+":")
	if i := strings.IndexAny(module, "/:"); i >= 0 {
		module = module[:i]
	}
	return module
}

// customResourceFinding suggests the kind's own type instead of CustomResource, a type of other languages. Literal
// properties determine the kind.
func customResourceFinding(decl *ast.Resource) diag.Diagnostic {
	token := decl.Type
	d := diag.Diagnostic{Code: diag.TokenNotFound, Subject: token.Range,
		Summary: "kubernetes:apiextensions.k8s.io:CustomResource exists in other languages only",
		Detail:  "write the type of the kind itself: kubernetes:GROUP/VERSION:Kind"}
	apiVersion, _ := decl.Property("apiVersion").(*ast.String)
	kind, _ := decl.Property("kind").(*ast.String)
	if apiVersion != nil && kind != nil && apiVersion.Value != "" && kind.Value != "" {
		meant := Kubernetes + ":" + apiVersion.Value + ":" + kind.Value
		d.Detail = "write the type of the kind itself: " + meant
		d.Fixes = findings.Replace(token.Range, token.Value, meant)
	}
	return d
}
