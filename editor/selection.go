package editor

import (
	"context"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Selection returns the stretches of the whole text around an offset, the innermost first, each inside of the next one:
// words and parts of expressions, the text without its quotes, values, entries, sections, and the whole text.
func Selection(ctx context.Context, s *Snapshot, path string, offset int) ([]diag.Range, error) {
	document := s.Text(path)
	if document == nil {
		return nil, nil
	}
	src := document.Source()
	around := []diag.Range{diag.NewRange(src, 0, len(src.Text()))}
	add := func(r diag.Range) {
		if r.Source == src && int(r.Start) <= offset && offset <= int(r.End) && r.Start < r.End {
			around = append(around, r)
		}
	}
	addSpans(document.Spans(), add)
	p, err := s.Program(ctx, path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && p.Checked != nil {
		whole := func(r diag.Range) { add(p.File.Origins.Place(r)) }
		p.walk(func(e ast.Expr) {
			whole(e.Range())
			if opening, closing, ok := braces(e.Range()); ok {
				whole(diag.NewRange(opening.Source, int(opening.Start), int(closing.End)))
			}
			addParts(e, whole)
		})
	}
	slices.SortStableFunc(around, func(a, b diag.Range) int { return int(a.End-a.Start) - int(b.End-b.Start) })
	nested := around[:1]
	for _, r := range around[1:] {
		if rng := nested[len(nested)-1]; r.Start <= rng.Start && rng.End <= r.End && r != rng {
			nested = append(nested, r)
		}
	}
	return nested, nil
}

func addSpans(spans []parser.Span, add func(diag.Range)) {
	for _, s := range spans {
		add(s.Range())
		add(s.Key)
		add(s.Value)
		if s.Kind == parser.ScalarSpan {
			add(unquoted(s.Value))
		}
		addSpans(s.Children, add)
	}
}

// addParts adds the parts of an expression that are no expressions themselves.
func addParts(e ast.Expr, add func(diag.Range)) {
	switch e := e.(type) {
	case *ast.Access:
		add(e.Root.Range)
		for _, step := range e.Steps {
			add(step.Range)
			add(diag.NewRange(e.Root.Range.Source, int(e.Root.Range.Start), int(step.Range.End)))
		}
	case *ast.Call:
		add(e.Name.Range)
	}
}
