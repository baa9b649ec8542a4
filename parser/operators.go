package parser

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// This file parses expressions with operators, calls, `for` and so on, in HCL's grammar: an extension of yamlhost
// (decision D6). The HCL tree is converted at once, in lower.go.

// The bounds of one expression: the length of its text in bytes, and the nesting depth of brackets and templates.
const (
	maxOperatorsText  = 64 << 10
	maxOperatorsDepth = 100
)

// operators is an expression in HCL's grammar inside a scalar's text.
type operators struct {
	in     *textReader
	s      *yamlnode.ScalarText
	start  int // offset in the scalar's text
	end    int // offset of the closing brace
	root   hclsyntax.Expression
	locals []*ast.Local // local names in scope, while lowering
	items  map[*hclsyntax.AnonSymbolExpr]*ast.Local
	depth  int
	marks  map[int]bool // offsets of the question marks of optional steps; true once a step has used it
}

// parseOperators parses an expression that begins at offset start of a scalar's text, after "${". The result is nil if
// its closing brace is not found.
func (x *textReader) parseOperators(s *yamlnode.ScalarText, start int) (*operators, *fault) {
	end, f := expressionEnd(s.Text, start)
	if f != nil {
		return nil, f
	}
	o := &operators{in: x, s: s, start: start, end: end}
	text := s.Text[start:end]
	if len(text) > maxOperatorsText {
		return o, &fault{from: start, to: end, summary: "the expression is too long",
			detail: "give parts of it names, as variables"}
	}
	root, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() {
		if root = o.parseChains(text); root == nil {
			return o, o.fault(diags)
		}
	}
	if f := o.comment(text); f != nil {
		return o, f
	}
	o.root = root
	return o, nil
}

// comment returns the fault of what HCL reads as a comment although no line ends it, as in `${n // 2}`; nil without
// one. The rest of the expression would be dropped.
func (o *operators) comment(text string) *fault {
	if !strings.Contains(text, "//") && !strings.Contains(text, "/*") && !strings.Contains(text, "#") {
		return nil
	}
	tokens, _ := hclsyntax.LexExpression([]byte(text), "", hcl.InitialPos)
	for _, token := range tokens {
		if token.Type == hclsyntax.TokenComment && !bytes.HasSuffix(token.Bytes, []byte("\n")) {
			from := o.start + token.Range.Start.Byte
			mark := min(token.Range.Start.Byte+2, len(text))
			if text[token.Range.Start.Byte] == '#' {
				mark--
			}
			return &fault{from: from, to: o.start + mark, final: true,
				summary: "`" + text[token.Range.Start.Byte:mark] + "` begins a comment, so that the rest would not be read",
				detail:  "a division is written `a / b`, and rounded `floor(a / b)`; comments are for YAML, outside of `${…}`"}
		}
	}
	return nil
}

// parseChains parses an expression with optional steps, a?.b and a?[0], which HCL does not support. It treats a
// question mark directly after a value and directly before a dot or bracket as one, also in the expressions of a text
// in quotes. It returns nil if the text has no such question mark or is malformed nevertheless.
func (o *operators) parseChains(text string) hclsyntax.Expression {
	plain := []byte(text)
	n := nesting{text: text}
	for i, closes := 0, true; i+1 < len(text) && closes; i, closes = n.next(i) {
		if !n.quoted() && text[i] == '?' && i > 0 && !space(text[i-1]) && (text[i+1] == '.' || text[i+1] == '[') {
			if o.marks == nil {
				o.marks = make(map[int]bool)
			}
			o.marks[i], plain[i] = false, ' '
		}
	}
	if o.marks == nil {
		return nil
	}
	root, diags := hclsyntax.ParseExpression(plain, "", hcl.InitialPos)
	if diags.HasErrors() {
		o.marks = nil
		return nil
	}
	return root
}

// optional reports whether the step that begins at an offset of the expression has a question mark, and marks it as
// used.
func (o *operators) optional(step int) bool {
	if _, marked := o.marks[step-1]; !marked {
		return false
	}
	o.marks[step-1] = true
	return true
}

// nesting follows the brackets and quotes of an expression, and the expressions in its quotes.
type nesting struct {
	text string
	open []int // offsets of brackets and quotes
}

// quoted reports whether the innermost of what is open is a quote.
func (n *nesting) quoted() bool { return len(n.open) > 0 && n.text[n.open[len(n.open)-1]] == '"' }

// next returns the offset after what begins at i; false for a bracket that closes nothing, or closes another kind.
func (n *nesting) next(i int) (int, bool) {
	c := n.text[i]
	begins := func(prefix string) bool { return strings.HasPrefix(n.text[i:], prefix) }
	switch quoted := n.quoted(); {
	case quoted && c == '\\':
		return i + 2, true
	case quoted && (begins("$${") || begins("%%{")):
		return i + 3, true
	case quoted && c == '"':
		n.open = n.open[:len(n.open)-1]
	case quoted && (begins("${") || begins("%{")):
		n.open = append(n.open, i+1)
		return i + 2, true
	case quoted:
	case c == '"' || c == '(' || c == '[' || c == '{':
		n.open = append(n.open, i)
	case c == ')' || c == ']' || c == '}':
		if len(n.open) == 0 || yamlnode.Closer(n.text[n.open[len(n.open)-1]]) != c {
			return i, false
		}
		n.open = n.open[:len(n.open)-1]
	}
	return i + 1, true
}

// expressionEnd returns the offset of the brace that closes an expression. Braces may be nested in objects and
// templates, and occur in strings.
func expressionEnd(text string, start int) (int, *fault) {
	n := nesting{text: text}
	for i := start; i < len(text); {
		if text[i] == '}' && len(n.open) == 0 {
			return i, nil
		}
		next, closes := n.next(i)
		switch {
		case !closes && len(n.open) == 0:
			return 0, &fault{from: i, to: i + 1, summary: "`" + text[i:i+1] + "` closes nothing"}
		case !closes:
			return 0, unclosed(text, n.open[len(n.open)-1])
		case len(n.open) > maxOperatorsDepth:
			return 0, &fault{from: i, to: i + 1, summary: "the expression nests too deep",
				detail: "give parts of it names, as variables"}
		}
		i = next
	}
	if len(n.open) > 0 {
		return 0, unclosed(text, n.open[len(n.open)-1])
	}
	return 0, &fault{from: max(start-2, 0), to: len(text), open: true, summary: "`${` is never closed",
		detail: "add the missing `}`, or write `$${` for the text itself"}
}

func unclosed(text string, i int) *fault {
	return &fault{from: i, to: i + 1, open: true, summary: "`" + text[i:i+1] + "` is never closed",
		detail: "add the missing `" + string(yamlnode.Closer(text[i])) + "`"}
}

// looksLikeOperators reports whether a text is more likely an expression than a name, because it contains characters
// that are rare in names.
func looksLikeOperators(text string) bool {
	if strings.ContainsAny(text, "()+*%=!<>&|?,\"{") {
		return true
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; (c == '-' || c == '/' || c == ':') && i > 0 && space(text[i-1]) &&
			(i+1 >= len(text) || space(text[i+1])) {
			return true
		}
	}
	return false
}

// at returns the source range of an HCL range.
func (o *operators) at(r hcl.Range) diag.Range {
	return o.s.At(o.start+r.Start.Byte, o.start+max(r.End.Byte, r.Start.Byte))
}

// source returns the text of an HCL range.
func (o *operators) source(r hcl.Range) string {
	text := o.s.Text[o.start:o.end]
	return text[min(r.Start.Byte, len(text)):min(max(r.End.Byte, r.Start.Byte), len(text))]
}

// wording maps the error messages of HCL to messages for users who do not know HCL.
var wording = []struct{ summary, words string }{
	{"Missing expression", "a value is missing here"},
	{"Invalid expression", "a value is missing here"},
	{"Extra characters after expression", "an operator, or a comma, is missing before this"},
	{"Unbalanced parentheses", "the expression in parentheses must be followed by `)`"},
	{"Missing false expression in conditional", "a condition is written `condition ? one : other`"},
	{"Missing item separator", "items of a list are separated by commas"},
	{"Missing argument separator", "arguments are separated by commas"},
	{"Missing attribute separator", "entries of a map are separated by commas"},
	{"Missing key/value separator", "an entry of a map is written `key = value`"},
	{"Missing attribute value", "an entry of a map is written `key = value`"},
	{"Missing close bracket on index", "an index is written `list[0]` or `map[\"key\"]`"},
	{"Missing close bracket on splat index", "all items of a list are written `list[*]`"},
	{"Invalid 'for' expression", "write `[for item in list : value]` or `{for key, value in map : key => value}`"},
	{"Invalid attribute name", "a member's name is missing after the dot"},
	{"Invalid legacy index syntax", "write an index in brackets: `list[0]`"},
	{"Invalid number literal", "this is not a number"},
	{"Invalid escape sequence", "known escapes are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \\UNNNNNNNN"},
	{"Invalid string literal", "a string in an expression is on one line, in double quotes"},
	{"Invalid multi-line string", "a string in an expression is on one line, in double quotes"},
	{"Unterminated template string", "the text has no closing quote"},
	{"Unterminated string literal", "the text has no closing quote"},
	{"Unterminated function call", "the call has no closing parenthesis"},
	{"Missing closing parenthesis", "the call has no closing parenthesis"},
	{"Nested splat expression not allowed", "an expression may have only one `[*]`"},
	{"Invalid character", "this character has no meaning in an expression"},
	{"Unsupported operator", "this operator does not exist; there are no operators on bits"},
	{"Invalid template directive", "inside of a string, `%{` must be followed by `if` or `for`"},
	{"Unexpected end of template", "`%{if …}` and `%{for …}` need an `%{endif}` or `%{endfor}`"},
}

func (o *operators) fault(diags hcl.Diagnostics) *fault {
	f := &fault{from: o.start, to: o.end, summary: "the expression in `${…}` is malformed",
		detail: "a text with `${` in it is written `$${`"}
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		if d.Subject != nil {
			f.from = min(o.start+d.Subject.Start.Byte, o.end)
			f.to = max(min(o.start+d.Subject.End.Byte, o.end), f.from)
		}
		for _, w := range wording {
			if d.Summary == w.summary {
				f.detail = w.words
			}
		}
		break
	}
	return f
}

// undeclared returns the first name of the expression that is not declared; empty if all are.
func (o *operators) undeclared() string {
	for _, traversal := range o.root.Variables() {
		if !o.in.scope.declares(traversal.RootName()) {
			return traversal.RootName()
		}
	}
	return ""
}

// foreignMap returns the fault of a `${{a: b}}`, which HCL reads as a map but people write in other tools' sense; nil
// for any other expression.
func (o *operators) foreignMap() *fault {
	object, ok := o.root.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return nil
	}
	for _, item := range object.Items {
		gap := hcl.Range{Start: item.KeyExpr.Range().End, End: item.ValueExpr.Range().Start}
		if i := strings.IndexByte(o.source(gap), ':'); i >= 0 {
			at := o.start + gap.Start.Byte + i
			return &fault{from: at, to: at + 1, summary: "the expression in `${…}` is malformed",
				detail: "an entry of a map is written `key = value`", final: true}
		}
	}
	return nil
}
