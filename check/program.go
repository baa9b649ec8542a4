package check

import (
	"context"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Program is a checked program. It is immutable and safe for concurrent use.
type Program struct {
	File *ast.File
	Name string // the project's name

	// Nodes are the configuration values, variables and resources in the order of evaluation: each after its
	// dependencies that are not deferred, ties in source order (L9.3).
	Nodes   []*Node
	Outputs []*Output
	// Components are the components that the program declares (L3.E), and the components of packages that are used by
	// path.
	Components []*Component
	Hooks      []*Hook
	Transforms []*Transform // of the stack
	Policies   []*Policy
	Dynamic    []*Dynamic // types whose provider is a source file beside the program
	// Packages are the packages that the program needs, each once, in order of first use.
	Packages []schema.Descriptor

	records records // of all declarations, including those in components
	left    *memory // for a later check; may be nil

	inputsOf  func(token string) *schema.Object
	component bool // the program is the body of a component
	// Deferring reports whether some nodes have a Deferral.
	Deferring bool
	schemas   schema.Loader
}

// NodeKind is the kind of declaration of a node.
type NodeKind uint8

// The kinds of nodes.
const (
	ConfigNode NodeKind = iota
	VariableNode
	ResourceNode
)

// Node is a configuration value, variable or resource.
type Node struct {
	Index int // its index in Program.Nodes
	Kind  NodeKind
	Name  string
	Range diag.Range // of its name
	Needs []Edge     // in source order; a node may be repeated
	Type  schema.Type

	Config *Config // of a ConfigNode
	stamp  *stamp
	record *record // of its expressions; nil if undeclared
	place  int     // index among the nodes of its body, in source order

	Variable *ast.Variable // of a VariableNode
	Resource *Resource     // of a ResourceNode
	// Transforms are the transforms of the stack that can change it or its children.
	Transforms []*ast.Transform
	Deferral   *Deferral // of a component instance in a loop; else nil
}

// unit returns the unit of the node's expressions; nil for configuration without a declaration.
func (n *Node) unit() *ast.Unit {
	switch {
	case n.Variable != nil:
		return n.Variable.Unit
	case n.Resource != nil:
		return n.Resource.Decl.Unit
	case n.Config.Decl != nil:
		return n.Config.Decl.Unit
	}
	return nil
}

// Edge is a dependency between two nodes, with the text that causes it.
type Edge struct {
	To    *Node
	Range diag.Range
	// Deferred reports whether the edge needs only single outputs of a component with a Deferral, so that To need not
	// be complete.
	Deferred bool

	transform *ast.Transform // the matching transform that needs To; nil for a name in the node's own text
	byDefault *ast.Call      // the call for which To is the default provider; nil for a name in the text
}

// Config is a configuration value: either Value is set, from the stack's configuration, or Decl.Default gives it.
type Config struct {
	Decl  *ast.Config // nil for a key that the program does not declare
	Key   string      // full key, <namespace>:<name>
	Value *value.Value
	// Text is the value as written in the stack's configuration, for properties of type string (L2.33).
	Text *string
}

// Resource is a checked resource. With Decl.ForEach the value of its node is a list or a map of any number of
// instances; with Decl.If it may be null (decision D6).
type Resource struct {
	Decl        *ast.Resource
	Token       string            // canonical
	LogicalName string            // last part of the URN
	Package     schema.Descriptor // with the options version and pluginDownloadURL applied
	Schema      *schema.Resource  // nil when the type's members are not known
	Component   *Component        // nil for what a provider provides
	Dynamic     *Dynamic          // nil for what another provider provides
	// DefaultProvider is the program's default provider for the package, when the resource has to use it (L7.45).
	DefaultProvider *Node
	// DefaultProviders are, for a Component, the default providers of the packages that it uses.
	DefaultProviders []*Node
}

// Inputs returns the inputs of the resource; nil if they are not known.
func (r *Resource) Inputs() *schema.Object {
	if r.Schema == nil {
		return nil
	}
	return r.Schema.Inputs
}

// Output is one output of the program.
type Output struct {
	Decl  *ast.Output
	Needs []Edge
	Type  schema.Type
}

// RefKind is the kind of declaration that a name in an expression refers to.
type RefKind uint8

// The kinds of references.
const (
	RefNode   RefKind = iota // a configuration value, variable or resource
	RefPulumi                // the built-in variable pulumi (L3.F)
	RefEach                  // the instance of a resource with forEach that is being made; Node is the resource
	RefArgs                  // a description by the engine, in the command of a hook and in a transform
	RefPolicy                // a name that only policies have: resource, resources, args or config
	RefBad                   // nothing; it has been reported
)

// Ref is the meaning of the root of an access.
type Ref struct {
	Kind     RefKind
	Node     *Node
	Deferred bool // as in Edge
}

// Call is the target of a call: a built-in function or a provider function.
type Call struct {
	Func   *builtins.Func // nil for a provider function
	Invoke *Invoke        // of a provider function
	Method *Method        // of a method of a resource
	Args   []ast.Expr     // by parameter of Func; nil if an optional one is left out
}

// Invoke is a checked call of a provider function (L6.C).
type Invoke struct {
	Token           string // canonical
	Package         schema.Descriptor
	Schema          *schema.Function // nil if unknown
	Arguments       ast.Expr         // nil for none
	Return          string           // empty for the whole result
	Parent          ast.Expr
	Provider        ast.Expr
	DependsOn       ast.Expr
	DefaultProvider *Node // the program's default provider, if the call uses it
}

// Method is a checked call of a resource's method (L10.C8).
type Method struct {
	Name      string
	Token     string // empty if the type of the resource is not known before it exists
	Package   schema.Descriptor
	Schema    *schema.Function // nil if unknown
	Inputs    *schema.Object   // without the resource itself
	Resource  ast.Expr
	Arguments ast.Expr // nil for none
	Return    string   // empty for the whole result
}

// Ref returns the meaning of the root of an access.
func (p *Program) Ref(a *ast.Access) Ref {
	unit, i := a.Unit()
	r := p.records.of(unit)
	if r == nil {
		return Ref{}
	}
	return r.refs[i]
}

// RefTo returns the meaning of an expression that is a name without steps; a zero Ref for any other expression.
func (p *Program) RefTo(e ast.Expr) Ref {
	if access, ok := e.(*ast.Access); ok && len(access.Steps) == 0 {
		return p.Ref(access)
	}
	return Ref{}
}

// Call returns the target of a call; nil for an invalid call, which has been reported.
func (p *Program) Call(c *ast.Call) *Call {
	unit, i := c.Unit()
	if r := p.records.of(unit); r != nil && r.outcome != nil {
		return r.outcome.calls[i]
	}
	return nil
}

// Known resolves a type that another package defines to its definition (F8.7). If that package is unknown, it returns
// t.
func (p *Program) Known(ctx context.Context, t schema.Type) schema.Type {
	found, _ := known(ctx, p.schemas, t)
	return found
}

// TypeOf returns the type of an expression; Invalid if it has been reported as wrong or is not part of the program.
func (p *Program) TypeOf(e ast.Expr) schema.Type {
	if e == nil {
		return schema.Invalid
	}
	unit, i := ast.Slot(e)
	if r := p.records.of(unit); r != nil && r.outcome != nil && r.outcome.types[i] != nil {
		return r.outcome.types[i]
	}
	return schema.Invalid
}

// record keeps the facts about the expressions of a declaration.
type record struct {
	refs    []Ref    // of the unit's accesses
	outcome *outcome // nil until it is checked
}

// records holds the records of declarations by their units. It is immutable once the check has ended.
type records map[*ast.Unit]*record

// of returns the record of a unit; nil if there is none.
func (r records) of(unit *ast.Unit) *record { return r[unit] }

// pieces cuts slices from larger allocations, which costs less than an allocation for each.
type pieces[T any] struct{ rest []T }

// next returns a zeroed slice of length n.
func (p *pieces[T]) next(n int) []T {
	const many = 4096
	if n > len(p.rest) {
		p.rest = make([]T, max(n, many))
	}
	part := p.rest[:n:n]
	p.rest = p.rest[n:]
	return part
}
