package ast

import "github.com/yamlhost/yamlhost/internal/diag"

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
	for _, e := range []Expr{p.When, p.Violation, p.Remedy} {
		if e != nil {
			fn(e)
		}
	}
}

// Number makes the unit of a policy that has been read.
func (p *Policy) Number() {
	p.Unit = &Unit{}
	p.Exprs(p.Unit.add)
}

// OfStack reports whether the policy is about all resources together.
func (p *Policy) OfStack() bool { return p.Stack != nil && p.Stack.Value }

// OfDestroyed reports whether the policy is about what an operation deletes or replaces.
func (p *Policy) OfDestroyed() bool { return p.Destroy != nil && p.Destroy.Value }

// OfOutputs reports whether the policy is about the outputs of a resource.
func (p *Policy) OfOutputs() bool { return p.After != nil && p.After.Value }
