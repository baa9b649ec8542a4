package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// loadPackages loads every package that the program names, several at a time. It is done in two rounds: the version of
// a package is that of its first use anywhere in the text, so that all uses are known before the first one decides
// which package it means.
func (r *run) loadPackages() {
	main := r.bodies[len(r.bodies)-1]
	all := make([][]packages.Use, len(r.bodies))
	for i := len(r.bodies) - 1; i >= 0; i-- { // the versions in the program's own text come first
		b := r.bodies[i]
		// Options of default providers name versions, too, and so they come before the uses.
		b.resolver.SetDefaults(b.scope.DefaultOptions())
		if b.component != nil && !b.component.of.Packaged { // of the program's text
			b.resolver.ShareVersions(main.resolver)
		}
		all[i] = b.packageUses()
		b.resolver.NameVersions(all[i])
	}
	for i, b := range r.bodies {
		for _, u := range all[i] {
			if packages.Valid(u.Token.Value) {
				b.resolver.Choose(u) // which adds the packages, in the order of the text
			}
		}
	}
	var former *packages.Set
	if r.previous != nil {
		former = r.previous.packages
	}
	// Schemas of the check before are taken over, since loading one takes longer than the check.
	r.shared.Packages.Load(r.ctx, former)
	for _, b := range r.bodies {
		// Load may have put packages of the check before in the place of new ones.
		b.resolver.Renew(b.was.resolverOf())
	}
	main.program.Packages = r.shared.Packages.Descriptors()
}

// packageUses returns the uses of packages in a body, in the order of its text. Tokens of components, dynamic types and
// the SDKs' dynamic types are left out: no schema is loaded for them, and no plugin is missing because of them.
func (b *body) packageUses() []packages.Use {
	uses := make([]packages.Use, 0, len(b.file.Resources))
	for _, decl := range b.file.Resources {
		if decl.Type != nil && !b.run.components.serves(decl.Type.Value) && !b.run.servesDynamic(decl.Type.Value) &&
			!packages.OfSDK(decl.Type.Value) && b.run.components.meant(decl.Type.Value) == "" {
			uses = append(uses, packages.OfResource(decl))
		}
	}
	for unit := range b.file.Units() {
		for call, token := range packages.Calls(unit) {
			uses = append(uses, packages.OfCall(call, token))
		}
	}
	if b.file.Pack {
		uses = append(uses, packages.OfPolicies(b.file.Policies)...)
	}
	for i := range uses {
		// A program may be several files, whose offsets cannot be compared; Start is one order for all.
		uses[i].Start = b.scope.Start(uses[i].Token.Range)
	}
	byStart := func(a, b packages.Use) int { return a.Start - b.Start }
	// Mostly they are in order already.
	if !slices.IsSortedFunc(uses, byStart) {
		slices.SortStableFunc(uses, byStart)
	}
	return uses
}

// resolveTypes finds the type of every resource (L7.A).
func (b *body) resolveTypes() {
	for _, n := range b.scope.All() {
		if n.Kind == ResourceNode {
			b.run.found.types.Add(b.run.report.Attempt(func() { b.resolveType(n) })...)
		}
	}
}

// resolveType finds a resource's type: a component, a dynamic type, or one of a provider.
func (b *body) resolveType(n *Node) {
	r, token := n.Resource, n.Resource.Decl.Type
	switch {
	case token == nil: // reported by the parser
		r.Decl.HideTexts()
	case !packages.Valid(token.Value):
		r.Decl.HideTexts()
		packages.ReportBadToken(b.run.report, token, "Type")
	// A package by path may have both; its dynamic types are known by their whole token.
	case b.run.dynamic[token.Value] == nil && b.run.components.serves(token.Value):
		r.Token = token.Value
		b.resolveComponent(n)
	case b.run.servesDynamic(token.Value):
		r.Token = token.Value
		b.resolveDynamic(n)
	// The token without its package is not taken for the component; it is only suggested.
	case b.run.components.meant(token.Value) != "":
		right := b.run.components.meant(token.Value)
		r.Decl.HideTexts()
		b.run.report.Add(diag.Diagnostic{Code: diag.TokenNotFound, Subject: token.Range,
			Summary: "there is no type " + findings.Quote(token.Value), Detail: findings.DidYouMean([]string{right}),
			Fixes: findings.Replace(token.Range, token.Value, right)})
	case packages.OfSDK(token.Value):
		r.Token, r.Package = token.Value, schema.Descriptor{Name: packages.Of(token.Value)}
		// Code of an SDK makes such a resource; nobody describes what it has.
		n.Type = &schema.ResourceType{Token: token.Value, Outputs: func() *schema.Object { return program.Anything }}
	default:
		found := b.resolver.Resource(r.Decl, b.run.report)
		r.Token, r.Package, r.Schema, n.Type = found.Token, found.Package, found.Schema, found.Type
	}
}
