package types

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Resources with forEach and if, extensions of yamlhost (decision D6, L10.C3).

// checkInstances checks the fields forEach and if. The number of instances may come from a resource, as it is unknown
// in a preview then; whether there is a resource at all must be known, because the engine would else have to decide
// between creating and deleting.
func (c *Checker) checkInstances(n *program.Node) {
	decl := n.Resource.Decl
	if decl.ForEach != nil {
		t := c.typer.infer(decl.ForEach)
		if !loopable(t) {
			c.decl.report.Errorf(diag.NotAssignable, decl.ForEach.Range(), "an instance is made for each item, or for each number from 0",
				"`forEach` must be a number, a list, a map or a boolean, not %s", typeWithArticle(t))
		}
	}
	if decl.If != nil && c.typer.operand(decl.If, schema.Bool, "`if`") != schema.Invalid && c.constants.comesFromResource(decl.If) {
		c.decl.report.Errorf(diag.NotKnownInTime, decl.If.Range(), "use configuration, variables or constants here",
			"`if` must be known before anything is created")
	}
	if decl.DefaultProvider.IsTrue() && decl.ForEach != nil {
		c.decl.report.Errorf(diag.WrongProvider, decl.DefaultProvider.Range,
			"remove `forEach`, or name the instances in the option `provider`",
			"a provider with several instances cannot be the default provider")
	}
}

// loopable reports whether forEach accepts a collection of type t.
func loopable(t schema.Type) bool {
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		return open(t) || t == schema.Bool || t == schema.Integer || t == schema.Number
	case *schema.Enum:
		return t.Base != schema.String
	case *schema.Token:
		return loopable(t.Underlying)
	case *schema.Union:
		return slices.ContainsFunc(t.Members, loopable)
	case *schema.ResourceType:
		return false
	}
	return true
}

// instancesType returns the type of a resource's node, t being that of an instance: one resource, an optional one, or
// many. The keys of a literal map name the instances, so that `${many.west.id}` is checked; other maps may have any
// key. A boolean makes one or none, and is no collection.
func (c *Checker) instancesType(decl *ast.Resource, t schema.Type) schema.Type {
	if t == schema.Invalid {
		return t
	}
	one := t
	if decl.If != nil {
		one = schema.OptionalOf(t)
	}
	if decl.ForEach == nil {
		return one
	}
	switch collection := schema.Required(c.typer.infer(decl.ForEach)).(type) {
	case *schema.Object:
		if !collection.Closed || len(collection.Properties()) > maxNamedInstances {
			return &schema.Map{Item: t}
		}
		named := make([]*schema.Property, 0, len(collection.Properties()))
		for _, p := range collection.Properties() {
			named = append(named, &schema.Property{Name: p.Name, Type: one, Required: decl.If == nil})
		}
		return schema.ObjectOf(named...)
	case *schema.Map:
		return &schema.Map{Item: t}
	case *schema.Array:
		return &schema.Array{Item: one}
	case schema.Primitive:
		switch collection {
		case schema.Integer, schema.Number:
			return &schema.Array{Item: one}
		case schema.Bool:
			return schema.OptionalOf(t)
		}
	}
	return schema.Any
}

// maxNamedInstances is the largest number of literal keys for which the instances are known by name.
const maxNamedInstances = 1000

// looksLikeOutput warns of an access to an instance whose key is the name of an output: `${many.id}` is hardly ever
// meant to be the instance with the key `id`.
func (c *typer) looksLikeOutput(e *ast.Access, n *program.Node) {
	m, ok := n.Type.(*schema.Map)
	if !ok || n.Resource == nil || n.Resource.Decl.ForEach == nil || e.Steps[0].IsIndex || e.Steps[0].Quoted {
		return
	}
	t, ok := schema.Required(m.Item).(*schema.ResourceType)
	if !ok {
		return
	}
	name := e.Steps[0].Name
	known := name == "id" || name == "urn"
	if !known && t.Outputs != nil {
		known = t.Outputs().Property(name) != nil
	}
	if known {
		c.decl.report.Warnf(diag.NotIndexable, e.Steps[0].Range,
			fmt.Sprintf("write `${%s[\"key\"].%s}` for one, `${%s[*].%s}` for all, or `[\"%s\"]` for that instance",
				n.Name, name, n.Name, name, name), "`%s` has `forEach`: this is its instance with the key `%s`", n.Name, name)
	}
}

// eachHint suggests how to name one instance; empty without forEach. Referring to all of them where one is wanted is
// the usual mistake after `forEach` has been added.
func (c *fitter) eachHint(e ast.Expr) string {
	n := c.decl.program.RefTo(e).Node
	if n == nil || n.Resource == nil || n.Resource.Decl.ForEach == nil {
		return ""
	}
	return "`" + n.Name + "` has `forEach`: name one of its instances, as in `${" + n.Name + c.firstKey(n) + "}`"
}

// firstKey returns the key of one of the instances.
func (c *fitter) firstKey(n *program.Node) string {
	switch t := n.Type.(type) {
	case *schema.Map:
		return "[\"key\"]"
	case *schema.Object:
		if len(t.Properties()) > 0 {
			return fmt.Sprintf("[%q]", t.Properties()[0].Name)
		}
	}
	return "[0]"
}
