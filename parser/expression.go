package parser

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// maxExpressionDepth is the maximum depth of expressions after expanding aliases. A list in a map counts twice, because
// maxDepth counts columns and brackets.
const maxExpressionDepth = 2*maxDepth + 100

// exprReader reads nodes as expressions.
type exprReader struct {
	*nodeReader
	scope *scope // nil if strings are not interpolated
	depth int    // depth of the current expression
}

func newExprReader(nodes *nodeReader, s *scope) *exprReader {
	return &exprReader{nodeReader: nodes, scope: s}
}

// expression reads the value of an entry as an expression (L5.1).
func (x *exprReader) expression(e entry) ast.Expr { return x.read(e.value, e.via, true) }

// data reads the value of an entry without interpolation and calls.
func (x *exprReader) data(e entry) ast.Expr { return x.read(e.value, e.via, false) }

// read reads a node. live enables interpolation and calls.
func (x *exprReader) read(n, via *node, live bool) ast.Expr {
	if n.kind != aliasNode && via == nil {
		if !x.tally() {
			return bad(x.span(n))
		}
		return x.readAt(n, x.span(n), live)
	}
	expr := bad(x.span(n))
	x.with(n, via, func(n *node, tag diag.Range) { expr = x.readAt(n, tag, live) })
	return expr
}

func (x *exprReader) readAt(n *node, tag diag.Range, live bool) ast.Expr {
	if x.depth++; x.depth > maxExpressionDepth {
		x.depth--
		x.fail(diag.RunawayInput, tag, "simplify the structure", "more than %d lists and maps inside each other", maxDepth)
		return bad(tag)
	}
	defer func() { x.depth-- }()
	place := ast.Place{At: tag}
	x.warnTag(n)
	switch n.kind {
	case listNode:
		items := make([]ast.Expr, 0, len(n.content))
		for _, item := range n.content {
			items = append(items, x.read(item, nil, live))
		}
		return &ast.List{Place: place, Items: items}
	case mapNode:
		return x.mapOrCall(n, tag, live)
	}
	if x.mended(tag) || empty(n) && x.lostBehind(tag) {
		return bad(tag)
	}
	if expr := x.scalarLiteral(n, place); expr != nil {
		return expr
	}
	if !live {
		return &ast.String{Place: place, Value: n.value}
	}
	return x.interpolated(n, tag)
}

// foreignTags maps tags of CloudFormation to their equivalents.
var foreignTags = map[string]string{
	"!Ref": "write `${name}`", "!GetAtt": "write `${resource.property}`", "!Sub": "write the text with `${name}` in it",
	"!Join": "write `fn::join: [delimiter, items]`", "!Select": "write `fn::select: [index, items]`",
	"!Split": "write `fn::split: [delimiter, text]`", "!Base64": "write `fn::toBase64: text`",
	"!If": "write `${condition ? one : other}`",
}

// warnTag warns of a tag without a meaning, which is ignored.
func (x *exprReader) warnTag(n *node) {
	if !n.tagged() || !strings.HasPrefix(n.tag, "!") || strings.HasPrefix(n.tag, "!!") || n.tag == "!" ||
		x.aliases.any() {
		return
	}
	tag, _, _ := strings.Cut(string(x.text[n.start:min(n.start+len(n.tag), len(x.text))]), " ")
	hint, known := foreignTags[n.tag]
	if !known {
		hint = "remove it, or put a text that begins with `!` in quotes"
	}
	x.warn(diag.Ignored, x.at(n.start, n.start+len(tag)), hint, "the tag `%s` has no effect", shorten(n.tag))
}

const callPrefix = "fn::"

// isCall reports whether a key is a function call: it begins with "fn::", ignoring case (L6.1, L6.4).
func isCall(key string) bool {
	return len(key) >= len(callPrefix) && strings.EqualFold(key[:len(callPrefix)], callPrefix)
}

// warnOneColon warns of a key such as `fn:join`, which is data although a call is almost certainly intended.
func (x *exprReader) warnOneColon(e entry) {
	name, ok := strings.CutPrefix(e.name, "fn:")
	if !ok || name == "" {
		return
	}
	d := x.warn(diag.UnknownFunction, e.at, "a call is written with two colons: `"+callPrefix+shorten(name)+"`",
		"`%s` is data, not a call", shorten(e.name))
	if e.at.Text() == e.name {
		d.Fixes = []diag.Fix{{Label: "Write `" + callPrefix + shorten(name) + "`",
			Edits: []diag.Edit{{Range: e.at, Text: callPrefix + name}}}}
	}
}

func (x *exprReader) mapOrCall(n *node, tag diag.Range, live bool) ast.Expr {
	entries := x.entries(n)
	place := ast.Place{At: tag}
	if live {
		for _, e := range entries {
			if !isCall(e.name) {
				continue
			}
			if len(entries) == 1 {
				return x.call(e, place)
			}
			x.fail(diag.CallHasSiblings, e.at, "a call is a map with this one key; move the other entries into another map",
				"`%s` must be the only key of its map", shorten(e.name))
			x.hideMeant(entries)
			return bad(tag)
		}
		if len(entries) == 1 {
			x.warnOneColon(entries[0])
			x.hideMeant(entries)
		}
	}
	m := &ast.Map{Place: place, Entries: make([]ast.MapEntry, 0, len(entries))}
	for _, e := range entries {
		key := ast.Expr(&ast.String{Place: ast.Place{At: e.at}, Value: e.name})
		if live && strings.Contains(e.name, "$") {
			key = x.interpolated(e.key, e.at)
		}
		value := x.read(e.value, e.via, live)
		if _, broken := key.(*ast.Bad); broken {
			return bad(tag) // already reported; the value may be the rest of the broken expression
		}
		m.Entries = append(m.Entries, ast.MapEntry{Key: key, Value: value})
	}
	x.release(entries)
	return m
}

func (x *exprReader) call(e entry, place ast.Place) ast.Expr {
	name := ast.Literal{Value: e.name[len(callPrefix):], Range: e.at}
	var odd diag.Range
	if e.at.Text() == e.name || e.key.quoted() {
		s := &scalar{in: x.passage, node: e.key, text: e.name}
		if e.at == x.span(e.key) {
			name.Range = s.at(len(callPrefix), len(e.name))
			if e.name[:len(callPrefix)] != callPrefix {
				odd = s.at(0, len(callPrefix))
			}
		}
	}
	call := &ast.Call{Place: place, Name: name, Prefix: odd, Argument: x.expression(e)}
	hideSecrets(call)
	return call
}

// scalarLiteral reads a scalar that is not a string (L1.25). It returns nil for a string.
func (x *exprReader) scalarLiteral(n *node, place ast.Place) ast.Expr {
	switch n.tag {
	case nullTag:
		return &ast.Null{Place: place}
	case boolTag:
		switch strings.ToLower(n.value) {
		case "true", "false":
			return &ast.Bool{Place: place, Value: isTrue(n.value)}
		}
		x.fail(diag.WrongKind, place.At, "write `true` or `false`", "`%s` is not a boolean", shorten(n.value))
		return bad(place.At)
	case intTag, floatTag:
		number, integer, exact, ok := parseNumber(n.value)
		if !ok {
			x.fail(diag.WrongKind, place.At, "", "`%s` is not a number", shorten(n.value))
			return bad(place.At)
		}
		if integer && !exact {
			x.warn(diag.BadNumber, place.At, "numbers have 53 bits; put it in quotes if it may be a string",
				"the number %s loses digits: it becomes %s", shorten(n.value), shorten(strconv.FormatFloat(number, 'f', -1, 64)))
		}
		return &ast.Number{Place: place, Value: number, Integer: integer && n.tag == intTag || integer && !exact}
	}
	return nil
}

// parseNumber parses a number in YAML's notation (L1.25). integer reports whether it has no fraction and exponent, and
// exact whether a double represents it without loss.
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
	const longest = 400 // more than the decimal digits of the largest double
	if len(digits) > longest {
		return parseFloat(plain, false)
	}
	if n, isInteger := new(big.Int).SetString(digits, base); isInteger && digits[0] != '-' && digits[0] != '+' {
		if sign == "-" {
			n.Neg(n)
		}
		number, accuracy := new(big.Float).SetInt(n).Float64()
		if sign == "-" && number == 0 {
			number = 0
		}
		return number, true, accuracy == big.Exact, true
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

// shorten makes a text fit into one line of a message.
func shorten(text string) string {
	const most = 40
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text[:min(len(text), 4*most+4)])
	return diag.Shorten(text, most)
}
