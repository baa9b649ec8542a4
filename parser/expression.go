package parser

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// maxExpressionDepth is the maximum depth of expressions after expanding aliases. A list in a map counts twice, because
// maxDepth counts columns and brackets.
const maxExpressionDepth = 2*yamlnode.MaxDepth + 100

// exprReader reads nodes as expressions.
type exprReader struct {
	texts  textReader
	nodes  *nodeReader
	text   *yamlnode.Text
	report *findings
	depth  int // depth of the current expression
}

func newExprReader(nodes *nodeReader, s *scope) *exprReader {
	texts := textReader{nodes: nodes, text: nodes.text, report: nodes.report, scope: s}
	return &exprReader{texts: texts, nodes: nodes, text: nodes.text, report: nodes.report}
}

// expression reads the value of an entry as an expression (L5.1).
func (x *exprReader) expression(e entry) ast.Expr { return x.value(e.value, e.via, true) }

// data reads the value of an entry without interpolation and calls.
func (x *exprReader) data(e entry) ast.Expr { return x.value(e.value, e.via, false) }

// value reads a node. live enables interpolation and calls.
func (x *exprReader) value(n, via *yamlnode.Node, live bool) ast.Expr {
	if n.Kind != yamlnode.Alias && via == nil {
		if !x.nodes.tally(n) {
			return bad(x.text.Span(n))
		}
		return x.valueAt(n, x.text.Span(n), live)
	}
	expr := bad(x.text.Span(n))
	x.nodes.with(n, via, func(n *yamlnode.Node, tag diag.Range) { expr = x.valueAt(n, tag, live) })
	return expr
}

func (x *exprReader) valueAt(n *yamlnode.Node, tag diag.Range, live bool) ast.Expr {
	if x.depth++; x.depth > maxExpressionDepth {
		x.depth--
		x.report.fail(diag.RunawayInput, tag, "simplify the structure", "more than %d lists and maps inside each other", yamlnode.MaxDepth)
		return bad(tag)
	}
	defer func() { x.depth-- }()
	place := ast.Place{At: tag}
	x.warnTag(n)
	switch n.Kind {
	case yamlnode.List:
		items := make([]ast.Expr, 0, len(n.Content))
		for _, item := range n.Content {
			items = append(items, x.value(item, nil, live))
		}
		return &ast.List{Place: place, Items: items}
	case yamlnode.Map:
		return x.mapOrCall(n, tag, live)
	}
	if x.nodes.mended(tag) || yamlnode.IsNull(n) && x.nodes.lostBehind(tag) {
		return bad(tag)
	}
	if expr := x.scalarLiteral(n, place); expr != nil {
		return expr
	}
	if !live {
		return &ast.String{Place: place, Value: n.Value}
	}
	return x.texts.interpolated(n, tag)
}

// foreignTags maps tags of CloudFormation to their equivalents.
var foreignTags = map[string]string{
	"!Ref": "write `${name}`", "!GetAtt": "write `${resource.property}`", "!Sub": "write the text with `${name}` in it",
	"!Join": "write `fn::join: [delimiter, items]`", "!Select": "write `fn::select: [index, items]`",
	"!Split": "write `fn::split: [delimiter, text]`", "!Base64": "write `fn::toBase64: text`",
	"!If": "write `${condition ? one : other}`",
}

// warnTag warns of a tag without a meaning, which is ignored.
func (x *exprReader) warnTag(n *yamlnode.Node) {
	if !n.Tagged() || n.Tag != yamlnode.OtherTag || x.nodes.aliases.any() {
		return
	}
	text := n.TagText()
	if !strings.HasPrefix(text, "!") || strings.HasPrefix(text, "!!") || text == "!" {
		return
	}
	tag, _, _ := strings.Cut(string(x.text.Bytes[n.Start:min(n.Start+len(text), len(x.text.Bytes))]), " ")
	hint, known := foreignTags[text]
	if !known {
		hint = "remove it, or put a text that begins with `!` in quotes"
	}
	x.report.warn(diag.Ignored, x.text.At(n.Start, n.Start+len(tag)), hint,
		"the tag `%s` has no effect", diag.Excerpt(text))
}

// warnOneColon warns of a key such as `fn:join`, which is data although a call is almost certainly intended.
func (x *exprReader) warnOneColon(e entry) {
	name, ok := strings.CutPrefix(e.name, "fn:")
	if !ok || name == "" {
		return
	}
	d := x.report.warn(diag.UnknownFunction, e.at, "a call is written with two colons: `"+callPrefix+diag.Excerpt(name)+"`",
		"`%s` is data, not a call", diag.Excerpt(e.name))
	if e.at.Text() == e.name {
		d.Fixes = []diag.Fix{{Label: "Write `" + callPrefix + diag.Excerpt(name) + "`",
			Edits: []diag.Edit{{Range: e.at, Text: callPrefix + name}}}}
	}
}

func (x *exprReader) mapOrCall(n *yamlnode.Node, tag diag.Range, live bool) ast.Expr {
	entries := x.nodes.entries(n)
	if len(entries) == 0 && strangeKeys(n) {
		return bad(tag)
	}
	place := ast.Place{At: tag}
	if live {
		for _, e := range entries {
			if !isCall(e.name) {
				continue
			}
			if len(entries) == 1 {
				call := x.call(e, place)
				x.nodes.release(entries)
				if x.nodes.repairs.Any() && x.nodes.repairs.Touch(x.text.Bytes, n) {
					return bad(tag) // part of the call is lost, such as what it returns
				}
				return call
			}
			x.report.fail(diag.CallHasSiblings, e.at, "a call is a map with this one key; move the other entries into another map",
				"`%s` must be the only key of its map", diag.Excerpt(e.name))
			return bad(tag)
		}
		if len(entries) == 1 {
			x.warnOneColon(entries[0])
		}
	}
	m := &ast.Map{Place: place, Entries: make([]ast.MapEntry, 0, len(entries))}
	keys := make([]ast.String, len(entries))
	for i, e := range entries {
		keys[i] = ast.String{Place: ast.Place{At: e.at}, Value: e.name}
		key := ast.Expr(&keys[i])
		if live && strings.Contains(e.name, "$") {
			key = x.texts.interpolated(e.key, e.at)
		}
		value := x.value(e.value, e.via, live)
		if _, broken := key.(*ast.Bad); broken {
			return bad(tag) // already reported; the value may be the rest of the broken expression
		}
		m.Entries = append(m.Entries, ast.MapEntry{Key: key, Value: value})
	}
	x.nodes.release(entries)
	return m
}

func (x *exprReader) call(e entry, place ast.Place) ast.Expr {
	name := ast.Literal{Value: e.name[len(callPrefix):], Range: e.at}
	var odd diag.Range
	if e.at.Text() == e.name || e.key.Quoted() {
		s := &yamlnode.ScalarText{In: x.text, Node: e.key, Text: e.name}
		if e.at == x.text.Span(e.key) {
			name.Range = s.At(len(callPrefix), len(e.name))
			if e.name[:len(callPrefix)] != callPrefix {
				odd = s.At(0, len(callPrefix))
			}
		}
	}
	call := &ast.Call{Place: place, Name: name, Prefix: odd, Argument: x.expression(e)}
	ast.HideSecrets(call)
	return call
}

// scalarLiteral reads a scalar that is not a string (L1.25). It returns nil for a string.
func (x *exprReader) scalarLiteral(n *yamlnode.Node, place ast.Place) ast.Expr {
	switch n.Tag {
	case yamlnode.NullTag:
		return &ast.Null{Place: place}
	case yamlnode.BoolTag:
		switch strings.ToLower(n.Value) {
		case "true", "false":
			return &ast.Bool{Place: place, Value: isTrue(n.Value)}
		}
		x.report.fail(diag.WrongKind, place.At, "write `true` or `false`", "`%s` is not a boolean", diag.Excerpt(n.Value))
		return bad(place.At)
	case yamlnode.IntTag, yamlnode.FloatTag:
		number, integer, exact, ok := parseNumber(n.Value)
		if !ok {
			x.report.fail(diag.WrongKind, place.At, "", "`%s` is not a number", diag.Excerpt(n.Value))
			return bad(place.At)
		}
		if integer && !exact {
			x.report.addAll(diag.LosesDigits(place.At, n.Value, number))
		}
		return &ast.Number{Place: place, Value: number, Integer: integer && n.Tag == yamlnode.IntTag || integer &&
			!exact}
	}
	return nil
}

// parseNumber parses a number in YAML's notation (L1.25). integer reports whether it has no fraction and exponent, and
// exact whether a double keeps its digits, so that it is written with the same ones.
func parseNumber(text string) (number float64, integer, exact, ok bool) {
	plain := strings.ReplaceAll(text, "_", "")
	sign, digits := "", plain
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		sign, digits = digits[:1], digits[1:]
	}
	base := 10
	switch {
	case len(digits) > 2 && (digits[:2] == "0x" || digits[:2] == "0X"):
		base, digits = 16, digits[2:]
	case len(digits) > 2 && (digits[:2] == "0o" || digits[:2] == "0O"):
		base, digits = 8, digits[2:]
	case len(digits) > 2 && (digits[:2] == "0b" || digits[:2] == "0B"):
		base, digits = 2, digits[2:]
	case len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "01234567") == "":
		base = 8
	}
	if n, err := strconv.ParseUint(digits, base, 64); err == nil && n < 1<<53 {
		number = float64(n)
		if sign == "-" && n > 0 {
			number = -number
		}
		return number, true, true, true
	}
	const longest = 400 // more than the decimal digits of the largest double
	if len(digits) > longest {
		return parseFloat(plain, false)
	}
	if n, isInteger := new(big.Int).SetString(digits, base); isInteger && digits[0] != '-' && digits[0] != '+' {
		if sign == "-" {
			n.Neg(n)
		}
		number, _ := new(big.Float).SetInt(n).Float64()
		if sign == "-" && number == 0 {
			number = 0
		}
		return number, true, keepsDigits(n, number), true
	}
	return parseFloat(plain, strings.Trim(digits, "0123456789") == "")
}

func parseFloat(text string, integer bool) (float64, bool, bool, bool) {
	switch strings.ToLower(text) {
	case ".inf", "+.inf":
		text = "+Inf"
	case "-.inf":
		text = "-Inf"
	case ".nan":
		text = "NaN"
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, integer, false, err == nil
}

// textExpression reads a field that must be a string or an expression. It returns nil for null.
func (x *exprReader) textExpression(e entry, what, detail string) ast.Expr {
	value := present(x.expression(e))
	switch value.(type) {
	case *ast.Number, *ast.Bool, *ast.List, *ast.Map:
		x.nodes.wrongKind(e.value.Target(), value.Range(), what, "a string", detail)
		return bad(value.Range())
	}
	return value
}

// present returns an expression, or nil if it is the null literal.
func present(e ast.Expr) ast.Expr {
	if _, null := e.(*ast.Null); null {
		return nil
	}
	return e
}
