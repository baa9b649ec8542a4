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

// Number makes the unit of a transform of the stack that has been read.
func (t *Transform) Number() {
	t.Unit = &Unit{}
	t.Exprs(t.Unit.add)
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
	for _, e := range []Expr{t.When, t.Merge} {
		if e != nil {
			fn(e)
		}
	}
	t.Options.Each(func(o *Option) { fn(o.Value) })
}
