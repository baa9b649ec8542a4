package check_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

var (
	edits = flag.Int("edits", 4000, "how many random edits to make, of all programs together")
	seed  = flag.Uint64("seed", 1, "what the random edits begin with")
)

// someEdit returns a random edit of a text, of a kind that people make.
func someEdit(random *rand.Rand, text []byte) parser.Edit {
	i := random.IntN(len(text) + 1)
	lineStart := bytes.LastIndexByte(text[:i], '\n') + 1
	lineEnd := lineStart + bytes.IndexByte(text[lineStart:], '\n') + 1
	switch random.IntN(9) {
	case 0:
		return parser.Edit{Start: i, End: i, Text: string(" :-#'\"{}[]$&*|>\n\tab"[random.IntN(19)])}
	case 1:
		return parser.Edit{Start: i, End: i + 1}
	case 2:
		return parser.Edit{Start: i, End: i + random.IntN(40)}
	case 3: // a line is doubled or deleted
		if random.IntN(2) == 0 {
			return parser.Edit{Start: lineStart, End: max(lineEnd, lineStart)}
		}
		return parser.Edit{Start: lineStart, End: lineStart, Text: string(text[lineStart:max(lineEnd, lineStart)])}
	case 4: // a line is indented differently
		if lineStart < len(text) && text[lineStart] == ' ' && random.IntN(2) == 0 {
			return parser.Edit{Start: lineStart, End: lineStart + 1}
		}
		return parser.Edit{Start: lineStart, End: lineStart, Text: " "}
	case 5: // a piece is copied from elsewhere
		from := random.IntN(len(text) + 1)
		return parser.Edit{Start: i, End: i, Text: string(text[from:min(from+random.IntN(80), len(text))])}
	case 6: // a name is replaced by another
		words := bytes.FieldsFunc(text, func(r rune) bool {
			return !(r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
		})
		if len(words) < 2 {
			return parser.Edit{Start: i, End: i}
		}
		old, other := words[random.IntN(len(words))], words[random.IntN(len(words))]
		start := bytes.Index(text, old)
		return parser.Edit{Start: start, End: start + len(old), Text: string(other)}
	case 7:
		return parser.Edit{Start: i, End: i, Text: "${"}
	default:
		return parser.Edit{Start: i, End: i, Text: fmt.Sprintf("%d", random.IntN(10))}
	}
}

// known returns all answers of a checked program, as text.
func known(file *ast.File, p *check.Program) string {
	var b strings.Builder
	bodies := []*check.Program{p}
	for _, c := range p.Components {
		bodies = append(bodies, c.Body)
		fmt.Fprintln(&b, "component", c.Token)
		for _, o := range []*schema.Object{c.Schema.Inputs, c.Schema.Outputs} {
			for _, property := range o.Properties() {
				fmt.Fprintln(&b, "  ", property.Name, property.Required, schema.TypeName(property.Type))
			}
		}
	}
	fmt.Fprintln(&b, p.Packages)
	node := func(n *check.Node) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(n.Index, n.Kind, n.Name)
	}
	for _, body := range bodies {
		expr := func(e ast.Expr) {
			ast.Walk(e, func(e ast.Expr) bool {
				fmt.Fprint(&b, "  ", file.Origins.Place(e.Range()).Start, " ", schema.TypeName(body.TypeOf(e)))
				switch e := e.(type) {
				case *ast.Access:
					ref := body.Ref(e)
					fmt.Fprint(&b, " ", ref.Kind, node(ref.Node))
					if ref.Node != nil && ref.Kind == check.RefNode && !slices.Contains(body.Nodes, ref.Node) {
						fmt.Fprint(&b, " of another check")
					}
				case *ast.Call:
					if call := body.Call(e); call != nil {
						fmt.Fprint(&b, " ", len(call.Args), call.Func != nil)
						if call.Invoke != nil {
							fmt.Fprint(&b, " ", call.Invoke.Token, call.Invoke.Package, call.Invoke.Schema != nil,
								node(call.Invoke.DefaultProvider))
						}
						if call.Method != nil {
							fmt.Fprint(&b, " ", call.Method.Token, call.Method.Package)
						}
					}
				}
				fmt.Fprintln(&b)
				return true
			})
		}
		for _, n := range body.Nodes {
			fmt.Fprintln(&b, node(n), schema.TypeName(n.Type))
			for _, edge := range n.Needs {
				fmt.Fprintln(&b, "  needs", node(edge.To), slices.Contains(body.Nodes, edge.To), file.Origins.Place(edge.Range).Start)
			}
			switch {
			case n.Variable != nil:
				expr(n.Variable.Value)
			case n.Resource != nil:
				r := n.Resource
				fmt.Fprintln(&b, "  ", r.Token, r.LogicalName, r.Package, r.Schema != nil, r.Component != nil,
					node(r.DefaultProvider), len(r.DefaultProviders))
				r.Decl.Exprs(expr)
			case n.Config != nil:
				fmt.Fprintln(&b, "  ", n.Config.Key, n.Config.Value, n.Config.Text != nil)
				if n.Config.Decl != nil {
					expr(n.Config.Decl.Default)
				}
			}
		}
		for _, o := range body.Outputs {
			fmt.Fprintln(&b, o.Decl.Name.Value, schema.TypeName(o.Type), len(o.Needs))
			expr(o.Decl.Value)
		}
		for _, h := range body.Hooks {
			fmt.Fprintln(&b, h.Decl.Name.Value, h.OnError)
			expr(h.Decl.Command)
		}
	}
	return b.String()
}

// TestCheckAfterEditEqualsFresh makes random edits. Each check reuses the previous one; its program and findings must
// equal those of a fresh check.
func TestCheckAfterEditEqualsFresh(t *testing.T) {
	t.Parallel()
	t.Logf("-edits %d -seed %d", *edits, *seed)
	programs := archived(t)
	var names []string
	for name, text := range programs {
		if len(text) < 20_000 && len(text) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	random := rand.New(rand.NewPCG(*seed, 1))
	schemas := loader()
	const chain = 12
	for done := 0; done < *edits; done += chain {
		name := names[random.IntN(len(names))]
		text := programs[name]
		options := check.Options{Project: "p", Schemas: schemas}
		if random.IntN(2) == 0 {
			options.ConfigKnown, options.Config = true, map[string]check.ConfigText{"p:size": {Text: "3"},
				"p:name": {Text: "true"}}
		}
		document := parser.NewDocument(diag.NewSource("x", []byte(text)))
		var previous *check.Snapshot
		for n := range chain {
			if n == chain/2 { // undone
				document = document.Edit(parser.Edit{Start: 0, End: len(document.Source().Text()), Text: text})
			} else if n > 0 {
				document = document.Edit(someEdit(random, document.Source().Text()))
			}
			file, _ := document.File(parser.Options{})
			fresh, found := check.Check(t.Context(), file, options)
			program, next, same := check.Recheck(t.Context(), file, options, previous)
			require.Equal(t, whole(file.Origins.Findings(found)), whole(file.Origins.Findings(same)), "%s, edit %d:\n%s", name,
				n, document.Source().Text())
			require.Equal(t, known(file, fresh), known(file, program), "%s, edit %d:\n%s", name, n, document.Source().Text())
			previous = next
		}
	}
}

// TestOneDeclarationAfterTheOther edits one declaration after the other. All answers must equal those of a fresh check.
func TestOneDeclarationAfterTheOther(t *testing.T) {
	t.Parallel()
	text := `config:
  region: {type: string}
variables:
  size: 3
  unused: ${b.id}
  other: ${size}
resources:
  a:
    type: zoo:Typed
    properties: {s: x}
  b:
    type: zoo:Typed
    properties:
      s: ${a.id}
  c:
    type: zoo:Typed
    properties:
      s: ${b.id}
      n: ${size}
outputs:
  o: ${other}
  p:
    of: ${c.id}
`
	options := check.Options{Project: "p", Schemas: loader()}
	document := parser.NewDocument(diag.NewSource("x", []byte(text)))
	file, _ := document.File(parser.Options{})
	_, previous, _ := check.Recheck(t.Context(), file, options, nil)
	for i, step := range []struct {
		old, replacement string
	}{
		{"{s: x}", "{s: y}"},
		{"s: ${a.id}", "s: to ${a.id}"},
		{"s: to ${a.id}", "s: ${region}"},
		{"s: ${region}", "s: ${size}"}, // changes the order of evaluation
		{"s: ${size}", "s: ${siez}"},
		{"s: ${siez}", "s: ${siez} "},
		{"s: ${siez} ", "wrong: 1"},
		{"wrong: 1", "s: ${c.id}"}, // a cycle
		{"s: ${c.id}", "s: ${a.id}"},
		{"{s: y}", "{s: z}"},
		{"of: ${c.id}", "of: ${c.none}"},
		{"of: ${c.none}", "of: [1]"},
		{"{s: z}", "{s: '${q:none}'}"}, // its use declares configuration
	} {
		pos := bytes.Index(document.Source().Text(), []byte(step.old))
		document = document.Edit(parser.Edit{Start: pos, End: pos + len(step.old), Text: step.replacement})
		file, _ := document.File(parser.Options{})
		fresh, want := check.Check(t.Context(), file, options)
		next, left, found := check.Recheck(t.Context(), file, options, previous)
		require.Equal(t, whole(file.Origins.Findings(want)), whole(file.Origins.Findings(found)), "%d: %s", i, step.replacement)
		require.Equal(t, known(file, fresh), known(file, next), "%d: %s", i, step.replacement)
		require.Equal(t, fresh.Graph(), next.Graph())
		previous = left
	}
}

// TestWhatHasNotChangedIsTakenOver lists the declarations that are checked again after an edit.
func TestWhatHasNotChangedIsTakenOver(t *testing.T) {
	t.Parallel()
	text := `variables:
  size: 3
  other: ${size}
resources:
  a: {type: zoo:Typed, properties: {nmae: x}}
  b: {type: zoo:Typed, properties: {nmae: "${a.id}"}}
  c: {type: zoo:Typed, properties: {nmae: "${size}"}}
outputs:
  o: ${other}
`
	document := parser.NewDocument(diag.NewSource("x", []byte(text)))
	options := check.Options{Project: "p", Schemas: loader()}
	for i, all := 0, reflect.ValueOf(&options).Elem(); i < all.NumField(); i++ { // as an editor sets them
		if f := all.Field(i); f.Kind() == reflect.Func {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { panic("the program names no files") }))
		}
	}
	checkedAnew := func(change func(string) string) []string {
		t.Helper()
		before, _ := document.File(parser.Options{})
		_, first, _ := check.Recheck(t.Context(), before, options, nil)
		after, _ := document.Edit(parser.Edit{Start: 0, End: len(text), Text: change(text)}).File(parser.Options{})
		program, second, _ := check.Recheck(t.Context(), after, options, first)
		return check.CheckedAnew(first, second, program)
	}
	replace := func(old, replacement string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, replacement, 1) }
	}
	require.Empty(t, checkedAnew(func(s string) string { return s }))
	require.Empty(t, checkedAnew(func(s string) string { return "# a comment\n" + s }))
	require.Equal(t, []string{"a"}, checkedAnew(replace("nmae: x", "nmae: y")))
	require.Equal(t, []string{"a", "b"}, checkedAnew(replace("zoo:Typed", "zoo:Type")), "the type of a is another")
	require.Equal(t, []string{"c", "o", "other", "size"}, checkedAnew(replace("size: 3", "size: 4")))
	require.Equal(t, []string{"x"}, checkedAnew(replace("outputs:", "outputs:\n  x: 1")))
	require.Equal(t, []string{"b", "z"}, checkedAnew(replace("  a:", "  z:")), "a is no more")
}

// TestCancelledCheckLeavesNothing cancels a check at each of its calls of ctx.Err. The next check must give the
// findings of a fresh one.
func TestCancelledCheckLeavesNothing(t *testing.T) {
	t.Parallel()
	file, _ := parser.Parse(diag.NewSource("x", []byte("variables:\n  a: 1\n  b: ${a.c}\n  c: ${d}\n")), parser.Options{})
	options := check.Options{Project: "p"}
	_, want := check.Check(t.Context(), file, options)
	ended := false
	for looks := 1; !ended; looks++ {
		ctx := &tired{Context: t.Context(), left: looks}
		_, half, _ := check.Recheck(ctx, file, options, nil)
		ended = ctx.left > 0
		_, _, found := check.Recheck(t.Context(), file, options, half)
		require.Equal(t, whole(want), whole(found))
		require.Less(t, looks, 100)
	}
}

// tired is a context that is cancelled after a number of calls of Err.
type tired struct {
	context.Context
	left int
}

func (c *tired) Err() error {
	if c.left--; c.left <= 0 {
		return context.Canceled
	}
	return nil
}
