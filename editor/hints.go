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
	NameHint                    // the name of a resource in the stack
	DefaultHint                 // schema defaults of omitted properties
)

// Hint is a note that an editor shows behind a range of text.
type Hint struct {
	At   diag.Range // in the whole text; includes the `${`, `}` and quotes of an expression
	Kind HintKind
	Text string // human-readable
}

// Hints returns the hints for ranges of a file that end between start and end, in source order: the types of `${…}`
// expressions that are a whole value, unless the type is any; the names of resources in the stack, if they differ from
// those in the program; and the defaults of omitted properties.
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
		body.File.Exprs(func(e ast.Expr) {
			lone(e, func(e ast.Expr, rng diag.Range) {
				t := p.Checked.TypeOf(e)
				// A hint that says any says nothing.
				if t == nil || schema.TypeName(schema.Required(t)) == schema.TypeName(schema.Any) {
					return // unknown or any
				}
				add(rng, TypeHint, schema.TypeName(t))
			})
		})
		for _, n := range body.Nodes {
			if n.Resource == nil || n.Resource.Decl == nil {
				continue
			}
			// The node's range is its name, behind which the hint stands.
			add(n.Range, NameHint, stackName(n, body != p.Checked))
			if typed := n.Resource.Decl.Type; typed != nil {
				add(typed.Range, DefaultHint, defaults(n.Resource))
			}
		}
	}
	slices.SortStableFunc(hints, func(a, b Hint) int { return int(a.At.End - b.At.End) })
	return slices.CompactFunc(hints, func(a, b Hint) bool { return a.At == b.At }), nil // YAML aliases repeat a range
}

// stackName returns the name of a resource in the stack, or "" if it equals its name in the program. ‹…› marks a part
// that differs for each instance.
func stackName(n *check.Node, inComponent bool) string {
	called := n.Resource.LogicalName
	if inComponent {
		// The prefix is the name of the instance, which differs from user to user.
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

// maxDefaults limits the defaults shown for one resource.
const maxDefaults = 3

// defaults lists the omitted properties of a resource that have a default in the schema.
func defaults(r *check.Resource) string {
	// Computed properties may set any of them.
	if r.Schema == nil || r.Schema.Inputs == nil || r.Decl.PropertiesExpr != nil {
		return ""
	}
	var given []string
	for _, p := range r.Schema.Inputs.Properties() {
		// A default of a deprecated property would advertise it.
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

// lone calls fn for each expression in e that is a whole value, with the range of that value including quotes.
func lone(e ast.Expr, fn func(ast.Expr, diag.Range)) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.List, *ast.Map:
			return true
		case *ast.Call:
			// A call in YAML has values inside; one within ${ } is an expression by itself.
			if e.Argument != nil {
				return true
			}
		case *ast.Template, *ast.String:
			return false
		}
		// An editor shows the hint behind the quotes that enclose the value.
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
