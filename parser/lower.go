package parser

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// This file converts the syntax tree of HCL to that of package ast. No HCL node is used afterwards.

// lowered returns the expression as an ast.Expr. dollar is the offset of its "${" in the scalar's text.
func (o *operators) lowered(dollar int) ast.Expr {
	e := o.lower(o.root)
	for _, mark := range slices.Sorted(maps.Keys(o.marks)) {
		if used := o.marks[mark]; !used {
			rng := o.s.At(o.start+mark, o.start+mark+1)
			o.in.report.fail(diag.BadInterpolation, rng, "an optional step is written `a?.b` or `a?[0]`", "this `?` has no effect")
			return bad(rng)
		}
	}
	switch access := e.(type) {
	case *ast.Access:
		if dollar == 0 && o.end+1 == len(o.s.Text) {
			if access.At = o.s.Whole; access.At.IsZero() {
				access.At = o.s.At(dollar, o.end+1)
			}
		}
	case *ast.Bad:
	default:
		o.in.nodes.extension(e.Range(), "an expression in `${…}`")
	}
	return e
}

// bad reports an invalid part of an expression and returns an ast.Bad for it.
func (o *operators) bad(r hcl.Range, detail, format string, args ...any) ast.Expr {
	o.in.report.fail(diag.BadInterpolation, o.at(r), detail, format, args...)
	return bad(o.at(r))
}

func (o *operators) lowerAll(list []hclsyntax.Expression) []ast.Expr {
	exprs := make([]ast.Expr, 0, len(list))
	for _, e := range list {
		exprs = append(exprs, o.lower(e))
	}
	return exprs
}

// lower converts an HCL expression. The switch lists all kinds of expressions that HCL's grammar has; what is left is
// of a version of HCL with more. Names are looked up in locals, which a loop or recover extends while its parts are
// converted; every other name is one of the program.
func (o *operators) lower(e hclsyntax.Expression) ast.Expr {
	if o.depth++; o.depth > yamlnode.MaxDepth {
		o.depth--
		return o.bad(e.Range(), "give parts of it names, as variables", "the expression nests too deep")
	}
	defer func() { o.depth-- }()
	place := ast.Place{At: o.at(e.Range())}
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return o.lower(e.Expression)
	case *hclsyntax.LiteralValueExpr:
		return o.literal(e)
	case *hclsyntax.TemplateExpr:
		return o.template(e)
	case *hclsyntax.TemplateWrapExpr:
		return o.lower(e.Wrapped)
	case *hclsyntax.TemplateJoinExpr:
		return &ast.Call{Place: place, Name: ast.Literal{Value: "join", Range: place.At},
			Args: []ast.Expr{&ast.String{Place: place}, o.lower(e.Tuple)}}
	case *hclsyntax.ScopeTraversalExpr:
		return o.access(e, place)
	case *hclsyntax.RelativeTraversalExpr:
		return o.steps(o.lower(e.Source), e.Traversal)
	case *hclsyntax.FunctionCallExpr:
		name := strings.TrimPrefix(e.Name, callPrefix)
		rng := o.at(e.NameRange)
		rng.Start = max(rng.Start, rng.End-int32(len(name)))
		call := &ast.Call{Place: place, Name: ast.Literal{Value: name, Range: rng}, Expanded: e.ExpandFinal}
		if name == "recover" && len(e.Args) == 2 {
			call.Args, call.Failure = o.recovering(e.Args)
		} else {
			call.Args = o.lowerAll(e.Args)
		}
		ast.HideSecrets(call)
		return call
	case *hclsyntax.ConditionalExpr:
		return &ast.Conditional{Place: place, Condition: o.lower(e.Condition), Then: o.lower(e.TrueResult),
			Else: o.lower(e.FalseResult)}
	case *hclsyntax.IndexExpr:
		return &ast.Index{Place: place, Collection: o.lower(e.Collection), Key: o.lower(e.Key),
			Optional: o.optional(e.OpenRange.Start.Byte)}
	case *hclsyntax.TupleConsExpr:
		return &ast.List{Place: place, Items: o.lowerAll(e.Exprs)}
	case *hclsyntax.ObjectConsExpr:
		return o.object(e, place)
	case *hclsyntax.ObjectConsKeyExpr:
		if name := hcl.ExprAsKeyword(e.Wrapped); name != "" && !e.ForceNonLiteral {
			return &ast.String{Place: place, Value: name}
		}
		return o.lower(e.Wrapped)
	case *hclsyntax.ForExpr:
		return o.loop(e, place)
	case *hclsyntax.SplatExpr:
		item := &ast.Local{Name: "*", Range: o.at(e.MarkerRange)}
		if o.items == nil {
			o.items = map[*hclsyntax.AnonSymbolExpr]*ast.Local{}
		}
		source := o.lower(e.Source)
		o.optional(e.MarkerRange.Start.Byte) // all items of null are none, with and without the mark
		item.Of = source
		o.items[e.Item] = item
		return &ast.Splat{Place: place, Source: source, Item: item, Each: o.lower(e.Each)}
	case *hclsyntax.AnonSymbolExpr:
		if item := o.items[e]; item != nil {
			return &ast.LocalRef{Place: ast.Place{At: item.Range}, Local: item}
		}
	case *hclsyntax.UnaryOpExpr:
		return o.unary(e, place)
	case *hclsyntax.BinaryOpExpr:
		return o.binary(e, place)
	}
	return o.bad(e.Range(), "", "the expression in `${…}` is malformed")
}

// recovering converts the arguments of recover. In the second one, the name error refers to the failure of the first.
func (o *operators) recovering(args []hclsyntax.Expression) ([]ast.Expr, *ast.Local) {
	failure := &ast.Local{Name: "error", Range: o.at(args[1].Range())}
	first := o.lower(args[0])
	outer := o.locals
	o.locals = append(o.locals[:len(o.locals):len(o.locals)], failure)
	second := o.lower(args[1])
	o.locals = outer
	return []ast.Expr{first, second}, failure
}

// operatorSigns maps the operations in an HCL tree to operators.
var operatorSigns = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalNot: "!",
	hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=", hclsyntax.OpGreaterThan: ">",
	hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=",
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpNegate: "-", hclsyntax.OpMultiply: "*",
	hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%",
}

func (o *operators) unary(e *hclsyntax.UnaryOpExpr, place ast.Place) ast.Expr {
	operand := o.lower(e.Val)
	sign := operatorSigns[e.Op]
	if number, ok := operand.(*ast.Number); ok && sign == "-" {
		return &ast.Number{Place: place, Value: -number.Value, Integer: number.Integer}
	}
	return &ast.Unary{Place: place, Op: sign, OpRange: o.at(e.SymbolRange), Operand: operand}
}

func (o *operators) binary(e *hclsyntax.BinaryOpExpr, place ast.Place) ast.Expr {
	sign := operatorSigns[e.Op]
	gap := hcl.Range{Start: e.LHS.Range().End, End: e.RHS.Range().Start}
	rng := o.at(gap)
	if i := strings.Index(o.source(gap), sign); i >= 0 {
		pos := o.start + gap.Start.Byte + i
		rng = o.s.At(pos, pos+len(sign))
	}
	return &ast.Binary{Place: place, Op: sign, OpRange: rng, Left: o.lower(e.LHS), Right: o.lower(e.RHS)}
}

func (o *operators) literal(e *hclsyntax.LiteralValueExpr) ast.Expr {
	place := ast.Place{At: o.at(e.SrcRange)}
	if e.Val.IsNull() {
		return &ast.Null{Place: place}
	}
	switch e.Val.Type().FriendlyName() {
	case "bool":
		return &ast.Bool{Place: place, Value: e.Val.True()}
	case "number":
		exact := e.Val.AsBigFloat()
		number, _ := exact.Float64()
		integer := !strings.ContainsAny(o.source(e.SrcRange), ".eE")
		if n, _ := exact.Int(nil); integer && !keepsDigits(n, number) {
			o.in.report.addAll(diag.LosesDigits(place.At, o.source(e.SrcRange), number))
		}
		return &ast.Number{Place: place, Value: number, Integer: integer}
	case "string":
		return &ast.String{Place: place, Value: o.text(e)}
	}
	return o.bad(e.SrcRange, "", "the expression in `${…}` is malformed")
}

// keepsDigits reports whether a double is written with the digits of an integer that it stands for.
func keepsDigits(n *big.Int, number float64) bool {
	return n.String() == strconv.FormatFloat(number, 'f', -1, 64)
}

// text returns a string literal as it was written. HCL normalizes strings to Unicode's composed form, so that strings
// with non-ASCII characters are decoded again from the source.
func (o *operators) text(e *hclsyntax.LiteralValueExpr) string {
	read := e.Val.AsString()
	written := unescapeTemplate(o.source(e.SrcRange))
	if !strings.ContainsFunc(written, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return read
	}
	// White space removed by a `~` is not part of the string.
	if strings.TrimLeft(read, " \t\r\n") == read {
		written = strings.TrimLeft(written, " \t\r\n")
	}
	if strings.TrimRight(read, " \t\r\n") == read {
		written = strings.TrimRight(written, " \t\r\n")
	}
	return written
}

// unescapeTemplate resolves the escapes of a quoted string in an expression.
func unescapeTemplate(text string) string {
	if !strings.ContainsAny(text, "\\$%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			if i+1 < len(text) && strings.IndexByte(`nrt"\uU`, text[i+1]) >= 0 {
				if char, width := yamlnode.Unescape([]byte(text[i:min(i+10, len(text))])); width > 0 {
					b.WriteString(char)
					i += width
					continue
				}
			}
			b.WriteByte(text[i])
			i++
		case strings.HasPrefix(text[i:], "$${"), strings.HasPrefix(text[i:], "%%{"):
			b.WriteString(text[i+1 : i+3])
			i += 3
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

func (o *operators) template(e *hclsyntax.TemplateExpr) ast.Expr {
	place := ast.Place{At: o.at(e.SrcRange)}
	heredoc := strings.HasPrefix(o.source(e.SrcRange), "<<")
	parts := make([]ast.Expr, 0, len(e.Parts))
	for _, part := range e.Parts {
		if literal, ok := part.(*hclsyntax.LiteralValueExpr); ok && heredoc && literal.Val.Type().FriendlyName() == "string" {
			parts = append(parts, &ast.String{Place: ast.Place{At: o.at(literal.SrcRange)},
				Value: literal.Val.AsString()})
			continue
		}
		parts = append(parts, o.lower(part))
	}
	text := ""
	for _, part := range parts {
		literal, ok := part.(*ast.String)
		if !ok {
			return &ast.Template{Place: place, Parts: parts}
		}
		text += literal.Value
	}
	return &ast.String{Place: place, Value: text}
}

func (o *operators) object(e *hclsyntax.ObjectConsExpr, place ast.Place) ast.Expr {
	m := &ast.Map{Place: place, Entries: make([]ast.MapEntry, 0, len(e.Items))}
	for _, item := range e.Items {
		m.Entries = append(m.Entries, ast.MapEntry{Key: o.lower(item.KeyExpr), Value: o.lower(item.ValueExpr)})
	}
	return m
}

// access converts an HCL traversal such as a.b[0] to a reference to a local name or to a property access.
func (o *operators) access(e *hclsyntax.ScopeTraversalExpr, place ast.Place) ast.Expr {
	root, ok := e.Traversal[0].(hcl.TraverseRoot)
	if !ok {
		return o.bad(e.SrcRange, "", "the expression in `${…}` is malformed")
	}
	for i := len(o.locals) - 1; i >= 0; i-- {
		if local := o.locals[i]; local.Name == root.Name {
			return o.steps(&ast.LocalRef{Place: ast.Place{At: o.at(root.SrcRange)}, Local: local}, e.Traversal[1:])
		}
	}
	access := &ast.Access{Place: place, Root: ast.Literal{Value: root.Name, Range: o.at(root.SrcRange)}}
	for i, step := range e.Traversal[1:] {
		s, ok := o.step(step)
		s.Optional = ok && o.optional(step.SourceRange().Start.Byte)
		if !ok { // the index is a fraction
			return o.steps(access, e.Traversal[1+i:])
		}
		access.Steps = append(access.Steps, s)
	}
	return access
}

// step converts one step of a traversal; false for an index that is neither a string nor a whole number.
func (o *operators) step(step hcl.Traverser) (ast.Step, bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return ast.Step{Range: o.at(step.SrcRange), Name: step.Name}, true
	case hcl.TraverseIndex:
		s := ast.Step{Range: o.at(step.SrcRange)}
		switch step.Key.Type().FriendlyName() {
		case "string":
			s.Name, s.Quoted = step.Key.AsString(), true
			source := o.source(step.SrcRange)
			if from, to := strings.IndexByte(source, '"'), strings.LastIndexByte(source, '"'); from >= 0 && to > from {
				s.Name = unescapeTemplate(source[from+1 : to])
			}
			return s, true
		case "number":
			index, accuracy := step.Key.AsBigFloat().Int64()
			s.Index, s.IsIndex = int(index), true
			return s, accuracy == 0
		}
	}
	return ast.Step{}, false
}

// steps applies the steps of a traversal to an expression other than a plain access.
func (o *operators) steps(source ast.Expr, traversal hcl.Traversal) ast.Expr {
	for _, t := range traversal {
		rng := o.at(t.SourceRange())
		place := ast.Place{At: diag.Range{Source: rng.Source, Start: min(source.Range().Start, rng.Start),
			End: rng.End}}
		step, ok := o.step(t)
		optional := o.optional(t.SourceRange().Start.Byte)
		if ok && !step.IsIndex && !step.Quoted {
			if rng.Start < rng.End && rng.Text()[0] == '.' {
				rng.Start++
			}
			source = &ast.Member{Place: place, Object: source, Name: ast.Literal{Value: step.Name, Range: rng},
				Optional: optional}
			continue
		}
		index, isIndex := t.(hcl.TraverseIndex)
		var key ast.Expr
		switch {
		case ok && step.IsIndex:
			key = &ast.Number{Place: ast.Place{At: rng}, Value: float64(step.Index), Integer: true}
		case ok:
			key = &ast.String{Place: ast.Place{At: rng}, Value: step.Name}
		case isIndex && index.Key.Type().FriendlyName() == "number":
			number, _ := index.Key.AsBigFloat().Float64()
			key = &ast.Number{Place: ast.Place{At: rng}, Value: number}
		default:
			return o.bad(t.SourceRange(), "", "the expression in `${…}` is malformed")
		}
		source = &ast.Index{Place: place, Collection: source, Key: key, Optional: optional}
	}
	return source
}

func (o *operators) loop(e *hclsyntax.ForExpr, place ast.Place) ast.Expr {
	f := &ast.For{Place: place, Grouped: e.Group, Collection: o.lower(e.CollExpr)}
	// The names are between "for" and "in"; the HCL tree does not contain their positions.
	head := o.source(hcl.Range{Start: e.OpenRange.Start, End: e.CollExpr.Range().Start})
	next := strings.Index(head, "for") + len("for")
	name := func(name string) *ast.Local {
		local := &ast.Local{Name: name, Range: place.At}
		if i := strings.Index(head[min(next, len(head)):], name); i >= 0 {
			pos := next + i
			next = pos + len(name)
			pos += o.start + e.OpenRange.Start.Byte
			local.Range = o.s.At(pos, pos+len(name))
		}
		return local
	}
	outer := o.locals
	if e.KeyVar != "" {
		f.KeyName = name(e.KeyVar)
		o.locals = append(o.locals[:len(o.locals):len(o.locals)], f.KeyName)
	}
	f.ValueName = name(e.ValVar)
	o.locals = append(o.locals[:len(o.locals):len(o.locals)], f.ValueName)
	if e.KeyExpr != nil {
		f.Key = o.lower(e.KeyExpr)
	}
	f.Value = o.lower(e.ValExpr)
	if e.CondExpr != nil {
		f.Condition = o.lower(e.CondExpr)
	}
	o.locals = outer
	return f
}
