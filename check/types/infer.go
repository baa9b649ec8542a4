package types

import (
	"fmt"
	"math"
	"slices"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// typer finds the types of expressions. A type is a property of the expression alone, whatever its destination wants:
// that is why the same expression can be checked against several destinations, by fitter, without being inferred again.
type typer struct {
	decl      *declaration
	constants *constants
	accessor  *accessor
	fitter    *fitter
	caller    *caller
}

// infer finds the type of an expression and of everything inside it, and records them (L8.A). It reports faults inside
// of the expression, once: what has a type, Invalid included, is not looked at again, and Invalid suits every
// destination, so that one fault has one finding. fit decides whether the type suits the destination.
func (c *typer) infer(e ast.Expr) schema.Type {
	if e == nil {
		return schema.Invalid
	}
	unit, slot := ast.Slot(e)
	if unit != c.decl.unit {
		return c.decl.program.TypeOf(e) // of another declaration, already inferred
	}
	// Asked again, for instance by an option that is checked twice, it reports nothing again.
	if t := c.decl.types[slot]; t != nil {
		return t
	}
	t := c.inferNew(e)
	c.decl.types[slot] = t
	return t
}

// inferNew finds the type of an expression that has none yet. The switch lists all kinds of expressions.
func (c *typer) inferNew(e ast.Expr) schema.Type {
	switch e := e.(type) {
	case *ast.Null:
		return schema.Null
	case *ast.Bool:
		return schema.Bool
	case *ast.Number:
		if e.Integer {
			return schema.Integer
		}
		return schema.Number
	case *ast.String:
		c.hintBraces(e)
		return schema.String
	case *ast.Template:
		c.inferTemplate(e)
		return schema.String
	case *ast.Access:
		return c.inferAccess(e)
	case *ast.List:
		types := make([]schema.Type, len(e.Items))
		for i, item := range e.Items {
			types[i] = c.infer(item)
		}
		return &schema.Array{Item: program.Unify(types)}
	case *ast.Map:
		return c.inferMap(e)
	case *ast.Call:
		return c.caller.inferCall(e)
	case *ast.Unary:
		return c.inferUnary(e)
	case *ast.Binary:
		return c.inferBinary(e)
	case *ast.Conditional:
		c.operand(e.Condition, schema.Bool, "the condition")
		c.decl.report.Tolerating(inBranch, func() {
			c.infer(e.Then)
			c.infer(e.Else)
		})
		// Both have been inferred, and their findings reported, above.
		return program.Unify([]schema.Type{c.infer(e.Then), c.infer(e.Else)})
	case *ast.Index:
		return c.accessor.chained(e.Optional || c.accessor.chains(e.Collection), c.inferIndex(e))
	case *ast.Member:
		t := c.infer(e.Object)
		return c.accessor.chained(e.Optional || c.accessor.chains(e.Object), c.accessor.optionalMember(e.Optional, t,
			step{name: e.Name.Value, at: e.Name.Range, owner: describeExpr(e.Object)}))
	case *ast.Splat:
		return c.inferSplat(e)
	case *ast.For:
		return c.inferFor(e)
	// A local name without a binding is in a part that has a fault.
	case *ast.LocalRef:
		if t, bound := c.decl.locals[e.Local]; bound {
			return t
		}
		return schema.Any
	case *ast.Bad:
		return schema.Invalid
	}
	// A new kind of expression must not pass unnoticed as one of the type nil.
	panic(fmt.Sprintf("check lacks a case for the expression %T", e))
}

// inferTemplate checks that every part can become text (L5.C, L5.16).
func (c *typer) inferTemplate(e *ast.Template) {
	for _, part := range e.Parts {
		t := c.infer(part)
		// The text between expressions.
		if _, literal := part.(*ast.String); literal {
			continue
		}
		c.printable(part, t)
	}
}

// printable reports a value that cannot be put into a text. A union is printable if one alternative is: the others may
// never occur, and the evaluator reports them if they do.
func (c *typer) printable(e ast.Expr, t schema.Type) {
	hint := ""
	switch t := schema.Required(t).(type) {
	case schema.Primitive:
		switch t {
		case schema.Null:
			c.decl.report.Warnf(diag.NotPrintable, e.Range(), "it becomes an empty string", "this is null")
			return
		case schema.Number, schema.Integer:
			if n, ok := c.constants.constant(e).(*ast.Number); ok {
				c.fitter.checkSpelling(n, e.Range(), "")
			}
		case schema.Asset, schema.Archive:
			hint = "use its content or its path instead"
		case schema.AnyResource:
			hint = resourceHint(e)
		}
	case *schema.Array:
		hint = "use fn::join to join its items into one string, or fn::toJSON"
	case *schema.Map, *schema.Object:
		hint = "use fn::toJSON, or name one of its members"
	case *schema.ResourceType:
		hint = resourceHint(e)
	case *schema.Union:
		for _, member := range t.Members {
			// Warnings count as well here: a null would be an empty text.
			if len(c.decl.report.Attempt(func() { c.printable(e, member) })) == 0 {
				return
			}
		}
		hint = "use fn::toJSON, or name one of its members"
	case *schema.Token:
		c.printable(e, t.Underlying)
		return
	}
	if hint != "" {
		c.decl.report.Errorf(diag.NotPrintable, e.Range(), hint, "cannot put %s into a string",
			diag.WithArticle(schema.TypeName(t)))
	}
}

// resourceHint suggests what to write instead of a resource as a whole, which has no value of its own.
func resourceHint(e ast.Expr) string {
	if a, ok := e.(*ast.Access); ok && len(a.Steps) == 0 {
		return "use `${" + a.Root.Value + ".id}`, or another of its properties"
	}
	return "use its id, or another of its properties"
}

// inferMap returns an object if all keys are literal, and otherwise a map. A literal map keeps its members by name, so
// that an access to a missing one is found; with one computed key, nothing is known about the others.
func (c *typer) inferMap(m *ast.Map) schema.Type {
	computed := false
	for _, entry := range m.Entries {
		if _, literal := entry.Key.(*ast.String); !literal {
			computed = true
			c.infer(entry.Key)
			c.fitter.fit(entry.Key, schema.String, &destination{what: "a key"})
		} else {
			// Not inferred: a literal key is no expression in which braces could have been forgotten.
			c.decl.setType(entry.Key, schema.String)
		}
		c.infer(entry.Value)
	}
	if computed {
		values := make([]schema.Type, len(m.Entries))
		for i, entry := range m.Entries {
			values[i] = c.decl.typeOf(entry.Value)
		}
		item := program.Unify(values)
		// The members of a map with computed keys are not told apart by name, so a union would refuse what is right.
		if _, mixed := item.(*schema.Union); mixed {
			item = schema.Any
		}
		return &schema.Map{Item: item}
	}
	// The members are computed on demand: most literals are checked against their destination entry by entry. The
	// function keeps the slice of types and not the checker, which checks other declarations by then.
	types := c.decl.types
	return schema.NewObject("", true, func() []*schema.Property {
		members, made := make([]*schema.Property, len(m.Entries)), make([]schema.Property, len(m.Entries))
		for i, entry := range m.Entries {
			key := entry.Key.(*ast.String)
			t := schema.Type(schema.Invalid)
			if entry.Value != nil {
				_, slot := ast.Slot(entry.Value)
				t = types[slot]
			}
			made[i] = schema.Property{Name: key.Value, Type: t, Required: true}
			members[i] = &made[i]
		}
		return members
	})
}

// inferUnary infers a negation. Whole numbers stay whole, since lists are indexed by them and many properties take
// nothing else.
func (c *typer) inferUnary(e *ast.Unary) schema.Type {
	if e.Op == "!" {
		c.operand(e.Operand, schema.Bool, "the operand of !")
		return schema.Bool
	}
	t := c.operand(e.Operand, schema.Number, "the operand of "+e.Op)
	if schema.Required(t) == schema.Integer {
		return schema.Integer
	}
	return schema.Number
}

// inferBinary infers an operation. The right side of && and || may never be evaluated, so that a fault that its left
// side prevents is none. Comparisons for equality take values of any types.
func (c *typer) inferBinary(e *ast.Binary) schema.Type {
	sides := func(want schema.Type) (left, right schema.Type) {
		if c.joinsTexts(e) {
			return schema.Invalid, schema.Invalid
		}
		return c.operand(e.Left, want, "the left side of "+e.Op), c.operand(e.Right, want, "the right side of "+e.Op)
	}
	switch e.Op {
	// Values of two kinds are unequal, which is an answer and no fault.
	case "==", "!=":
		c.infer(e.Left)
		c.infer(e.Right)
		return schema.Bool
	case "&&", "||":
		c.operand(e.Left, schema.Bool, "the left side of "+e.Op)
		c.decl.report.Tolerating(inBranch, func() { c.operand(e.Right, schema.Bool, "the right side of "+e.Op) })
		return schema.Bool
	case "<", "<=", ">", ">=":
		sides(schema.Number)
		return schema.Bool
	}
	left, right := sides(schema.Number)
	// A quotient of integers may be a fraction.
	if e.Op != "/" && schema.Required(left) == schema.Integer && schema.Required(right) == schema.Integer {
		return schema.Integer
	}
	return schema.Number
}

// joinsTexts reports a sum with a literal text: in other languages it joins texts.
func (c *typer) joinsTexts(e *ast.Binary) bool {
	isText := func(side ast.Expr) bool {
		_, literal := side.(*ast.String)
		return literal
	}
	if e.Op != "+" || !isText(e.Left) && !isText(e.Right) {
		return false
	}
	c.infer(e.Left)
	c.infer(e.Right)
	c.decl.report.Errorf(diag.NotAssignable, e.Range(), "write one text with the values in it, such as `\"hello ${name}\"`",
		"+ adds numbers; it does not join texts")
	return true
}

// operand infers an operand and requires a type of it. Operators convert nothing: "1" + 1 is a mistake more often than
// a sum.
func (c *typer) operand(e ast.Expr, want schema.Type, what string) schema.Type {
	t := c.infer(e)
	c.fitter.fit(e, want, &destination{what: what, strict: true})
	return t
}

// chains reports whether an expression is an access with an optional step, which short-circuits the steps after it
// (L10.C19).
func (c *accessor) chains(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Access:
		return slices.ContainsFunc(e.Steps, func(s ast.Step) bool { return s.Optional })
	case *ast.Index:
		return e.Optional || c.chains(e.Collection)
	case *ast.Member:
		return e.Optional || c.chains(e.Object)
	}
	return false
}

// chained returns the type of an access that may be short-circuited. Invalid stays: it suits every destination, and an
// optional one would not.
func (c *accessor) chained(optional bool, t schema.Type) schema.Type {
	if optional && t != schema.Invalid {
		return schema.OptionalOf(t)
	}
	return t
}

// inferIndex infers an access by a key. A literal key is a step like that of an access, with the same findings. For a
// computed key, only the kind of the collection says what the key must be, and the result is what all members have in
// common.
func (c *typer) inferIndex(e *ast.Index) schema.Type {
	collection := c.infer(e.Collection)
	c.leadsOn(e.Collection, e)
	c.infer(e.Key)
	owner := describeExpr(e.Collection)
	switch k := e.Key.(type) {
	case *ast.Number:
		if list, ok := c.constants.constant(e.Collection).(*ast.List); ok && k.Integer && !e.Optional &&
			c.accessor.checkIndex(list, int(k.Value), e.Key.Range()) {
			return schema.Invalid
		}
		if k.Integer {
			return c.accessor.optionalMember(e.Optional, collection, step{index: int(k.Value), isIndex: true,
				at: e.Key.Range(), owner: owner})
		}
	case *ast.String:
		return c.accessor.optionalMember(e.Optional, collection, step{name: k.Value, at: e.Key.Range(), owner: owner})
	}
	switch t := schema.Required(collection).(type) {
	case *schema.Array:
		if k, ok := c.constants.constant(e.Key).(*ast.Number); ok && k.Value != math.Trunc(k.Value) {
			return c.decl.invalid(diag.NotIndexable, e.Key.Range(), "the first element has the index 0",
				"the index of a list is a whole number, not %s", value.FormatNumber(k.Value))
		}
		c.fitter.fit(e.Key, schema.Number, &destination{what: "the index of a list", strict: true})
		return t.Item
	case *schema.Map:
		c.fitter.fit(e.Key, schema.String, &destination{what: "the key of a map"})
		return t.Item
	case *schema.Object:
		c.fitter.fit(e.Key, schema.String, &destination{what: "the key of a map"})
		// Any of the members may be meant.
		return program.MemberUnion(t)
	case *schema.ResourceType:
		c.fitter.fit(e.Key, schema.String, &destination{what: "the name of a property"})
		return schema.Any
	case schema.Primitive:
		if open(t) {
			return schema.Any
		}
	case *schema.Union, *schema.Token, *schema.Enum:
		return schema.Any
	}
	return c.decl.invalid(diag.NotIndexable, e.Key.Range(), "", "%s has neither members nor elements",
		typeWithArticle(collection))
}

// inferSplat infers a splat. A value that is no list counts as a list of one, as in HCL, but instances of a resource
// are a collection even where they form a map.
func (c *typer) inferSplat(e *ast.Splat) schema.Type {
	source := schema.Required(c.infer(e.Source))
	c.leadsOn(e.Source, e)
	item := source
	switch t := source.(type) {
	case *schema.Array:
		item = t.Item
	case *schema.Map:
		if c.decl.program.AreInstances(e.Source, source) {
			item = t.Item
		}
	case *schema.Object:
		if c.decl.program.AreInstances(e.Source, source) {
			item = program.MemberUnion(t)
		}
	case schema.Primitive:
		if open(t) || t == schema.Null {
			item = schema.Any
		}
	case *schema.Union, *schema.Token:
		item = schema.Any
	}
	c.decl.bindLocal(e.Item, item)
	return &schema.Array{Item: c.infer(e.Each)}
}

// inferFor infers a loop. Its names stay bound: each has its own ast.Local, so that equal names do not meet.
func (c *typer) inferFor(e *ast.For) schema.Type {
	collection := c.infer(e.Collection)
	key, item := program.ItemTypes(collection)
	t := schema.Required(collection)
	_, resource := t.(*schema.ResourceType)
	// A resource has members, but which of them would be gone over is nowhere said.
	if scalar, ok := t.(schema.Primitive); resource || ok && !open(scalar) {
		c.decl.report.Errorf(diag.NotAssignable, e.Collection.Range(), "", "a for expression goes over a list or a map, not %s",
			typeWithArticle(collection))
		key, item = schema.Invalid, schema.Invalid
	}
	if e.KeyName != nil {
		c.decl.bindLocal(e.KeyName, key)
	}
	c.decl.bindLocal(e.ValueName, item)
	if e.Condition != nil {
		c.operand(e.Condition, schema.Bool, "the condition")
	}
	var value schema.Type
	c.decl.report.Tolerating(inBranch, func() { // there may be no item at all
		value = c.infer(e.Value)
		c.infer(e.Key)
	})
	if e.Key == nil {
		return &schema.Array{Item: value}
	}
	c.fitter.fit(e.Key, schema.String, &destination{what: "a key"})
	if e.Grouped {
		value = &schema.Array{Item: value}
	}
	return &schema.Map{Item: value}
}

func typeWithArticle(t schema.Type) string { return diag.WithArticle(schema.TypeName(t)) }

// Expressions that may never be evaluated, or that may fail without harm, are checked less strictly than the rest.

var (
	// inBranch are the faults that a condition may prevent.
	inBranch = []diag.Code{diag.IndexOutOfRange, diag.FunctionFailed, diag.FileAccess}
	// inTry are the faults that try, can and recover catch, type errors included (L10.C5).
	inTry = []diag.Code{diag.IndexOutOfRange, diag.FunctionFailed, diag.FileAccess, diag.NoMember, diag.NotIndexable,
		diag.NotAssignable, diag.NotPrintable}
)

// harmless returns the codes of faults that are allowed in an argument of a function. Names are never tolerated: a name
// that is not declared is wrong in any branch.
func harmless(f *builtins.Func, arg int) []diag.Code {
	switch {
	case program.MayFail(f, arg):
		return inTry
	case f.Name == "if" && arg > 0:
		return inBranch
	}
	return nil
}

// open reports whether a type allows every operation on its values.
func open(t schema.Type) bool {
	return t == schema.Any || t == schema.Invalid || t == schema.JSON
}
