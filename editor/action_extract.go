package editor

import (
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// extract offers to move the selection, which is a value, its entry or a part of an expression, into a variable or a
// configuration value. It is offered where an expression may stand, and not for keys, types or options, whose values
// must be literal or known early.
func extract(a *actor) []Action {
	if a.start == a.end {
		return nil
	}
	trail := a.trail(a.start, a.end)
	component, section, _, rest := scope(names(trail))
	// Without a rest it is a whole declaration: a variable has a name already, but an output is only a value.
	if len(rest) == 0 && section != "outputs" || section != "resources" && section != "variables" && section != "outputs" {
		return nil
	}
	if section == "resources" && !strings.EqualFold(rest[0], "properties") && !strings.EqualFold(rest[0], "get") {
		return nil
	}
	last := trail[len(trail)-1]
	if strings.HasPrefix(last.Name, "fn::") { // such a call is extracted as a whole
		return nil
	}
	x := &extraction{actor: a, trail: trail, component: component, body: bodyNamed(a.p.Checked, component)}
	for i := len(trail) - 1; i >= 0 && x.name == ""; i-- {
		if !trail[i].Key.IsZero() {
			x.name = trail[i].Name
		}
	}
	// A whole value can move as it is written, a part of one only as an expression.
	if a.selects(last) {
		if x.free(int(last.Value.Start), int(last.Value.End)) {
			return append(x.variable(last), x.config(last)...)
		}
		return nil
	}
	return x.part(last)
}

// selects reports whether the selection is exactly an entry, its value, or the value without its quotes.
func (a *actor) selects(s parser.Span) bool {
	for _, r := range []diag.Range{s.Range(), s.Value, unquoted(s.Value)} {
		if int(r.Start) == a.start && int(r.End) == a.end {
			return true
		}
	}
	return false
}

// extraction makes the declaration and the reference that replace a value.
type extraction struct {
	*actor
	trail     []parser.Span
	component string
	body      *check.Program
	name      string // innermost key around the value
}

// free reports whether the bytes from start to end mean the same elsewhere: they use no local that is bound outside of
// them, and no name that only their context has. `each`, `args` and the locals of loops would have no meaning in a
// variable.
func (x *extraction) free(start, end int) bool {
	free := true
	x.each(func(e ast.Expr, from, to int) {
		if from < start || end < to {
			return
		}
		switch e := e.(type) {
		case *ast.LocalRef:
			i, _, ok := x.place(e.Local.Range)
			free = free && ok && start <= i && i < end
		case *ast.Access:
			kind := x.p.Checked.Ref(e).Kind
			free = free && (kind == check.RefNode || kind == check.RefPulumi)
		case *ast.Bad:
			free = false
		}
	})
	return free
}

// flowOf formats the value of s in flow style. It reports false for values of several lines, anchors, aliases and tags.
// Anchors and aliases are refused: they may be used elsewhere in the text.
func (x *extraction) flowOf(s parser.Span) (string, bool) {
	text := s.Value.Text()
	if !strings.Contains(text, "\n") && (x.text.inFlow(x.trail) || s.Flow || strings.HasPrefix(text, `"`) ||
		strings.HasPrefix(text, "'")) {
		return text, true
	}
	if s.Kind == parser.ScalarSpan && !strings.Contains(text, "\n") {
		if strings.ContainsAny(text, "{}[],:#'\"\\&*!|>%@`") {
			return literal.JSON(text), !strings.HasPrefix(text, "&") && !strings.HasPrefix(text, "*") &&
				!strings.HasPrefix(text, "!")
		}
		return text, true
	}
	return "", false
}

// variable offers a variable with the value of s. The text is moved as it was written, quotes and block style included;
// only its indentation is new. A block text with an indentation indicator is not offered, because the indicator would
// be wrong then.
func (x *extraction) variable(s parser.Span) []Action {
	name := x.unused(x.body, x.name)
	start, end := int(s.Value.Start), int(s.Value.End)
	text := name + ": " + s.Value.Text()
	if s.Kind != parser.ScalarSpan && !s.Flow && (strings.Contains(s.Value.Text(), "\n") || !x.text.json()) {
		moved, ok := x.moved(start, end, 2)
		if !ok {
			return nil
		}
		text = name + ":\n  " + moved
	} else if strings.Contains(text, "\n") {
		header, body, _ := strings.Cut(s.Value.Text(), "\n")
		if s.Kind != parser.ScalarSpan || !strings.ContainsAny(s.Value.Text()[:1], "|>") ||
			strings.ContainsAny(header, "+123456789") {
			return nil
		}
		text = name + ": " + header + "\n" + lines(unindented(body), 2)
	}
	flow, flows := x.flowOf(s)
	return x.named(s, name, "variables", text, flow, flows, "Extract to the variable "+name)
}

// unindented removes the indentation that all non-empty lines of a text share.
func unindented(text string) string {
	all := strings.Split(text, "\n")
	least := -1
	for _, line := range all {
		if indent := len(line) - len(strings.TrimLeft(line, " ")); strings.TrimSpace(line) != "" &&
			(least < 0 || indent < least) {
			least = indent
		}
	}
	for i, line := range all {
		all[i] = line[min(max(least, 0), len(line)-len(strings.TrimLeft(line, " "))):]
	}
	return strings.Join(all, "\n")
}

// named returns the action that declares a value under a name and replaces the value by a reference. Which of the two
// texts is needed depends on the section that is there already: in lines or in brackets.
func (x *extraction) named(s parser.Span, name, section, text, flow string, flows bool, title string) []Action {
	declared, ok := x.declare(x.component, section, text, x.flowKey(name)+": "+flow, int(s.Range().Start))
	if !ok || !flows && (strings.Contains(declared.Text, "{"+x.flowKey(name)) ||
		strings.HasPrefix(declared.Text, ", ")) {
		return nil
	}
	reference := "${" + name + "}"
	if x.text.inFlow(x.trail) {
		reference = literal.JSON(reference)
	}
	used, ok := x.replaceValue(s, reference)
	if !ok {
		return nil
	}
	return x.action(ExtractAction, title, declared, used)
}

// flowKey formats a key for the file's flow style or JSON.
func (a *actor) flowKey(name string) string {
	if a.text.json() {
		return literal.JSON(name)
	}
	return name
}

// flowValue formats a text for the file's flow style or JSON.
func (a *actor) flowValue(text string) string {
	if a.text.json() {
		return literal.JSON(text)
	}
	return literal.Flow(text)
}

// config offers a configuration value, or an input of the component, with the literal as its default. Only literals can
// be defaults that a stack replaces by a text.
func (x *extraction) config(s parser.Span) []Action {
	if s.Kind != parser.ScalarSpan || strings.Contains(s.Value.Text(), "\n") {
		return nil
	}
	kind := ""
	x.each(func(e ast.Expr, start, end int) {
		if start != int(s.Value.Start) || end != int(s.Value.End) {
			return
		}
		switch e := e.(type) {
		case *ast.String:
			kind = "string"
		case *ast.Bool:
			kind = "boolean"
		case *ast.Number:
			kind = "number"
			if e.Integer {
				kind = "integer"
			}
		}
	})
	if kind == "" || strings.Contains(s.Value.Text(), "$") {
		return nil
	}
	name := x.unused(x.body, x.name)
	section, title := "config", "Extract to the configuration value "+name
	if x.component != "" {
		section, title = "inputs", "Extract to the input "+name
	}
	flow, ok := x.flowOf(s)
	if !ok {
		return nil
	}
	text := name + ":\n  type: " + kind + "\n  default: " + s.Value.Text()
	inBrackets := "{type: " + kind + ", default: " + flow + "}"
	if x.text.json() {
		inBrackets = `{"type": "` + kind + `", "default": ` + flow + "}"
	}
	return x.named(s, name, section, text, inBrackets, true, title)
}

// part offers a variable for the selected part of an expression inside `${…}`. In a block text nothing is offered: its
// lines are not the value's.
func (x *extraction) part(s parser.Span) []Action {
	if s.Kind != parser.ScalarSpan || strings.HasPrefix(s.Value.Text(), "|") || strings.HasPrefix(s.Value.Text(), ">") {
		return nil
	}
	var found ast.Expr
	x.each(func(e ast.Expr, start, end int) {
		if _, text := e.(*ast.String); start == x.start && end == x.end && !text {
			found = e
		}
	})
	if found == nil || !x.free(x.start, x.end) || strings.Contains(string(x.text[x.start:x.end]), "\n") {
		return nil
	}
	name := x.unused(x.body, x.name)
	value := "${" + string(x.text[x.start:x.end]) + "}"
	quote := ""
	if first := s.Value.Text()[0]; first == '"' || first == '\'' {
		quote = string(first)
	}
	flow := quote + value + quote
	if quote == "" {
		flow = literal.JSON(value)
	}
	declared, ok := x.declare(x.component, "variables", name+": "+quote+value+quote, x.flowKey(name)+": "+flow,
		int(s.Range().Start))
	if !ok {
		return nil
	}
	if opening, closing, whole := braces(diag.NewRange(x.src, x.start, x.end)); whole &&
		int(opening.Start) == x.start &&
		int(closing.End) == x.end {
		return nil // the selection includes the braces, so the name alone would not be a reference
	}
	return x.action(ExtractAction, "Extract to the variable "+name, declared, x.replace(x.start, x.end, name))
}
