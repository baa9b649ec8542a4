package types

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Transforms change registrations of resources and calls of functions (L10.C17).

// checkTransform checks a transform of the stack or of a resource, with what it matches. Options are checked as those
// of a resource without a type, since it may match any.
func (c *Checker) checkTransform(t *ast.Transform, m *program.Matched, ofResource bool) {
	if t.When != nil {
		c.typer.operand(t.When, schema.Bool, "`when`")
	}
	// A node that nobody else sees: checkOptions takes one, and reads its options and its type only.
	options := &program.Node{Kind: program.ResourceNode,
		Resource: &program.Resource{Decl: &ast.Resource{Options: t.Options}}}
	c.options.checkOptions(options)
	what := "resource"
	if t.Arguments {
		what = "function call"
	}
	misplaced := t.Arguments && ofResource // which the parser has reported
	if !misplaced {
		c.warnUnmatched(m, what)
	}
	c.checkMergedMap(t.Merge, m, "the properties that a transform merges")
}

// warnUnmatched warns of a transform or policy that nothing matches. It stays silent where a resource is not known for
// another fault: that may be the one that matches.
func (c *Checker) warnUnmatched(m *program.Matched, what string) {
	if m.Found || m.Open || len(c.decl.file.Slips) > 0 {
		return
	}
	if slices.ContainsFunc(c.decl.program.Nodes, func(n *program.Node) bool { // its fault is reported
		return n.Kind == program.ResourceNode && n.Type == schema.Invalid
	}) {
		return
	}
	rng := m.Transform.Match.Range
	if rng.IsZero() {
		rng = m.Transform.Key
	}
	c.decl.report.Warnf(diag.Ignored, rng, "`*` matches any text; a type is written package:module:Type, as `yamlhost graph` shows it",
		"this %s matches no %s", m.What, what)
}

// checkMergedMap checks a map, if there is one, that is merged into the inputs of the matches. A computed map, and one
// for matches that are not all known, can be checked in a run only.
func (c *Checker) checkMergedMap(merge ast.Expr, m *program.Matched, what string) {
	if merge == nil {
		return
	}
	if got := schema.Required(c.typer.infer(merge)); !mapLike(got) {
		c.decl.report.Errorf(diag.NotAssignable, merge.Range(), "", "%s must be a map, not %s", what, typeWithArticle(got))
		return
	}
	literal, ok := c.constants.constant(merge).(*ast.Map)
	if !ok || m.Open || len(m.Inputs) == 0 {
		return
	}
	for _, entry := range literal.Entries {
		if key, isText := entry.Key.(*ast.String); isText {
			c.checkMerged(key, entry.Value, m)
		}
	}
}

// mapLike reports whether a value of a type can be merged into inputs. Whatever may be a map passes; the run refuses
// the rest.
func mapLike(t schema.Type) bool {
	switch t := t.(type) {
	case *schema.Map, *schema.Object:
		return true
	case schema.Primitive:
		return open(t)
	case *schema.Union:
		return slices.ContainsFunc(t.Members, mapLike)
	}
	return false
}

// checkMerged checks one property that a transform sets: some match must have it and accept the value. One match that
// takes the value is enough: in the others the property may be meant for that one, and the engine reports what a
// provider refuses.
func (c *Checker) checkMerged(key *ast.String, e ast.Expr, m *program.Matched) {
	var takes []*schema.Property
	var names []string
	for _, inputs := range m.Inputs {
		if p := inputs.Property(key.Value); p != nil {
			takes = append(takes, p)
		}
		// Of all matches, since the name only has to exist in one.
		names = append(names, propertyNames(inputs)...)
	}
	if len(takes) == 0 {
		slices.Sort(names)
		near := diag.Suggest(key.Value, slices.Compact(names))
		hint := findings.DidYouMean(near)
		if hint == "" {
			hint = "it matches " + findings.Listed(m.Types[:min(len(m.Types), 5)])
		}
		c.decl.report.Add(diag.Diagnostic{Code: diag.UnknownProperty, Subject: key.Range(), Detail: hint,
			Fixes:   findings.Rename(key.Range(), key.Value, near),
			Summary: fmt.Sprintf("nothing that this %s matches has the property `%s`", m.What, key.Value)})
		return
	}
	if _, null := e.(*ast.Null); null {
		return // null removes the property
	}
	var first diag.Diagnostics
	for _, p := range takes {
		switch schema.Required(c.decl.known(p.Type)).(type) {
		case schema.Primitive, *schema.Array, *schema.Map, *schema.Enum:
		default:
			return // a partial object may be merged
		}
		found := c.decl.report.Attempt(func() {
			c.fitter.fit(e, p.Type, &destination{what: "property " + findings.Quote(key.Value)})
		})
		if len(found) == 0 {
			return
		}
		// The finding is that of the first match in the program; those of the others mostly say the same.
		if first == nil {
			first = found
		}
	}
	c.decl.report.Add(first...)
}
