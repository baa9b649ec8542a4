package program

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Program is a checked program, or the checked body of a component. The passes of the checker fill it one after the
// other; from then on it is immutable and safe for concurrent use.
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
	// Deferring reports whether some nodes have a Deferral.
	Deferring bool
	// InComponent reports whether the program is the body of a component.
	InComponent bool

	shared Shared
}

// Shared holds the data that a program and the bodies of its components have in common.
type Shared struct {
	Facts    Facts         // about all declarations
	Packages *packages.Set // where types and functions of providers are looked up
	// Inputs are the inputs of the types that resources name, by canonical token.
	Inputs map[string]*schema.Object
}

// New returns a program without declarations.
func New(file *ast.File, name string, shared Shared) *Program {
	return &Program{File: file, Name: name, shared: shared}
}

// NodeKind is the kind of declaration of a node.
type NodeKind uint8

// The kinds of nodes.
const (
	ConfigNode NodeKind = iota
	VariableNode
	ResourceNode
)

var kindNames = [...]string{ConfigNode: "configuration value", VariableNode: "variable", ResourceNode: "resource"}

// String returns the kind's name for messages.
func (k NodeKind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Node is a configuration value, variable or resource.
type Node struct {
	Index       int // its index in Program.Nodes
	SourceIndex int // its index in the order of the text: configuration, resources, variables
	Kind        NodeKind
	Name        string
	Range       diag.Range // of its name
	Needs       []Edge     // in source order; a node may be repeated
	Type        schema.Type

	Config   *Config       // of a ConfigNode
	Variable *ast.Variable // of a VariableNode
	Resource *Resource     // of a ResourceNode
	// Transforms are the transforms of the stack that can change it or its children.
	Transforms []*ast.Transform
	Deferral   *Deferral // of a component instance in a loop; else nil
}

// Unit returns the unit of the node's expressions; nil for configuration without a declaration.
func (n *Node) Unit() *ast.Unit {
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

// Declared returns the range of the entry that declares the node; zero for configuration without a declaration.
func (n *Node) Declared() (entry diag.Range) {
	switch {
	case n.Variable != nil:
		entry = n.Variable.Range
	case n.Resource != nil:
		entry = n.Resource.Decl.Range
	case n.Config.Decl != nil:
		entry = n.Config.Decl.Range
	}
	return entry
}

// Edge is a dependency between two nodes, with the text that causes it.
type Edge struct {
	To    *Node
	Range diag.Range
	// Deferred reports whether the edge needs only single outputs of a component with a Deferral, so that To need not
	// be complete.
	Deferred bool

	Transform  *ast.Transform // the matching transform that needs To; nil for a name in the node's own text
	DefaultFor *ast.Call      // the call for which To is the default provider; nil for a name in the text
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
	// Inexact reports whether an integer in constant arguments of Func loses digits, which has been reported.
	Inexact bool
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

// Ref returns the meaning of the root of an access. A unit without facts is that of a text that was not checked, such
// as one that the editor has only parsed.
func (p *Program) Ref(a *ast.Access) Ref {
	unit, i := a.Unit()
	if f := p.shared.Facts[unit]; f != nil {
		return f.Refs[i]
	}
	return Ref{}
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
	if f := p.shared.Facts[unit]; f != nil && f.Calls != nil {
		return f.Calls[i]
	}
	return nil
}

// TypeOf returns the type of an expression; Invalid if it has been reported as wrong or is not part of the program.
func (p *Program) TypeOf(e ast.Expr) schema.Type {
	if e == nil {
		return schema.Invalid
	}
	unit, i := ast.Slot(e)
	if f := p.shared.Facts[unit]; f != nil && f.Types != nil && f.Types[i] != nil {
		return f.Types[i]
	}
	return schema.Invalid
}

// Known resolves a type that another package defines to its definition (F8.7). If that package is unknown, it returns
// t.
func (p *Program) Known(ctx context.Context, t schema.Type) schema.Type {
	found, _ := p.shared.Packages.Known(ctx, t)
	return found
}

// InputsOf returns the inputs of a type that the program uses or one of its packages has; nil if they are unknown.
func (p *Program) InputsOf(token string) *schema.Object {
	if inputs, known := p.shared.Inputs[token]; known {
		return inputs
	}
	return p.shared.Packages.InputsOf(token)
}

// Invokes returns one call of each provider function in the program and its components, sorted by token.
func (p *Program) Invokes() []*Invoke {
	byToken := make(map[string]*Invoke)
	for _, f := range p.shared.Facts {
		for _, call := range f.Calls {
			if call == nil || call.Invoke == nil {
				continue
			}
			if inv := call.Invoke; byToken[inv.Token] == nil || byToken[inv.Token].Schema == nil {
				byToken[inv.Token] = inv
			}
		}
	}
	return slices.SortedFunc(maps.Values(byToken), func(a, b *Invoke) int { return strings.Compare(a.Token, b.Token) })
}

// VersionNeeds returns the nodes that pulumi.requiredVersion depends on, in the order of evaluation.
func (p *Program) VersionNeeds() []*Node {
	if p.File == nil || p.File.RequiredVersion == nil {
		return nil
	}
	needed := make(map[*Node]bool)
	for _, access := range p.File.Unit.Accesses {
		if n := p.Ref(access).Node; n != nil {
			Reach(n, needed, false)
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Nodes), func(n *Node) bool { return !needed[n] })
}

// Fact holds the references, types and calls of the expressions of one declaration. The resolver of names sets Refs;
// the check of the declaration sets Types and Calls, which stay nil if it was cancelled before. An outcome that is
// reused brings its Types and Calls; Refs are always of this check, since its nodes are new.
type Fact struct {
	Refs  []Ref         // of the unit's accesses
	Types []schema.Type // by slot; nil for an expression that was not inferred
	Calls []*Call       // of the unit's calls; nil for one that means nothing
}

// ForgetTypes lets go of the types of expressions for which evaluation does not ask. It is for the owner of a program
// that is shown to nobody else.
func (p *Program) ForgetTypes() {
	for unit, f := range p.shared.Facts {
		if !unit.Typed {
			f.Types = nil
		}
	}
}

// Facts holds what is known about declarations, by their units.
type Facts map[*ast.Unit]*Fact
