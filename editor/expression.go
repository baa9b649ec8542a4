package editor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// printer formats expressions. It writes what the parser reads back as the same tree; whatever has no such text sets
// fail, and the caller offers nothing. One printer prints one expression: a fail of any part is a fail of the whole.
type printer struct {
	checked *check.Program
	locals  map[*ast.Local]string // text for the item of each splat
	fail    bool                  // set if an expression has no text in the wanted form
}

// expression formats e for use inside `${…}`. ok is false if e cannot be written there.
func (p *Program) expression(e ast.Expr) (text string, ok bool) {
	w := &printer{checked: p.Checked, locals: map[*ast.Local]string{}}
	text = w.expr(e)
	return text, !w.fail
}

// operand formats e, in parentheses if it has operators. It writes more parentheses than needed: precedence has not to
// be known here.
func (w *printer) operand(e ast.Expr) string {
	switch e.(type) {
	case *ast.Binary, *ast.Conditional, *ast.Unary:
		return "(" + w.expr(e) + ")"
	}
	return w.expr(e)
}

// expr formats an expression. The item of a splat is written as its source with [*], in place of the hidden local.
func (w *printer) expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Null:
		return "null"
	case *ast.Bool:
		return strconv.FormatBool(e.Value)
	case *ast.Number:
		return strconv.FormatFloat(e.Value, 'f', -1, 64)
	case *ast.String:
		return literal.Quoted(e.Value)
	case *ast.Template:
		// Inside of an expression a template is a text with interpolations of its own.
		return literal.QuotedTemplate(w.parts(e))
	case *ast.Access:
		return w.access(e)
	case *ast.LocalRef:
		if text, ok := w.locals[e.Local]; ok {
			return text
		}
		return e.Local.Name
	case *ast.Index:
		return w.operand(e.Collection) + mark(e.Optional) + "[" + w.expr(e.Key) + "]"
	case *ast.Member:
		// A dash in a name would be read as a minus in HCL's grammar.
		if !plainName().MatchString(e.Name.Value) {
			return w.operand(e.Object) + mark(e.Optional) + "[" + literal.Quoted(e.Name.Value) + "]"
		}
		return w.operand(e.Object) + mark(e.Optional) + "." + e.Name.Value
	case *ast.Unary:
		return e.Op + w.operand(e.Operand)
	case *ast.Binary:
		return w.operand(e.Left) + " " + e.Op + " " + w.operand(e.Right)
	case *ast.Conditional:
		return w.operand(e.Condition) + " ? " + w.operand(e.Then) + " : " + w.operand(e.Else)
	case *ast.List:
		return "[" + joined(e.Items, ", ", w.expr) + "]"
	case *ast.Map:
		return "{" + joined(e.Entries, ", ", func(entry ast.MapEntry) string {
			key := w.expr(entry.Key)
			if _, ok := entry.Key.(*ast.String); !ok {
				// Without parentheses HCL reads a name as a literal key.
				key = "(" + key + ")"
			}
			return key + " = " + w.expr(entry.Value)
		}) + "}"
	case *ast.For:
		return w.loop(e)
	case *ast.Splat:
		// Set before Each is printed, which has the item as its root.
		w.locals[e.Item] = w.operand(e.Source) + "[*]"
		return w.expr(e.Each)
	case *ast.Call:
		return w.call(e)
	}
	// Kinds that are not listed are faults, such as Bad.
	w.fail = true
	return ""
}

// parts returns the texts and expressions of a template.
func (w *printer) parts(e *ast.Template) []literal.Part {
	parts := make([]literal.Part, len(e.Parts))
	for i, part := range e.Parts {
		if s, ok := part.(*ast.String); ok {
			parts[i].Text = s.Value
		} else {
			parts[i].Expression = w.expr(part)
		}
	}
	return parts
}

// joined applies fn to each item and joins the results.
func joined[T any](items []T, sep string, fn func(T) string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fn(item)
	}
	return strings.Join(texts, sep)
}

// mark returns the question mark of an optional step.
func mark(optional bool) string {
	if optional {
		return "?"
	}
	return ""
}

// access formats a name with its steps. A root with a colon, as of configuration of another namespace, is a name in
// Pulumi's grammar only, and not within an expression.
func (w *printer) access(e *ast.Access) string {
	if !plainName().MatchString(e.Root.Value) {
		w.fail = true
		return ""
	}
	var b strings.Builder
	b.WriteString(e.Root.Value)
	for _, step := range e.Steps {
		b.WriteString(mark(step.Optional))
		switch {
		case step.IsIndex:
			b.WriteString("[" + strconv.Itoa(step.Index) + "]")
		// A quoted step stays quoted: the text may have a reason for it.
		case step.Quoted || !plainName().MatchString(step.Name):
			name, ok := literal.Name(step.Name)
			w.fail = w.fail || !ok
			b.WriteString("[" + name + "]")
		default:
			b.WriteString("." + step.Name)
		}
	}
	return b.String()
}

// loop formats a comprehension: in brackets as a list, in braces with a key as a map.
func (w *printer) loop(e *ast.For) string {
	names := e.ValueName.Name
	if e.KeyName != nil {
		names = e.KeyName.Name + ", " + names
	}
	text := "for " + names + " in " + w.expr(e.Collection) + " : "
	if e.Key != nil {
		text += w.expr(e.Key) + " => "
	}
	text += w.expr(e.Value)
	if e.Grouped {
		text += "..."
	}
	if e.Condition != nil {
		text += " if " + w.expr(e.Condition)
	}
	if e.Key != nil {
		return "{" + text + "}"
	}
	return "[" + text + "]"
}

// call formats a call. The parameters that a map of arguments names are put in their order, with null for those left
// out in between. Provider functions have no form in expressions.
func (w *printer) call(e *ast.Call) string {
	if strings.Contains(e.Name.Value, ":") {
		w.fail = true
		return ""
	}
	args := e.Args
	if e.Argument != nil {
		known := w.checked.Call(e)
		if known == nil || known.Func == nil || known.Func.Call == "" {
			w.fail = true
			return ""
		}
		args = known.Args
		// Trailing optional arguments are simply left out.
		for len(args) > 0 && args[len(args)-1] == nil {
			args = args[:len(args)-1]
		}
	}
	text := e.Name.Value + "(" + joined(args, ", ", func(arg ast.Expr) string {
		if arg == nil {
			return "null"
		}
		return w.expr(arg)
	})
	if e.Expanded {
		text += "..."
	}
	return text + ")"
}

// flow formats e as YAML flow style on one line. ok is false if e cannot be written so.
func (p *Program) flow(e ast.Expr) (text string, ok bool) {
	w := &printer{checked: p.Checked, locals: map[*ast.Local]string{}}
	text = w.flow(e)
	return text, !w.fail
}

// flow formats an expression in flow style. What has no notation of its own in YAML becomes a text with the expression
// in it.
func (w *printer) flow(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Null, *ast.Bool, *ast.Number:
		return w.expr(e)
	case *ast.String:
		return literal.Flow(literal.Text(e.Value))
	// Quoted in JSON's way, which is YAML's flow style too, as a text with ${ may have any character.
	case *ast.Template:
		return literal.JSON(literal.Template(w.parts(e)))
	case *ast.List:
		return "[" + joined(e.Items, ", ", w.flow) + "]"
	case *ast.Map:
		return "{" + joined(e.Entries, ", ", func(entry ast.MapEntry) string {
			return w.key(entry.Key) + ": " + w.flow(entry.Value)
		}) + "}"
	case *ast.Call:
		// A call keeps its notation in YAML where it has one, so that other hosts understand it.
		if argument, ok := w.argument(e); ok {
			return "{fn::" + e.Name.Value + ": " + argument + "}"
		}
	}
	return literal.JSON("${" + w.expr(e) + "}")
}

// key formats the key of a map for YAML flow style.
func (w *printer) key(e ast.Expr) string {
	if s, ok := e.(*ast.String); ok {
		return literal.Flow(literal.Key(s.Value))
	}
	return w.flow(e)
}

// dataIsNot reports whether the YAML value is anything but the string text. It asks the parser, because the rules by
// which YAML reads a plain text as something else are many.
func dataIsNot(yaml, text string) bool {
	// Inside of a map, since a text alone may be another document.
	e, diags := parser.Data(diag.NewSource("", []byte("k: "+yaml+"\n")))
	m, ok := e.(*ast.Map)
	if !ok || diags.HasErrors() || len(m.Entries) != 1 {
		return true
	}
	s, ok := m.Entries[0].Value.(*ast.String)
	return !ok || s.Value != text
}

// braces returns the ranges of `${` and `}` around an expression that fills them. r is the range of the expression,
// with or without them, or of a quoted text that they fill. ok is false for any other range. Ranges of expressions
// exclude or include the braces, depending on the grammar that has read them.
func braces(r diag.Range) (opening, closing diag.Range, ok bool) {
	if r.Source == nil {
		return
	}
	text := r.Source.Text()
	start, end := int(r.Start), int(r.End)
	// The range of a quoted scalar includes its quotes, that of a plain one has none.
	quoted := end-start > 2 && (text[start] == '"' || text[start] == '\'') && text[end-1] == text[start]
	if quoted && bytes.HasPrefix(text[start+1:], []byte("${")) {
		start, end = start+1, end-1
	}
	if !bytes.HasPrefix(text[start:end], []byte("${")) {
		for start > 0 && white(text[start-1]) {
			start--
		}
		for end < len(text) && white(text[end]) {
			end++
		}
		// The range has no braces of its own: they must stand right around it, apart from blanks.
		if start -= 2; start < 0 || !bytes.HasPrefix(text[start:], []byte("${")) {
			return
		}
		end++
	}
	if end > len(text) || end-start < 3 || text[end-1] != '}' {
		return
	}
	return diag.NewRange(r.Source, start, start+2), diag.NewRange(r.Source, end-1, end), true
}

// white reports whether c is white space of YAML or a line break.
func white(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
