package ast

import "github.com/yamlhost/yamlhost/internal/diag"

// Expr is an expression. Only the types of this file implement it.
type Expr interface {
	// Range returns the source range of the whole expression.
	Range() diag.Range
	place() *Place
}

// Place is the source range of a node. Every expression embeds it.
type Place struct {
	At diag.Range

	slot int32 // index of the expression in unit
	unit *Unit // nil for an expression outside of any declaration
}

// Range returns the source range of the whole node.
func (p Place) Range() diag.Range { return p.At }

func (p *Place) place() *Place { return p }

type (
	// Null is the null literal.
	Null struct{ Place }

	// Bool is a boolean literal.
	Bool struct {
		Place
		Value bool
	}

	// Number is a number literal. Integer reports whether it was written without a fraction and an exponent.
	Number struct {
		Place
		Value   float64
		Integer bool
	}

	// String is a string without interpolation. Its escapes are resolved.
	String struct {
		Place
		Value string
	}

	// Template is a string with at least one interpolation and other content (L5.13). Parts are in source order; a
	// literal part is a *String.
	Template struct {
		Place
		Parts []Expr
	}

	// Access is a Pulumi property access: a root name and steps into its value (L5.B). If the access is the whole
	// scalar, its range includes the enclosing `${…}`.
	Access struct {
		Place
		Root  Literal
		Steps []Step
		nth   int32 // index in the unit's Accesses
	}

	// List is a list literal.
	List struct {
		Place
		Items []Expr
	}

	// Map is a map literal. Its keys are expressions that evaluate to strings (L5.2).
	Map struct {
		Place
		Entries []MapEntry
	}

	// Call is a call of a built-in function, written `fn::name: argument` or `${name(arguments)}`.
	//
	// In a short provider call such as fn::random:index:f (L6.3) Name is the token after "fn::", which contains a
	// colon.
	Call struct {
		Place
		Name     Literal // as written, without the prefix "fn::"
		Argument Expr    // the argument of the fn:: form, of any kind; nil in the expression form
		Args     []Expr  // the arguments of the expression form
		Expanded bool    // the last of Args was written with "...": its items are separate arguments
		Failure  *Local  // the name "error", bound in the second argument of recover; nil for other functions
		// Prefix is the range of "fn::" if it is written with capitals (L1.20); zero otherwise.
		Prefix diag.Range
		nth    int32 // index in the unit's Calls
	}

	// Unary is an operation with one operand: "-" or "!".
	Unary struct {
		Place
		Op      string
		OpRange diag.Range
		Operand Expr
	}

	// Binary is an operation with two operands: + - * / % == != < <= > >= && ||.
	Binary struct {
		Place
		Op          string
		OpRange     diag.Range
		Left, Right Expr
	}

	// Conditional is the expression condition ? then : else.
	Conditional struct {
		Place
		Condition, Then, Else Expr
	}

	// Index is collection[key] with a computed key, or an index into an expression other than a plain access.
	Index struct {
		Place
		Collection, Key Expr
		Optional        bool // written collection?[key]
	}

	// Member is object.name where object is not a plain access.
	Member struct {
		Place
		Object   Expr
		Name     Literal
		Optional bool // written object?.name
	}

	// Splat is source[*] or source.*. Each is evaluated once for every item of Source, with Item bound to that item.
	Splat struct {
		Place
		Source Expr
		Item   *Local
		Each   Expr
	}

	// For is a for expression. It makes a list, or a map if Key is not nil.
	For struct {
		Place
		KeyName, ValueName *Local // KeyName may be nil
		Collection         Expr
		Key                Expr // key of each map entry; nil for a list
		Value              Expr
		Condition          Expr // nil when absent
		Grouped            bool // written with "...": values with equal keys are collected in a list
	}

	// Local is a name bound by a For, a Splat or a call of recover. Uses of it are LocalRefs.
	Local struct {
		Name  string
		Range diag.Range
		Of    Expr // the source of a splat, for messages; nil for other names
	}

	// LocalRef is a use of a local name.
	LocalRef struct {
		Place
		Local *Local
	}

	// Bad replaces a part of the text that cannot be parsed. The parser has reported it, so later passes must not.
	Bad struct{ Place }
)

// Step is one step of an Access: a member name or a list index.
type Step struct {
	Range   diag.Range // including the dot or brackets
	Name    string     // member name, unless IsIndex
	Index   int        // list index, if IsIndex
	IsIndex bool
	Quoted  bool // the member is written ["name"]
	// Optional reports whether the step is written with a question mark: if the value it is applied to is null, the
	// whole access is null.
	Optional bool
}

// MapEntry is one entry of a Map.
type MapEntry struct{ Key, Value Expr }

// Walk calls fn for e and every expression inside it, parents first, in source order. If fn returns false, Walk skips
// the children of that expression. Walk ignores a nil e.
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

// Property returns the value of a property; nil if the resource does not set it.
func (r *Resource) Property(name string) Expr {
	for i := range r.Properties {
		if r.Properties[i].Name.Value == name {
			return r.Properties[i].Value
		}
	}
	return nil
}

// Exprs calls fn for every top-level expression of the resource, in the source order of the fields.
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

// Exprs calls fn for every top-level expression of the body, section by section.
func (b *Body) Exprs(fn func(Expr)) {
	for _, c := range b.Config {
		given(fn, c.Default)
	}
	for _, v := range b.Variables {
		given(fn, v.Value)
	}
	for _, r := range b.Resources {
		r.Exprs(fn)
	}
	for _, o := range b.Outputs {
		given(fn, o.Value)
	}
}

// Exprs calls fn for every top-level expression of the file except those of its components, section by section.
func (f *File) Exprs(fn func(Expr)) {
	given(fn, f.RequiredVersion)
	f.Body.Exprs(fn)
	for _, h := range f.Hooks {
		given(fn, h.Command)
	}
	for _, t := range f.Transforms {
		t.Exprs(fn)
	}
	for _, m := range f.Messages {
		m.Exprs(fn)
	}
	for _, p := range f.Policies {
		p.Exprs(fn)
	}
}

// given calls fn for every expression that is not nil.
func given(fn func(Expr), exprs ...Expr) {
	for _, e := range exprs {
		if e != nil {
			fn(e)
		}
	}
}
