package check

import (
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Resources with forEach and if, extensions of yamlhost (decision D6, L10.C3).

// eachName is what the fields of a resource with forEach call the instance.
const eachName = "each"

// linkResource links the expressions of a resource.
func (c *checker) linkResource(n *Node) {
	decl := n.Resource.Decl
	if decl.ForEach != nil {
		if other := c.declared[eachName]; other != nil && !c.eachTaken {
			c.eachTaken = true
			c.report(diag.Diagnostic{Code: diag.DeclaredTwice, Subject: other.Range,
				Summary: "`each` is a " + other.Kind.String() + " and the instance in resources with `forEach`",
				Detail:  "rename the " + other.Kind.String(),
				Related: []diag.Related{{Range: decl.ForEach.Range(), Message: "a `forEach` is here"}}})
		}
	}
	decl.Exprs(func(e ast.Expr) {
		c.each = nil
		if decl.ForEach != nil && e != decl.ForEach {
			c.each = n
		}
		c.linkExpr(n, &n.Needs, e)
	})
	c.each = nil
}

// resolveIn finds what a root stands for in a node; n is nil for an output.
func (c *checker) resolveIn(n *Node, root ast.Literal) Ref {
	if root.Value == eachName && n != nil && n == c.each {
		return Ref{Kind: RefEach, Node: n}
	}
	return c.resolve(root)
}

// checkInstances checks the fields forEach and if.
func (c *checker) checkInstances(n *Node) {
	decl := n.Resource.Decl
	if decl.ForEach != nil {
		t := c.infer(decl.ForEach)
		if !loopable(t) {
			c.errorf(diag.NotAssignable, decl.ForEach.Range(), "an instance is made for each item, or for each number from 0",
				"`forEach` must be a number, a list, a map or a boolean, not %s", typeWithArticle(t))
		}
	}
	if decl.If != nil && c.operand(decl.If, schema.Bool, "`if`") != schema.Invalid && c.comesFromResource(decl.If) {
		c.errorf(diag.NotKnownInTime, decl.If.Range(), "use configuration, variables or constants here",
			"`if` must be known before anything is created")
	}
	if decl.DefaultProvider != nil && decl.DefaultProvider.Value && decl.ForEach != nil {
		c.errorf(diag.WrongProvider, decl.DefaultProvider.Range, "remove `forEach`, or name the instances in the option `provider`",
			"many providers cannot be the default one")
	}
}

// loopable reports whether a collection of type t can be known to make instances.
func loopable(t schema.Type) bool {
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		return open(t) || t == schema.Bool || t == schema.Integer || t == schema.Number
	case *schema.Enum:
		return t.Base != schema.String
	case *schema.Token:
		return loopable(t.Underlying)
	case *schema.Union:
		for _, member := range t.Members {
			if loopable(member) {
				return true
			}
		}
		return false
	case *schema.ResourceType:
		return false
	}
	return true
}

// eachType is the type of `each` in a resource with forEach.
func (c *checker) eachType(n *Node) schema.Type {
	var key, item schema.Type = schema.Any, schema.Any
	switch t := schema.Required(c.infer(n.Resource.Decl.ForEach)).(type) {
	case *schema.Array:
		key, item = schema.Integer, t.Item
	case *schema.Map:
		key, item = schema.String, t.Item
	case *schema.Object:
		key, item = schema.String, memberUnion(t)
	case schema.Primitive:
		switch t {
		case schema.Integer, schema.Number:
			key, item = schema.Integer, schema.Integer
		case schema.Bool:
			return schema.ObjectOf(&schema.Property{Name: "value", Type: schema.Bool, Required: true})
		}
	}
	return schema.ObjectOf(&schema.Property{Name: "key", Type: key, Required: true},
		&schema.Property{Name: "value", Type: item, Required: true})
}

// instancesType is the type of a resource's node: of one resource, of one that may be missing, or of many.
func (c *checker) instancesType(n *Node) schema.Type {
	decl, t := n.Resource.Decl, n.Type
	if decl.ForEach == nil {
		if decl.If != nil && t != schema.Invalid {
			return schema.OptionalOf(t)
		}
		return t
	}
	if t == schema.Invalid {
		return t
	}
	switch collection := schema.Required(c.infer(decl.ForEach)).(type) {
	case *schema.Map, *schema.Object:
		return &schema.Map{Item: t}
	case *schema.Array:
		if decl.If != nil {
			t = schema.OptionalOf(t)
		}
		return &schema.Array{Item: t}
	case schema.Primitive:
		switch collection {
		case schema.Integer, schema.Number:
			if decl.If != nil {
				t = schema.OptionalOf(t)
			}
			return &schema.Array{Item: t}
		case schema.Bool:
			return schema.OptionalOf(t)
		}
	}
	return schema.Any
}

// Instances reports whether an expression stands for the instances of a resource with forEach over a map, by their keys:
// `[*]` on it goes over them.
func (p *Program) Instances(e ast.Expr) bool {
	if m, ok := schema.Required(p.TypeOf(e)).(*schema.Map); ok {
		_, ok := schema.Required(m.Item).(*schema.ResourceType)
		return ok
	}
	access, ok := e.(*ast.Access)
	if !ok || len(access.Steps) > 0 {
		return false
	}
	n := p.refs[access].Node
	return n != nil && n.Resource != nil && n.Resource.Decl.ForEach != nil
}
