package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Transform changes resources, or function calls, before they are processed; an extension of yamlhost.
type Transform struct {
	Range diag.Range // the whole item
	Key   diag.Range // the first key, for messages

	Match     TransformMatch
	When      Expr // nil when absent
	Arguments bool // it applies to function calls, and Merge to their arguments
	// Merge is merged into the properties or the arguments; nil when absent.
	Merge   Expr
	Replace *BoolLiteral // Merge replaces the properties instead
	Options Options
	Unit    *Unit // of all of its expressions; nil for a resource's own transform, which is in the resource's unit
}

// TransformMatch selects the resources or calls that a transform or policy applies to. Empty lists and nil match
// everything.
type TransformMatch struct {
	Range     diag.Range // the whole block; zero when absent
	Types     []Literal  // globs on type tokens
	Names     []Literal  // globs on names
	Custom    *BoolLiteral
	Functions []Literal // globs on function tokens; not empty if the transform applies to calls
}

// Exprs calls fn for every top-level expression of the transform, in the source order of its fields.
func (t *Transform) Exprs(fn func(Expr)) {
	given(fn, t.When, t.Merge)
	t.Options.Each(func(o *Option) { fn(o.Value) })
}

// Policy is a rule for resources, declared by a policy pack or by the program itself; an extension of yamlhost.
type Policy struct {
	Name        Literal
	Range       diag.Range // the whole entry, including the key
	Description *Literal
	Enforcement *Literal // advisory, mandatory, remediate or disabled; nil for the pack's level
	Match       TransformMatch
	Stack       *BoolLiteral // it applies to all resources together
	After       *BoolLiteral // it applies to the outputs of a resource
	Destroy     *BoolLiteral // it applies to resources that an operation deletes or replaces
	Config      []*DynamicProperty

	When      Expr // nil when absent
	Violation Expr // evaluates to a string, a list of strings, or null; nil when absent
	// Remedy is merged into the inputs of a resource; nil when absent.
	Remedy Expr
	Unit   *Unit // of all of its expressions
}

// Exprs calls fn for every top-level expression of the policy, in the source order of its fields.
func (p *Policy) Exprs(fn func(Expr)) {
	given(fn, p.When, p.Violation, p.Remedy)
}

// OfStack reports whether the policy applies to all resources together.
func (p *Policy) OfStack() bool { return p.Stack.IsTrue() }

// OfDestroyed reports whether the policy applies to resources that an operation deletes or replaces.
func (p *Policy) OfDestroyed() bool { return p.Destroy.IsTrue() }

// OfOutputs reports whether the policy applies to the outputs of a resource.
func (p *Policy) OfOutputs() bool { return p.After.IsTrue() }

// Message is a message that a run prints; an extension of yamlhost.
type Message struct {
	Range    diag.Range // the whole item
	Level    *Literal   // debug, info, warning or error; nil for info
	Text     Expr       // nil when missing, which the parser has reported
	Resource Expr       // the resource that the message is about; nil when absent
	If       Expr       // nil when absent
	Unit     *Unit      // of all of its expressions
}

// Exprs calls fn for every top-level expression of the message.
func (m *Message) Exprs(fn func(Expr)) {
	given(fn, m.If, m.Text, m.Resource)
}
