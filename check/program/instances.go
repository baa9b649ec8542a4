package program

import (
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Each returns the type of `each` in a resource; nil for one without forEach.
func (p *Program) Each(n *Node) schema.Type {
	if n.Resource == nil || n.Resource.Decl == nil || n.Resource.Decl.ForEach == nil {
		return nil
	}
	return EachOf(p.TypeOf(n.Resource.Decl.ForEach))
}

// EachOf returns the type of `each` for a collection.
func EachOf(collection schema.Type) schema.Type {
	key, item := ItemTypes(collection)
	switch schema.Required(collection) {
	case schema.Integer, schema.Number:
		key, item = schema.Integer, schema.Integer
	case schema.Bool:
		return schema.ObjectOf(&schema.Property{Name: "value", Type: schema.Bool, Required: true})
	}
	return schema.ObjectOf(&schema.Property{Name: "key", Type: key, Required: true},
		&schema.Property{Name: "value", Type: item, Required: true})
}

// Instances reports whether an expression is the map of the instances of a resource with forEach over a map, over which
// `[*]` iterates.
func (p *Program) Instances(e ast.Expr) bool { return p.AreInstances(e, p.TypeOf(e)) }

// AreInstances is Instances for an expression whose type is t.
func (p *Program) AreInstances(e ast.Expr, t schema.Type) bool {
	switch t := schema.Required(t).(type) {
	case *schema.Map:
		_, ok := schema.Required(t.Item).(*schema.ResourceType)
		return ok
	case *schema.ResourceType:
		return false
	}
	n := p.RefTo(e).Node
	return n != nil && n.Resource != nil && n.Resource.Decl.ForEach != nil
}
