package parser

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/phrasebook"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// interpolated parses a string, in which `$$` is a dollar sign and `${…}` a value (L5.B). If the string consists of a
// single `${…}`, the result is that value (L5.12). Without any it is a string, and otherwise a template.
func (x *textReader) interpolated(n *yamlnode.Node, rng diag.Range) ast.Expr {
	text := n.Value
	if !strings.Contains(text, "$") {
		return &ast.String{Place: ast.Place{At: rng}, Value: text}
	}
	s := &yamlnode.ScalarText{In: x.text, Node: n, Text: text}
	if rng != x.text.Span(n) {
		s.Whole = rng
	}
	var parts []ast.Expr
	var literal strings.Builder
	from := 0 // start of the current literal
	flush := func(to int) {
		if to > from {
			parts = append(parts, &ast.String{Place: ast.Place{At: s.At(from, to)}, Value: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(text); {
		dollar := strings.IndexByte(text[i:], '$')
		if dollar < 0 {
			literal.WriteString(text[i:])
			break
		}
		literal.WriteString(text[i : i+dollar])
		i += dollar
		switch {
		case strings.HasPrefix(text[i:], "$$"):
			literal.WriteByte('$')
			i += 2
		case strings.HasPrefix(text[i:], "${"):
			flush(i)
			expr, end := x.interpolation(s, i)
			if i == 0 && end == len(text) {
				return expr
			}
			parts = append(parts, expr)
			i, from = end, end
		default:
			x.warnParentheses(s, i)
			literal.WriteByte('$')
			i++
		}
	}
	if len(parts) == 0 {
		return &ast.String{Place: ast.Place{At: rng}, Value: literal.String()}
	}
	flush(len(text))
	return &ast.Template{Place: ast.Place{At: rng}, Parts: parts}
}

// warnParentheses warns of `$(name)` if the program declares that name. Any other name is left to the shell.
func (x *textReader) warnParentheses(s *yamlnode.ScalarText, i int) {
	body, ok := strings.CutPrefix(s.Text[i:], "$(")
	if !ok {
		return
	}
	body, _, ok = strings.Cut(body, ")")
	root := body
	if end := strings.IndexAny(root, ".["); end > 0 {
		root = root[:end]
	}
	if !ok || !x.scope.declares(root) {
		return
	}
	rng := s.At(i, i+len("$()")+len(body))
	right := "${" + body + "}"
	x.report.warn(diag.BadInterpolation, rng, "write `"+right+"` for the value; `$$(` is the text in any case", "`$(%s)` is text",
		body)
}

// interpolation parses the `${…}` at offset i of a scalar's text. It returns the expression and the offset at which the
// `${…}` ends. It chooses between Pulumi's grammar and HCL's (decision D6) as follows:
//
//   - A text whose root name is declared is a property access, as in Pulumi.
//   - There is one exception: if a *member* contains an operator, a quote, a bracket or a word of expressions, as in
//     `${res.count + 1}`, the stock host looks for a member with exactly that name, which hardly any value has. The
//     text is an access if the program itself contains each such key. Otherwise it is read whole as an expression, or
//     it is an error: no part of it becomes a name (L5.42).
//   - A text with operators, calls or literals is an expression.
//   - Any other text is an undeclared name, which the checker reports.
func (x *textReader) interpolation(s *yamlnode.ScalarText, i int) (ast.Expr, int) {
	access, f := scanAccess(s.Text, i+2, true)
	if f == nil && access.chained() {
		// A name may end with a question mark. It is preferred if the program declares such a name.
		if whole, g := scanAccess(s.Text, i+2, false); g == nil && whole.root.name != access.root.name &&
			x.scope.declares(whole.root.name) {
			access = whole
		} else {
			x.nodes.extension(s.At(i, access.end+1), "`?.` and `?[`")
		}
	}
	declared := f == nil && x.scope.declares(access.root.name)
	odd := f == nil && access.odd() && !x.scope.writes(access)
	if f == nil && (declared && !odd || !declared && access.plain()) {
		return accessOf(s, i, access), access.end + 1
	}
	body, problem := x.parseOperators(s, i+2)
	if problem == nil {
		problem = body.foreignMap()
	}
	end := len(s.Text)
	switch brace := strings.IndexByte(s.Text[i:], '}'); {
	case body != nil:
		end = body.end + 1
	case f == nil:
		end = access.end + 1
	case brace >= 0:
		end = i + brace + 1
	}
	operators := looksLikeOperators(s.Text[i+2 : end])
	switch {
	case problem == nil && f == nil && (operators || body.undeclared() == ""), problem == nil && f != nil &&
		(!f.final || operators): // an expression
		return body.lowered(i), end
	case odd && !operators && (declared || nameLike(access.root.name)): // neither: a member that is no key of the text
		problem = access.oddName(body, problem)
	case f == nil && !operators: // an undeclared name
		return accessOf(s, i, access), access.end + 1
	}
	// It is malformed in both grammars. The fault is that of the grammar that was probably meant.
	if f != nil && (f.final || problem == nil || !operators) {
		problem = f
	}
	x.malformed(s, i, end, problem)
	return bad(s.At(i, end)), end
}

// malformed reports the fault of the `${…}` at s.Text[start:end].
func (x *textReader) malformed(s *yamlnode.ScalarText, start, end int, f *fault) {
	detail := f.detail
	if advice := phrasebook.Operator(s.Text[start+2 : max(end-1, start+2)]); advice != "" && !f.final {
		detail = advice
	}
	if f.open || end >= len(s.Text) {
		if torn := yamlnode.TornAdvice(x.text.Bytes, s.Node); torn != "" {
			detail = torn
		}
	}
	rng := s.Whole
	if rng.IsZero() {
		from := min(f.from, len(s.Text)-1)
		rng = s.At(from, max(f.to, from+1))
	}
	x.report.fail(diag.BadInterpolation, rng, detail, "%s", f.summary)
}

// oddName returns the fault of an access with an odd member name that is no key of the text. problem is what is wrong
// with it as an expression; if it is nil, the expression uses names that are not declared.
func (a *accessText) oddName(expression *operators, problem *fault) *fault {
	f := &fault{}
	for _, step := range slices.Backward(a.steps) {
		if !step.quoted && oddKey(step.name) {
			f.from, f.to = step.from, step.to
			f.summary = "`" + diag.Excerpt(step.name) + "` is not a name"
			f.detail = "a member with that name is written `[\"" + diag.Excerpt(step.name) + "\"]`"
		}
	}
	if problem == nil {
		f.detail += "; in an expression, `" + expression.undeclared() + "` is not declared"
	}
	return f
}
