package parser

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// interpolated reads a text: `$$` stands for a dollar, `${…}` for a value (L5.B). A text that is one `${…}` and nothing
// else is that value (L5.12), one that has none is a string, anything else is a template.
func (x *exprReader) interpolated(n *node, rng diag.Range) ast.Expr {
	text := n.value
	if !strings.Contains(text, "$") {
		return &ast.String{Place: ast.Place{At: rng}, Value: text}
	}
	s := &scalar{in: x.passage, node: n, text: text}
	if rng != x.span(n) {
		s.whole = rng
	}
	var parts []ast.Expr
	var literal strings.Builder
	from := 0 // where the literal begins
	flush := func(to int) {
		if to > from {
			parts = append(parts, &ast.String{Place: ast.Place{At: s.at(from, to)}, Value: literal.String()})
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

// warnParentheses warns of `$(name)` where the program has that name. With any other name it is the shell's business.
func (x *exprReader) warnParentheses(s *scalar, i int) {
	inside, ok := strings.CutPrefix(s.text[i:], "$(")
	if !ok {
		return
	}
	inside, _, ok = strings.Cut(inside, ")")
	root := inside
	if end := strings.IndexAny(root, ".["); end > 0 {
		root = root[:end]
	}
	if !ok || !x.scope.declares(root) {
		return
	}
	rng := s.at(i, i+len("$()")+len(inside))
	right := "${" + inside + "}"
	x.warn(diag.BadInterpolation, rng, "write `"+right+"` for the value; `$$(` is the text in any case", "`$(%s)` is text",
		inside)
}

// interpolation reads the `${…}` that begins at offset i of a scalar's text, and returns its expression and the
// offset at which it ends. It decides between Pulumi's grammar and HCL's (decision D6):
//
//   - a name that is declared is what Pulumi would take it for;
//   - with one exception: where a *member* holds blanks, as in `${res.count + 1}`, or is `*`, the stock host would look
//     for a member of that very name, which hardly anything can have. If all names of the text read as an expression
//     are declared, and the file itself writes no such key, it is an expression;
//   - what has operators, calls or literals is an expression;
//   - anything else is an undeclared name, for the checker to report.
func (x *exprReader) interpolation(s *scalar, i int) (ast.Expr, int) {
	access, f := scanAccess(s.text, i+2, true)
	if f == nil && access.chained() {
		// A name may end with a question mark, which a program that has such a name means.
		if whole, g := scanAccess(s.text, i+2, false); g == nil && whole.root.name != access.root.name &&
			x.scope.declares(whole.root.name) {
			access = whole
		} else {
			x.extension(s.at(i, access.end+1), "`?.` and `?[`")
		}
	}
	declared := f == nil && x.scope.declares(access.root.name)
	if f == nil && (declared && !access.odd() || !declared && access.plain()) {
		return s.access(i, access), access.end + 1
	}
	body, problem := x.parseOperators(s, i+2)
	if declared {
		if problem == nil && !body.traversal() && body.allDeclared() && !x.scope.writes(access) {
			return body.lowered(i), body.end + 1
		}
		return s.access(i, access), access.end + 1
	}
	end := len(s.text)
	switch brace := strings.IndexByte(s.text[i:], '}'); {
	case body != nil:
		end = body.end + 1
	case f == nil:
		end = access.end + 1
	case brace >= 0:
		end = i + brace + 1
	}
	operators := looksLikeOperators(s.text[i+2 : end])
	switch {
	case problem == nil && f == nil && (operators || body.allDeclared()), problem == nil && f != nil &&
		(!f.final || operators):
		return body.lowered(i), end
	case f == nil && !operators:
		return s.access(i, access), access.end + 1
	}
	if f != nil && (f.final || problem == nil || !operators) {
		problem = f
	}
	x.malformed(s, end, problem)
	return bad(s.at(i, end)), end
}

// fault is a fault in a part of a scalar's text.
type fault struct {
	from, to int
	summary  string
	detail   string
	final    bool // no other reading of the text would make sense
	open     bool // something is not closed
}

func (x *exprReader) malformed(s *scalar, end int, f *fault) {
	detail := f.detail
	if f.open || end >= len(s.text) {
		if torn := torn(x.text, s.node); torn != "" {
			detail = torn
		}
	}
	rng := s.whole
	if rng.IsZero() {
		from := min(f.from, len(s.text)-1)
		rng = s.at(from, max(f.to, from+1))
	}
	x.fail(diag.BadInterpolation, rng, detail, "%s", f.summary)
}

// torn describes why YAML has cut an unquoted text short, if it looks as if it had.
func torn(text []byte, n *node) string {
	if n.quoted() || n.multiline() {
		return ""
	}
	i := behindBlanks(text, n.end)
	rest := string(text[i:contentEnd(text, i)])
	if rest == "" || !strings.Contains(rest, "}") {
		return ""
	}
	return tornBy(rest[0])
}

// tornBy returns the advice for an expression that a character of YAML's has cut in two.
func tornBy(c byte) string {
	const advice = "; put the whole text in quotes: '${…}'"
	switch c {
	case '#':
		return "in a text without quotes, ` #` begins a comment" + advice
	case ':':
		return "in a text without quotes, `: ` ends a key" + advice
	}
	return "inside of brackets, a text without quotes ends at `" + string(c) + "`" + advice
}
