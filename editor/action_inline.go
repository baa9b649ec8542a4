package editor

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// inline offers to replace all uses of the variable at the selection by its value and to remove the variable. A
// variable is left alone if one of its uses cannot be replaced. A comment within it would be lost, and a call of a
// provider function would be made once for each use.
func inline(a *actor) []Action {
	n := a.p.at(a.path, a.start).node
	if n == nil || n.Variable == nil || n.Variable.Value == nil {
		return nil
	}
	uses := a.p.uses(n)
	declared, _, ok := a.place(n.Range)
	if !ok || len(uses) == 0 {
		return nil
	}
	trail := a.trail(declared, declared)
	if len(trail) < 2 {
		return nil
	}
	variable, section := trail[len(trail)-1], trail[len(trail)-2]
	if a.commented(int(variable.Key.Start), int(variable.Value.End)) || len(uses) > 1 &&
		!repeatable(a.p.Checked, n.Variable.Value) {
		return nil
	}
	inl := &inlining{actor: a, value: n.Variable.Value, span: variable, flowing: a.text.inFlow(trail)}
	inl.text, inl.prints = a.p.expression(n.Variable.Value)
	var edits []diag.Edit
	// All of them or none: the declaration is removed with the last use.
	for _, use := range uses {
		edit, ok := inl.edit(use)
		if !ok {
			return nil
		}
		edits = append(edits, edit)
	}
	edits = append(edits, a.without(section, a.text.json() || len(trail) > 2 && trail[0].Flow, variable)...)
	title := "Inline the variable " + n.Name
	return a.action(InlineAction, title, edits...)
}

// repeatable reports whether an expression may be evaluated more than once, because it calls no provider function. A
// call of a provider may give something else the second time, or cost something.
func repeatable(p *check.Program, e ast.Expr) bool {
	repeatable := true
	ast.Walk(e, func(e ast.Expr) bool {
		if c, ok := e.(*ast.Call); ok {
			known := p.Call(c)
			// A call that the checker has not resolved may be one of a provider.
			repeatable = repeatable && known != nil && known.Func != nil
		}
		return true
	})
	return repeatable
}

// inlining replaces the uses of one variable. It lives for one offer.
type inlining struct {
	*actor
	value   ast.Expr
	span    parser.Span
	flowing bool   // reports whether the variable is declared in flow style
	text    string // the value as an expression
	prints  bool   // reports whether text is valid
}

// edit returns the edit that replaces one use. It reports false if the value cannot be written there. A use that is a
// whole text is replaced by the value as it is written; one within an expression or a longer text by the value as an
// expression, which has to suit the notation around it: operators need parentheses, quotes are doubled or escaped, and
// a plain text must not get a colon or the beginning of a comment.
func (inl *inlining) edit(use *ast.Access) (diag.Edit, bool) {
	start, end, ok := inl.place(use.Root.Range)
	if !ok || int(inl.span.Range().Start) <= start && end <= int(inl.span.Range().End) { // the variable uses itself
		return diag.Edit{}, false
	}
	trail := inl.trail(start, end)
	if len(trail) == 0 || trail[len(trail)-1].Kind != parser.ScalarSpan {
		return diag.Edit{}, false
	}
	scalar := trail[len(trail)-1]
	if opening, closing, whole := braces(unquoted(scalar.Value)); whole && len(use.Steps) == 0 &&
		inl.actor.text.blank(int(opening.End), start) && inl.actor.text.blank(end, int(closing.Start)) {
		return inl.whole(trail)
	}
	if !inl.prints {
		return diag.Edit{}, false
	}
	text := inl.text
	switch inl.value.(type) {
	case *ast.Binary, *ast.Conditional, *ast.Unary:
		text = "(" + text + ")"
		// Nothing stands beside it in the braces, so that no operator can bind tighter.
		if _, _, alone := braces(diag.NewRange(inl.src, start, end)); alone && len(use.Steps) == 0 {
			text = inl.text
		}
	// Steps go into a value with members, which a literal has not.
	case *ast.String, *ast.Template, *ast.Number:
		if len(use.Steps) > 0 {
			return diag.Edit{}, false
		}
	}
	if s, ok := inl.value.(*ast.String); ok && plainName().MatchString(s.Value) {
		if opening, closing, alone := braces(diag.NewRange(inl.src, start, end)); alone {
			return inl.replace(int(opening.Start), int(closing.End), s.Value), true // part of a longer text
		}
	}
	switch raw := scalar.Value.Text(); {
	case raw[0] == '"':
		quoted := literal.JSON(text)
		// YAML reads the escapes of JSON.
		text = quoted[1 : len(quoted)-1]
	case raw[0] == '\'':
		text = strings.ReplaceAll(text, "'", "''")
	// In a block text every character stands for itself.
	case raw[0] == '|' || raw[0] == '>':
	// YAML would end a plain text there. Quotes around the whole text could be added, but would change texts beside it.
	case strings.Contains(text, ": ") || strings.Contains(text, " #"):
		return diag.Edit{}, false
	}
	return inl.replace(start, end, text), true
}

// whole replaces a text that consists of the use alone by the value. Where both are in the same notation, the text is
// moved as it stands, with its comments and quotes; from lines into brackets it is written anew.
func (inl *inlining) whole(trail []parser.Span) (diag.Edit, bool) {
	use := trail[len(trail)-1]
	raw, flowing := inl.span.Value.Text(), inl.actor.text.inFlow(trail)
	switch {
	case inl.span.Kind == parser.ScalarSpan && !strings.Contains(raw, "\n"):
		// A plain text may have characters that end it in brackets.
		if quoted := raw != "" && (raw[0] == '"' || raw[0] == '\''); flowing && !inl.flowing && !quoted {
			flow, ok := inl.p.flow(inl.value)
			return inl.replace(int(use.Value.Start), int(use.Value.End), flow), ok && !inl.actor.text.json()
		}
		return inl.replaceValue(use, raw)
	case inl.span.Flow || inl.flowing:
		return inl.replaceValue(use, raw)
	case flowing:
		flow, ok := inl.p.flow(inl.value)
		return inl.replace(int(use.Value.Start), int(use.Value.End), flow), ok && !inl.actor.text.json()
	case inl.span.Kind == parser.ScalarSpan:
		header, body, _ := strings.Cut(raw, "\n")
		// A plain or quoted text of several lines is folded by rules that depend on its place.
		if !strings.ContainsAny(header[:1], "|>") || strings.ContainsAny(header, "+123456789") || use.Key.IsZero() {
			return diag.Edit{}, false
		}
		body = strings.TrimSuffix(lines(unindented(body), inl.indentBelow(use)), "\n")
		return inl.replaceValue(use, header+"\n"+body)
	}
	moved, ok := inl.moved(int(inl.span.Value.Start), int(inl.span.Value.End), inl.indentBelow(use))
	if !ok {
		return diag.Edit{}, false
	}
	return inl.replaceBelow(use, moved)
}

// changeForm offers to write the function call at the selection in its other form: `fn::name:` or `${name(…)}`. The
// innermost call that fills its value is meant. A call within a longer text has no other form.
func changeForm(a *actor) []Action {
	trail := a.trail(a.start, a.end)
	for i := len(trail) - 1; i >= 0; i-- {
		s := trail[i]
		var call *ast.Call
		a.each(func(e ast.Expr, start, end int) {
			c, ok := e.(*ast.Call)
			if !ok || call != nil {
				return
			}
			_, closing, whole := braces(e.Range())
			// Ranges of expressions are of the file that was parsed, which Origins maps to the whole text.
			if r := a.p.File.Origins.Place(closing); whole && c.Argument == nil {
				end = int(r.End)
			}
			// A call in ${…} begins at most three bytes behind the start of the value: a quote and the opening brace.
			if c.Argument != nil && start == int(s.Value.Start) && end == int(s.Value.End) ||
				c.Argument == nil && whole && end >= int(s.Value.End)-1 && int(s.Value.Start) <= start &&
					start <= int(s.Value.Start)+3 {
				call = c
			}
		})
		if call == nil || a.commented(int(s.Value.Start), int(s.Value.End)) {
			continue
		}
		if call.Argument != nil {
			return a.toExpression(trail[:i+1], call)
		}
		return a.toFunction(trail[:i+1], call)
	}
	return nil
}

// toExpression offers the call of the last entry of trail in its `${…}` form, in quotes where YAML would read it
// otherwise.
func (a *actor) toExpression(trail []parser.Span, call *ast.Call) []Action {
	text, ok := a.p.expression(call)
	if !ok {
		return nil
	}
	text = "${" + text + "}"
	switch {
	case a.text.json():
		text = literal.JSON(text)
	case a.text.inFlow(trail) || dataIsNot(text, text):
		text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	edit, ok := a.replaceValue(trail[len(trail)-1], text)
	if !ok {
		return nil
	}
	return a.action(RewriteAction, "Write "+call.Name.Value+" inside of ${…}", edit)
}

// toFunction offers the call of the last entry of trail in its fn:: form. The printed argument is YAML on one line,
// which JSON files get converted.
func (a *actor) toFunction(trail []parser.Span, call *ast.Call) []Action {
	w := &printer{checked: a.p.Checked, locals: map[*ast.Local]string{}}
	argument, ok := w.argument(call)
	if !ok || w.fail {
		return nil
	}
	name, s := "fn::"+call.Name.Value, trail[len(trail)-1]
	var edit diag.Edit
	switch {
	case a.text.json():
		edit = a.replace(int(s.Value.Start), int(s.Value.End), `{"`+name+`": `+jsonOf(argument)+"}")
	case a.text.inFlow(trail):
		edit = a.replace(int(s.Value.Start), int(s.Value.End), "{"+name+": "+argument+"}")
	default:
		if edit, ok = a.replaceBelow(s, name+": "+argument); !ok {
			return nil
		}
	}
	return a.action(RewriteAction, "Write "+call.Name.Value+" as "+name, edit)
}

// argument formats the argument for the fn:: form of a call, as YAML on one line. It reports false if the call has no
// fn:: form.
func (w *printer) argument(call *ast.Call) (string, bool) {
	known := w.checked.Call(call)
	if known == nil || known.Func == nil || known.Func.Example == "" || call.Expanded || call.Argument == nil &&
		call.Args == nil {
		return "", false
	}
	if call.Argument != nil {
		return w.flow(call.Argument), true
	}
	f := known.Func
	// An argument in parentheses may be computed where the fn:: form wants a literal.
	if slices.ContainsFunc(f.Params, func(p builtins.Param) bool { return p.Literal }) {
		return "", false
	}
	switch {
	case f.Shape == builtins.Whole && len(call.Args) == 1:
		return w.flow(call.Args[0]), true
	case f.Shape == builtins.Positional:
		return w.flow(&ast.List{Items: call.Args}), true
	case f.Shape == builtins.Fields && !f.Variadic && len(call.Args) <= len(f.Params):
		var entries []string
		for i, arg := range call.Args {
			entries = append(entries, f.Params[i].Name+": "+w.flow(arg))
		}
		return "{" + strings.Join(entries, ", ") + "}", true
	}
	return "", false
}
