package eval

import (
	"context"
	"math"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

func (s *scope) unary(ctx context.Context, e *ast.Unary) (value.Value, *fault) {
	v, f := s.eval(ctx, e.Operand)
	if f != nil {
		return value.Null, f
	}
	s.used.doubt(v)
	switch e.Op {
	case "-":
		if !v.IsKnown() {
			return v.UnknownAs(value.KindNumber), nil
		}
		if n, ok := v.AsNumber(); ok {
			return value.Number(-n).WithMarksOf(v), nil
		}
	case "!":
		if !v.IsKnown() {
			return v.UnknownAs(value.KindBool), nil
		}
		if b, ok := s.truth(v); ok {
			return value.Bool(!b).WithMarksOf(v), nil
		}
	}
	return value.Null, wrongOperand(e.Op, e.Operand, v)
}

// wrongOperand returns the fault of an operand of the wrong kind.
func wrongOperand(op string, operand ast.Expr, v value.Value) *fault {
	wants, hint := "a number", "convert it with toNumber"
	if op == "!" || op == "&&" || op == "||" || op == "?" {
		wants, hint = "a boolean", "compare it with something, or convert it with toBool"
	}
	if op == "+" && v.Is(value.KindString) {
		hint = `to join strings write "${a}${b}"`
	}
	if op == "?" {
		return blame(diag.NotAssignable, operand.Range(), hint, "a condition must be %s, not %s", wants, kindOf(v))
	}
	return blame(diag.NotAssignable, operand.Range(), hint, "%q takes %s, not %s", op, wants, kindOf(v))
}

func (s *scope) binary(ctx context.Context, e *ast.Binary) (value.Value, *fault) {
	if e.Op == "&&" || e.Op == "||" {
		return s.logic(ctx, e)
	}
	left, f := s.eval(ctx, e.Left)
	right, g := s.eval(ctx, e.Right)
	if f = f.and(g); f != nil {
		return value.Null, f
	}
	if e.Op == "==" || e.Op == "!=" {
		return equality(left, right, e.Op == "=="), nil
	}
	s.used.doubt(left, right)
	if !left.IsKnown() || !right.IsKnown() {
		kind := value.KindNumber
		if e.Op[0] == '<' || e.Op[0] == '>' {
			kind = value.KindBool
		}
		return value.UnknownFrom(kind, left, right), nil
	}
	a, ok := left.AsNumber()
	if !ok {
		return value.Null, wrongOperand(e.Op, e.Left, left)
	}
	b, ok := right.AsNumber()
	if !ok {
		return value.Null, wrongOperand(e.Op, e.Right, right)
	}
	var result value.Value
	switch e.Op {
	case "+":
		result = value.Number(a + b)
	case "-":
		result = value.Number(a - b)
	case "*":
		result = value.Number(a * b)
	case "/", "%":
		if b == 0 {
			return value.Null, blame(diag.FunctionFailed, e.Right.Range(), "", "division by zero")
		}
		result = value.Number(a / b)
		if e.Op == "%" {
			result = value.Number(math.Mod(a, b))
		}
	case "<":
		result = value.Bool(a < b)
	case "<=":
		result = value.Bool(a <= b)
	case ">":
		result = value.Bool(a > b)
	case ">=":
		result = value.Bool(a >= b)
	default:
		panic("eval lacks a case for an operator")
	}
	return result.WithMarksOf(left, right), nil
}

// equality compares deeply; values of different kinds are not equal. The result gets the marks of both values and of
// everything inside them.
func equality(a, b value.Value, want bool) value.Value {
	if a.ContainsUnknown() || b.ContainsUnknown() {
		return value.UnknownFrom(value.KindBool, a, b)
	}
	return taintedBy(value.Bool(value.SameContent(a, b) == want), a, b)
}

// taintedBy returns v with the secrecy and dependencies of all values in from, at any depth.
func taintedBy(v value.Value, from ...value.Value) value.Value {
	for _, f := range from {
		if f.ContainsSecret() {
			v = v.Secret()
		}
		v = v.DependingOn(f.AllDeps()...)
	}
	return v
}

// logic evaluates && and ||. The right side is evaluated only if the left one does not decide. An unknown left side
// makes the result unknown.
func (s *scope) logic(ctx context.Context, e *ast.Binary) (value.Value, *fault) {
	left, f := s.eval(ctx, e.Left)
	if f != nil {
		return value.Null, f
	}
	s.used.doubt(left)
	if !left.IsKnown() {
		return left.UnknownAs(value.KindBool), nil
	}
	a, ok := s.truth(left)
	if !ok {
		return value.Null, wrongOperand(e.Op, e.Left, left)
	}
	if a == (e.Op == "||") {
		return left, nil
	}
	right, f := s.eval(ctx, e.Right)
	if f != nil {
		return value.Null, f
	}
	if right.IsKnown() {
		b, ok := s.truth(right)
		if !ok {
			return value.Null, wrongOperand(e.Op, e.Right, right)
		}
		return value.Bool(b).WithMarksOf(left, right), nil
	}
	return right.UnknownAs(value.KindBool).WithMarksOf(left), nil
}

// covers reports for coverage that the run reached an expression.
func (o *Options) covers(expr ast.Expr, taken bool) {
	if o.Covered != nil {
		o.Covered(expr, taken)
	}
}

// conditional evaluates one branch only. An unknown condition makes the result unknown (L10.C1).
func (s *scope) conditional(ctx context.Context, e *ast.Conditional) (value.Value, *fault) {
	condition, f := s.eval(ctx, e.Condition)
	if f != nil {
		return value.Null, f
	}
	s.used.doubt(condition)
	if !condition.IsKnown() {
		return condition.UnknownAs(value.KindAny), nil
	}
	yes, ok := s.truth(condition)
	if !ok {
		return value.Null, wrongOperand("?", e.Condition, condition)
	}
	branch := e.Else
	if yes {
		branch = e.Then
	}
	s.e.options.covers(branch, true)
	v, f := s.eval(ctx, branch)
	return v.WithMarksOf(condition), f
}
