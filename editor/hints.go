package editor

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Hint is a type that an editor shows behind an expression.
type Hint struct {
	At   diag.Range // of the expression with its `${`, `}` and quotes, in the whole text
	Type string     // for people
}

// Hints returns the types of the expressions `${…}` that fill a whole text of a file and end between two offsets, in
// the order of the text. What may be anything has no hint.
func Hints(ctx context.Context, s *Snapshot, path string, start, end int) ([]Hint, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	var hints []Hint
	for _, body := range p.bodies() {
		exprs(body, func(e ast.Expr) {
			lone(e, func(e ast.Expr, at diag.Range) {
				t := p.Checked.TypeOf(e)
				if t == nil || schema.TypeName(schema.Required(t)) == schema.TypeName(schema.Any) {
					return // known to nobody, or known to be open
				}
				where := p.location(at)
				if where.Path == path && start <= int(where.At.End) && int(where.At.End) <= end {
					hints = append(hints, Hint{At: where.At, Type: schema.TypeName(t)})
				}
			})
		})
	}
	slices.SortFunc(hints, func(a, b Hint) int { return int(a.At.End - b.At.End) })
	return slices.CompactFunc(hints, func(a, b Hint) bool { return a.At == b.At }), nil // aliases stand for one text
}

// lone calls fn for the expressions inside of e that fill a whole text, with the place of that text.
func lone(e ast.Expr, fn func(ast.Expr, diag.Range)) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.List, *ast.Map:
			return true
		case *ast.Call:
			if e.Argument != nil {
				return true
			}
		case *ast.Template, *ast.String:
			return false
		}
		if opening, closing, ok := braces(e.Range()); ok {
			at := diag.NewRange(opening.Source, int(opening.Start), int(closing.End))
			text := at.Source.Text()
			from, to := int(at.Start)-1, int(at.End)
			if from >= 0 && to < len(text) && (text[from] == '"' || text[from] == '\'') && text[to] == text[from] {
				at = diag.NewRange(at.Source, from, to+1)
			}
			fn(e, at)
		}
		return false
	})
}
