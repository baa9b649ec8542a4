package editor

import (
	"context"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// HintKind is the kind of a hint.
type HintKind uint8

// The kinds of hints.
const (
	TypeHint    HintKind = iota // the type of an expression
	NameHint                    // what a resource is called in the stack
	DefaultHint                 // values that the schema gives properties which are left out
)

// Hint is something that an editor shows behind a stretch of a text.
type Hint struct {
	At   diag.Range // in the whole text; an expression with its `${`, `}` and quotes
	Kind HintKind
	Text string // for people
}

// Hints returns what can be said of stretches of a file that end between two offsets, in the order of the text: the
// types of the expressions `${…}` that fill a whole text, unless they may be anything; the names of resources in the
// stack, where they are others than those in the program; and the defaults of properties that a resource leaves out.
func Hints(ctx context.Context, s *Snapshot, path string, start, end int) ([]Hint, error) {
	p, err := s.Program(ctx, path)
	if err != nil || p.Checked == nil {
		return nil, err
	}
	var hints []Hint
	add := func(rng diag.Range, kind HintKind, text string) {
		where := p.location(rng)
		if text != "" && where.Path == path && start <= int(where.At.End) && int(where.At.End) <= end {
			hints = append(hints, Hint{At: where.At, Kind: kind, Text: text})
		}
	}
	for _, body := range p.bodies() {
		exprs(body.File, func(e ast.Expr) {
			lone(e, func(e ast.Expr, rng diag.Range) {
				t := p.Checked.TypeOf(e)
				if t == nil || schema.TypeName(schema.Required(t)) == schema.TypeName(schema.Any) {
					return // known to nobody, or known to be open
				}
				add(rng, TypeHint, schema.TypeName(t))
			})
		})
		for _, n := range body.Nodes {
			if n.Resource == nil || n.Resource.Decl == nil {
				continue
			}
			add(n.Range, NameHint, stackName(n, body != p.Checked))
			if typed := n.Resource.Decl.Type; typed != nil {
				add(typed.Range, DefaultHint, defaults(n.Resource))
			}
		}
	}
	slices.SortStableFunc(hints, func(a, b Hint) int { return int(a.At.End - b.At.End) })
	return slices.CompactFunc(hints, func(a, b Hint) bool { return a.At == b.At }), nil // aliases stand for one text
}

// stackName returns the name of a resource in the stack, if it differs from its name in the program. ‹…› stands for
// what is another text for each instance.
func stackName(n *check.Node, inComponent bool) string {
	called := n.Resource.LogicalName
	if inComponent {
		called = "‹component›-" + called
	}
	if n.Resource.Decl.ForEach != nil {
		called += "-‹key›"
	}
	if called == n.Name {
		return ""
	}
	return called
}

// maxDefaults is how many defaults of a resource are shown.
const maxDefaults = 3

// defaults returns the properties that a resource leaves out and the schema gives a value.
func defaults(r *check.Resource) string {
	if r.Schema == nil || r.Schema.Inputs == nil || r.Decl.PropertiesExpr != nil {
		return ""
	}
	var given []string
	for _, p := range r.Schema.Inputs.Properties() {
		if p.Default == nil || p.Deprecation != "" ||
			slices.ContainsFunc(r.Decl.Properties, func(own ast.Property) bool { return own.Name.Value == p.Name }) {
			continue
		}
		if len(given) == maxDefaults {
			given = append(given, "…")
			break
		}
		given = append(given, p.Name+" = "+schema.ScalarText(p.Default))
	}
	if len(given) == 0 {
		return ""
	}
	return "default: " + strings.Join(given, ", ")
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
			rng := diag.NewRange(opening.Source, int(opening.Start), int(closing.End))
			text := rng.Source.Text()
			from, to := int(rng.Start)-1, int(rng.End)
			if from >= 0 && to < len(text) && (text[from] == '"' || text[from] == '\'') && text[to] == text[from] {
				rng = diag.NewRange(rng.Source, from, to+1)
			}
			fn(e, rng)
		}
		return false
	})
}
