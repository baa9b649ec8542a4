package program

import (
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Component is a component whose text is known.
type Component struct {
	Decl  *ast.Component
	Token string // canonical
	// Body are the component's inputs, as configuration values, its variables, resources and outputs.
	Body   *Program
	Schema *schema.Resource // the view of the component's users
	// Packaged reports whether the component comes from a package and not from the program itself.
	Packaged bool
}

// Deferral describes how an instance of a component is registered when components use each other's outputs.
type Deferral struct {
	// Register are the nodes that the registration needs, without those of deferred inputs.
	Register []*Node
	// Inputs are the properties that are evaluated on demand, after the registration.
	Inputs map[string]bool
}

// IsComponent reports whether a resource is an instance of a component.
func (n *Node) IsComponent() bool {
	return n.Resource.Component != nil || n.Resource.Schema != nil && n.Resource.Schema.Component
}

// IsRemote reports whether a provider constructs the component of a node.
func (n *Node) IsRemote() bool {
	return n.Resource.Component == nil && n.Resource.Schema != nil && n.Resource.Schema.Component
}
