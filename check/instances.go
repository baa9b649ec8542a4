package check

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Resources with forEach and if, extensions of yamlhost (decision D6, L10.C3).

// eachName names the instance in the fields of a resource with forEach.
const eachName = "each"

// linkResource links the expressions of a resource.
func (c *linker) linkResource(n *Node) {
	decl := n.Resource.Decl
	if decl.ForEach != nil {
		if other := c.lookup(eachName); other != nil && !c.eachTaken {
			c.eachTaken = true
			c.loose.Add(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: other.Range,
				Summary: "`each` is a " + other.Kind.String() + " and the instance in resources with `forEach`",
				Detail:  "rename the " + other.Kind.String(),
				Related: []diag.Related{{Range: decl.ForEach.Range(), Message: "a `forEach` is here"}}})
		}
	}
	if decl.ForEach == nil && len(decl.Options.Transforms) == 0 {
		c.linkUnit(n, &n.Needs, decl.Unit)
		return
	}
	inTransform := make(map[ast.Expr]schema.Type)
	for _, t := range decl.Options.Transforms {
		t.Exprs(func(e ast.Expr) { inTransform[e] = argsOf(t) })
	}
	var around []surroundings
	decl.Exprs(func(e ast.Expr) {
		_, slot := ast.Slot(e)
		s := surroundings{from: slot, args: inTransform[e]}
		if decl.ForEach != nil && e != decl.ForEach {
			s.each = n
		}
		around = append(around, s)
	})
	c.linkUnit(n, &n.Needs, decl.Unit, around...)
}

// resolveIn resolves a root in a node and its surroundings; n is nil for an output.
func (c *linker) resolveIn(n *Node, root ast.Literal, around surroundings) Ref {
	if root.Value == eachName && n != nil && n == around.each {
		return Ref{Kind: RefEach, Node: n}
	}
	if around.args != nil && root.Value == argsName {
		return Ref{Kind: RefArgs}
	}
	if _, named := around.names[root.Value]; named {
		return Ref{Kind: RefPolicy}
	}
	ref := c.resolve(root)
	if wrong := c.undeclared[root.Value]; around.args != nil && wrong != nil {
		wrong.hasArgs = true
	}
	return ref
}

// checkInstances checks the fields forEach and if.
func (c *declChecker) checkInstances(n *Node) {
	decl := n.Resource.Decl
	if decl.ForEach != nil {
		t := c.infer(decl.ForEach)
		if !loopable(t) {
			c.report.Errorf(diag.NotAssignable, decl.ForEach.Range(), "an instance is made for each item, or for each number from 0",
				"`forEach` must be a number, a list, a map or a boolean, not %s", typeWithArticle(t))
		}
	}
	if decl.If != nil && c.operand(decl.If, schema.Bool, "`if`") != schema.Invalid && c.comesFromResource(decl.If) {
		c.report.Errorf(diag.NotKnownInTime, decl.If.Range(), "use configuration, variables or constants here",
			"`if` must be known before anything is created")
	}
	if decl.DefaultProvider != nil && decl.DefaultProvider.Value && decl.ForEach != nil {
		c.report.Errorf(diag.WrongProvider, decl.DefaultProvider.Range,
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

// eachType returns the type of `each` in a resource with forEach.
func (c *typer) eachType(n *Node) schema.Type { return eachOf(c.infer(n.Resource.Decl.ForEach)) }

// Each returns the type of `each` in a resource; nil for one without forEach.
func (p *Program) Each(n *Node) schema.Type {
	if n.Resource == nil || n.Resource.Decl == nil || n.Resource.Decl.ForEach == nil {
		return nil
	}
	return eachOf(p.TypeOf(n.Resource.Decl.ForEach))
}

// eachOf returns the type of `each` for a collection.
func eachOf(collection schema.Type) schema.Type {
	key, item := itemTypes(collection)
	switch schema.Required(collection) {
	case schema.Integer, schema.Number:
		key, item = schema.Integer, schema.Integer
	case schema.Bool:
		return schema.ObjectOf(&schema.Property{Name: "value", Type: schema.Bool, Required: true})
	}
	return schema.ObjectOf(&schema.Property{Name: "key", Type: key, Required: true},
		&schema.Property{Name: "value", Type: item, Required: true})
}

// instancesType returns the type of a resource's node: one resource, an optional one, or many.
func (c *declChecker) instancesType(n *Node) schema.Type {
	decl, t := n.Resource.Decl, n.Type
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
	switch collection := schema.Required(c.infer(decl.ForEach)).(type) {
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
func (c *typer) looksLikeOutput(e *ast.Access, n *Node) {
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
		c.report.Warnf(diag.NotIndexable, e.Steps[0].Range,
			fmt.Sprintf("write `${%s[\"key\"].%s}` for one, `${%s[*].%s}` for all, or `[\"%s\"]` for that instance",
				n.Name, name, n.Name, name, name), "`%s` has `forEach`: this is its instance with the key `%s`", n.Name, name)
	}
}

// eachHint suggests how to name one instance; empty without forEach.
func (c *fitter) eachHint(e ast.Expr) string {
	n := c.program.RefTo(e).Node
	if n == nil || n.Resource == nil || n.Resource.Decl.ForEach == nil {
		return ""
	}
	return "`" + n.Name + "` has `forEach`: name one of its instances, as in `${" + n.Name + c.firstKey(n) + "}`"
}

// firstKey returns the key of one of the instances.
func (c *fitter) firstKey(n *Node) string {
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

// Instances reports whether an expression is the map of the instances of a resource with forEach over a map, over which
// `[*]` iterates.
func (p *Program) Instances(e ast.Expr) bool {
	switch t := schema.Required(p.TypeOf(e)).(type) {
	case *schema.Map:
		_, ok := schema.Required(t.Item).(*schema.ResourceType)
		return ok
	case *schema.ResourceType:
		return false
	}
	n := p.RefTo(e).Node
	return n != nil && n.Resource != nil && n.Resource.Decl.ForEach != nil
}
