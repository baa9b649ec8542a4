package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Transform changes resources, or function calls, before anything is done about them; an extension of yamlhost.
type Transform struct {
	Range diag.Range // the whole item
	Key   diag.Range // of the first key, which messages point at

	Match     TransformMatch
	When      Expr // nil when absent
	Arguments bool // it is about function calls: Merge is for their arguments
	// Merge is merged into the properties or arguments; nil when absent.
	Merge   Expr
	Replace *BoolLiteral // Merge takes the place of the properties
	Options Options
	Unit    *Unit // of all of its expressions, in the section; a resource's own transforms have the resource's unit
}

// TransformMatch describes what a transform is for. Empty lists and nil match everything.
type TransformMatch struct {
	Range     diag.Range // the whole block; zero when absent
	Types     []Literal  // globs on type tokens
	Names     []Literal  // globs on names
	Custom    *BoolLiteral
	Functions []Literal // globs on tokens of functions; not empty when the transform is about calls
}

// Exprs calls fn for every expression at the top of something in the transform, in source order of its fields.
func (t *Transform) Exprs(fn func(Expr)) {
	given(fn, t.When, t.Merge)
	t.Options.Each(func(o *Option) { fn(o.Value) })
}

// Policy is a rule about resources: of a policy pack, or of the program that declares it. It is an extension of
// yamlhost.
type Policy struct {
	Name        Literal
	Range       diag.Range // the whole entry, key included
	Description *Literal
	Enforcement *Literal // advisory, mandatory, remediate or disabled; nil for the level of the pack
	Match       TransformMatch
	Stack       *BoolLiteral // it is about all resources together
	After       *BoolLiteral // it is about the outputs of a resource
	Destroy     *BoolLiteral // it is about what an operation deletes or replaces
	Config      []*DynamicProperty

	When      Expr // nil when absent
	Violation Expr // gives a text, a list of texts, or null; nil when absent
	// Remedy is merged into the inputs of a resource; nil when absent.
	Remedy Expr
	Unit   *Unit // of all of its expressions
}

// Exprs calls fn for every expression at the top of something in the policy, in source order of its fields.
func (p *Policy) Exprs(fn func(Expr)) {
	given(fn, p.When, p.Violation, p.Remedy)
}

// OfStack reports whether the policy is about all resources together.
func (p *Policy) OfStack() bool { return p.Stack != nil && p.Stack.Value }

// OfDestroyed reports whether the policy is about what an operation deletes or replaces.
func (p *Policy) OfDestroyed() bool { return p.Destroy != nil && p.Destroy.Value }

// OfOutputs reports whether the policy is about the outputs of a resource.
func (p *Policy) OfOutputs() bool { return p.After != nil && p.After.Value }

// Message is a text that a run shows; an extension of yamlhost.
type Message struct {
	Range    diag.Range // the whole item
	Level    *Literal   // debug, info, warning or error; nil for info
	Text     Expr       // nil when it is missing, which the parser has reported
	Resource Expr       // what it is about; nil when absent
	If       Expr       // nil when absent
	Unit     *Unit      // of all of its expressions
}

// Exprs calls fn for every expression at the top of something in the message.
func (m *Message) Exprs(fn func(Expr)) {
	given(fn, m.If, m.Text, m.Resource)
}
