package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Expr is an expression. The set of implementations is closed: the types of this file.
type Expr interface {
	// Range is the place of the whole expression.
	Range() diag.Range
	place() *Place
}

// Place is the range of a node; every expression embeds it.
type Place struct {
	At diag.Range

	slot int32 // in unit
	unit *Unit // nil for an expression of no declaration
}

// Range is the place of the whole node.
func (p Place) Range() diag.Range { return p.At }

func (p *Place) place() *Place { return p }

type (
	// Null is a null.
	Null struct{ Place }

	// Bool is a boolean literal.
	Bool struct {
		Place
		Value bool
	}

	// Number is a number literal. Integer tells whether it was written without fraction and exponent.
	Number struct {
		Place
		Value   float64
		Integer bool
	}

	// String is a text without interpolation, escapes resolved.
	String struct {
		Place
		Value string
	}

	// Template is a text with at least one interpolation and something else (L5.13): the parts in order, where a
	// literal part is a *String.
	Template struct {
		Place
		Parts []Expr
	}

	// Access is a Pulumi property access: a root name and steps into its value (L5.B). The interpolation `${…}` around
	// it belongs to its range where it is the whole scalar.
	Access struct {
		Place
		Root  Literal
		Steps []Step
		nth   int32 // in the unit's accesses
	}

	// List is a list.
	List struct {
		Place
		Items []Expr
	}

	// Map is a map whose keys are expressions too, which give strings (L5.2).
	Map struct {
		Place
		Entries []MapEntry
	}

	// Call calls a built-in function, in either form: `fn::name: argument` or `${name(arguments)}`.
	//
	// For a short provider call such as fn::random:index:f (L6.3) Name is the token behind "fn::" and holds a colon.
	Call struct {
		Place
		Name     Literal // without the prefix "fn::", as written otherwise
		Argument Expr    // the one argument of the fn:: form, any shape; nil for the expression form
		Args     []Expr  // the arguments of the expression form
		Expanded bool    // the last of Args was written with "..." and stands for many
		Failure  *Local  // the name error, bound inside of the second of Args of recover; nil for other calls
		// Prefix is the place of "fn::" where it has capitals (L1.20); zero otherwise.
		Prefix diag.Range
		nth    int32 // in the unit's calls
	}

	// Unary is an operator with one operand: "-" or "!".
	Unary struct {
		Place
		Op      string
		OpRange diag.Range
		Operand Expr
	}

	// Binary is an operator with two operands: + - * / % == != < <= > >= && ||.
	Binary struct {
		Place
		Op          string
		OpRange     diag.Range
		Left, Right Expr
	}

	// Conditional is condition ? then : else.
	Conditional struct {
		Place
		Condition, Then, Else Expr
	}

	// Index is collection[key] with a computed key, or a step on something that is no plain access.
	Index struct {
		Place
		Collection, Key Expr
		Optional        bool // written collection?[key]
	}

	// Member is object.name on something that is no plain access.
	Member struct {
		Place
		Object   Expr
		Name     Literal
		Optional bool // written object?.name
	}

	// Splat is source[*] or source.*: Each is evaluated for every item, which Item stands for inside it.
	Splat struct {
		Place
		Source Expr
		Item   *Local
		Each   Expr
	}

	// For makes a list, or with Key a map, from a collection.
	For struct {
		Place
		KeyName, ValueName *Local // KeyName may be nil
		Collection         Expr
		Key                Expr // of a map; nil for a list
		Value              Expr
		Condition          Expr // nil when absent
		Grouped            bool // values of one key are gathered in a list ("...")
	}

	// Local is a name bound by a For or a Splat; uses of it are LocalRef.
	Local struct {
		Name  string
		Range diag.Range
		Of    Expr // what a splat goes over, for messages; nil for the names of a loop
	}

	// LocalRef is a use of a local name.
	LocalRef struct {
		Place
		Local *Local
	}

	// Bad stands where the text made no sense; the parser has reported why, so no other pass does.
	Bad struct{ Place }
)

// Step is one step of an Access: a member or a list index.
type Step struct {
	Range   diag.Range // with its dot or brackets
	Name    string     // of a member
	Index   int        // of a list item, when IsIndex
	IsIndex bool
	Quoted  bool // a member written as ["name"]
	// Optional reports whether the step is written with a question mark: what it leads into may be null, which ends the
	// access.
	Optional bool
}

// MapEntry is one entry of a Map.
type MapEntry struct{ Key, Value Expr }

// Walk calls fn for e and every expression inside it, parents first, in source order. Where fn answers false, what is
// inside that expression is left out. A nil e is no expression.
func Walk(e Expr, fn func(Expr) bool) {
	if e == nil || !fn(e) {
		return
	}
	each := func(exprs ...Expr) {
		for _, x := range exprs {
			Walk(x, fn)
		}
	}
	switch e := e.(type) {
	case *Null, *Bool, *Number, *String, *Access, *LocalRef, *Bad:
	case *Template:
		each(e.Parts...)
	case *List:
		each(e.Items...)
	case *Map:
		for _, entry := range e.Entries {
			each(entry.Key, entry.Value)
		}
	case *Call:
		each(e.Argument)
		each(e.Args...)
	case *Unary:
		each(e.Operand)
	case *Binary:
		each(e.Left, e.Right)
	case *Conditional:
		each(e.Condition, e.Then, e.Else)
	case *Index:
		each(e.Collection, e.Key)
	case *Member:
		each(e.Object)
	case *Splat:
		each(e.Source, e.Each)
	case *For:
		each(e.Collection, e.Key, e.Value, e.Condition)
	default:
		panic("ast.Walk lacks a case for a kind of expression")
	}
}

// Exprs calls fn for every top-level expression of a resource, in source order of the fields.
func (r *Resource) Exprs(fn func(Expr)) {
	for _, p := range r.Properties {
		given(fn, p.Value)
	}
	given(fn, r.PropertiesExpr)
	if r.Get != nil {
		given(fn, r.Get.ID)
		for _, p := range r.Get.State {
			given(fn, p.Value)
		}
	}
	r.Options.Each(func(o *Option) { given(fn, o.Value) })
	for _, t := range r.Options.Transforms {
		t.Exprs(fn)
	}
	given(fn, r.ForEach, r.If)
}

// given calls fn for the expressions that are there.
func given(fn func(Expr), exprs ...Expr) {
	for _, e := range exprs {
		if e != nil {
			fn(e)
		}
	}
}
