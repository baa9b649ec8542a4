package eval

import (
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// scope is the environment of an expression: the run, and the local names of the enclosing loops. It is immutable.
type scope struct {
	e      *evaluator
	frame  *frame
	locals *binding
	// strict makes a missing key of a map a fault instead of null, as inside of try, can and recover (L10.C5).
	strict bool
	used   *used // the values used in a strict scope; nil in others
	// sealed reports that the value becomes a secret, as an argument of fn::secret: no message shows a part of it.
	sealed bool

	each value.Value // of an instance of a resource with forEach
	args value.Value // the engine's description, in the command of a hook or in a transform
	// names are the values of the names that exist only in policies. lenient makes a step into null or to a missing
	// member null, so that policies can test optional properties.
	names   map[string]value.Value
	lenient bool
}

// binding is one local name in a linked list, innermost first.
type binding struct {
	local *ast.Local
	value value.Value
	outer *binding
}

func (s *scope) with(l *ast.Local, v value.Value) *scope {
	inner := *s
	inner.locals = &binding{local: l, value: v, outer: s.locals}
	return &inner
}

// eval returns the value of an expression (L5.1). The marks unknown, secret and dependencies stay on their leaves
// (L9.16, L9.31, L9.44). All faults in a list or map are reported.
func (s *scope) eval(ctx context.Context, e ast.Expr) (value.Value, *fault) {
	if f := s.e.step(e); f != nil {
		return value.Null, f
	}
	switch e := e.(type) {
	case *ast.Null:
		return value.Null, nil
	case *ast.Bool:
		return value.Bool(e.Value), nil
	case *ast.Number:
		return value.Number(e.Value), nil
	case *ast.String:
		return value.String(e.Value), nil
	case *ast.Template:
		return s.template(ctx, e)
	case *ast.Access:
		res, f := s.access(ctx, e)
		return res.value, f
	case *ast.List:
		return s.list(ctx, e)
	case *ast.Map:
		return s.mapping(ctx, e)
	case *ast.Call:
		return s.call(ctx, e)
	case *ast.Unary:
		return s.unary(ctx, e)
	case *ast.Binary:
		return s.binary(ctx, e)
	case *ast.Conditional:
		return s.conditional(ctx, e)
	case *ast.Index:
		res, f := s.index(ctx, e)
		return res.value, f
	case *ast.Member:
		res, f := s.member(ctx, e)
		return res.value, f
	case *ast.Splat:
		return s.splat(ctx, e)
	case *ast.For:
		return s.loop(ctx, e)
	case *ast.LocalRef:
		for b := s.locals; b != nil; b = b.outer {
			if b.local == e.Local {
				s.used.add(b.value)
				return b.value, nil
			}
		}
		panic("eval: a local name is used outside of the loop that binds it; the parser must not let that through")
	case *ast.Bad:
		return value.Null, poison
	}
	panic("eval lacks a case for a kind of expression")
}

// template joins the parts of a text (L5.13). One unknown part makes the whole text unknown.
func (s *scope) template(ctx context.Context, e *ast.Template) (value.Value, *fault) {
	var (
		b      strings.Builder
		failed *fault
	)
	parts := make([]value.Value, 0, len(e.Parts))
	for _, part := range e.Parts {
		if literal, ok := part.(*ast.String); ok {
			b.WriteString(literal.Value)
			continue
		}
		v, f := s.eval(ctx, part)
		if f != nil {
			failed = failed.and(f)
			continue
		}
		s.e.numbers.see(v, part.Range())
		text, err := value.Text(v)
		if err != nil {
			failed = failed.and(blame(diag.NotPrintable, part.Range(), "", "%s", err))
			continue
		}
		parts = append(parts, text)
		chunk, _ := text.AsString()
		if err := s.e.budget.Within(int64(b.Len() + len(chunk))); err != nil { // before it is copied
			return value.Null, failed.and(s.e.budget.overspent(err, e.Range()))
		}
		b.WriteString(chunk)
	}
	if failed != nil {
		return value.Null, failed
	}
	for _, part := range parts {
		if !part.IsKnown() {
			return value.UnknownFrom(value.KindString, parts...), nil
		}
	}
	return s.e.budget.made(value.String(b.String()).WithMarksOf(parts...), e.Range())
}

func (s *scope) list(ctx context.Context, e *ast.List) (value.Value, *fault) {
	items := make([]value.Value, len(e.Items))
	var failed *fault
	for i, item := range e.Items {
		v, f := s.eval(ctx, item)
		items[i], failed = v, failed.and(f)
	}
	if failed != nil {
		return value.Null, failed
	}
	return s.e.budget.made(value.List(items...), e.Range())
}

// mapping returns a map. Its keys may be computed (L5.2): an unknown key makes the whole map unknown, and the map gets
// the secrecy and dependencies of its keys (L9.33). The last of equal keys wins.
func (s *scope) mapping(ctx context.Context, e *ast.Map) (value.Value, *fault) {
	var (
		few     [8]value.Entry // on the stack, as most maps have no more
		entries = slices.Grow(few[:0], len(e.Entries))
		keys    []value.Value // the computed ones
		failed  *fault
	)
	for _, entry := range e.Entries {
		name := ""
		if literal, ok := entry.Key.(*ast.String); ok {
			name = literal.Value
		} else {
			key, f := s.eval(ctx, entry.Key)
			if f != nil {
				failed = failed.and(f)
				continue
			}
			text, ok := key.AsString()
			if !ok && key.IsKnown() {
				failed = failed.and(blame(diag.KeyNotString, entry.Key.Range(), "put it into a text, such as \"x-${…}\"",
					"a key must be a string, not %s", kindOf(key)))
				continue
			}
			keys = append(keys, key)
			name = text
		}
		v, f := s.eval(ctx, entry.Value)
		entries, failed = append(entries, value.Entry{Key: name, Value: v}), failed.and(f)
	}
	if failed != nil {
		return value.Null, failed
	}
	result := value.MapOfOwn(entries)
	for _, key := range keys {
		if !key.IsKnown() {
			return value.UnknownFrom(value.KindMap, append(keys, result)...), nil
		}
	}
	return s.e.budget.made(result.WithMarksOf(keys...), e.Range())
}

// kindOf returns a value's kind with its article, for messages.
func kindOf(v value.Value) string {
	switch k := v.Kind(); k {
	case value.KindNull:
		return "null"
	case value.KindAsset, value.KindArchive:
		return "an " + k.String()
	case value.KindAny:
		return "an unknown value"
	default:
		return "a " + k.String()
	}
}
