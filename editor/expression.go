package editor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// printer formats expressions.
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

// operand formats e, in parentheses if it has operators.
func (w *printer) operand(e ast.Expr) string {
	switch e.(type) {
	case *ast.Binary, *ast.Conditional, *ast.Unary:
		return "(" + w.expr(e) + ")"
	}
	return w.expr(e)
}

func (w *printer) expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Null:
		return "null"
	case *ast.Bool:
		return strconv.FormatBool(e.Value)
	case *ast.Number:
		return strconv.FormatFloat(e.Value, 'f', -1, 64)
	case *ast.String:
		return `"` + quotedText(e.Value) + `"`
	case *ast.Template:
		return `"` + w.template(e, quotedText) + `"`
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
		if !plainName().MatchString(e.Name.Value) {
			return w.operand(e.Object) + mark(e.Optional) + `["` + quotedText(e.Name.Value) + `"]`
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
				key = "(" + key + ")"
			}
			return key + " = " + w.expr(entry.Value)
		}) + "}"
	case *ast.For:
		return w.loop(e)
	case *ast.Splat:
		w.locals[e.Item] = w.operand(e.Source) + "[*]"
		return w.expr(e.Each)
	case *ast.Call:
		return w.call(e)
	}
	w.fail = true
	return ""
}

// template formats a template without quotes. escape is applied to its literal parts.
func (w *printer) template(e *ast.Template, escape func(string) string) string {
	return joined(e.Parts, "", func(part ast.Expr) string {
		if s, ok := part.(*ast.String); ok {
			return escape(s.Value)
		}
		return "${" + w.expr(part) + "}"
	})
}

// escapedDollars escapes a text for a string outside of an expression.
func escapedDollars(text string) string { return strings.ReplaceAll(text, "${", "$${") }

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
		case step.Quoted || !plainName().MatchString(step.Name):
			b.WriteString(`["` + quotedText(step.Name) + `"]`)
		default:
			b.WriteString("." + step.Name)
		}
	}
	return b.String()
}

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

var expressionEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{",
	"%%{")

// quotedText escapes a text for a quoted string in an expression.
func quotedText(text string) string { return expressionEscapes.Replace(text) }

// flow formats e as YAML flow style on one line. ok is false if e cannot be written so.
func (p *Program) flow(e ast.Expr) (text string, ok bool) {
	w := &printer{checked: p.Checked, locals: map[*ast.Local]string{}}
	text = w.flow(e)
	return text, !w.fail
}

func (w *printer) flow(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Null, *ast.Bool, *ast.Number:
		return w.expr(e)
	case *ast.String:
		return flowText(escapedDollars(e.Value))
	case *ast.Template:
		return jsonText(w.template(e, escapedDollars))
	case *ast.List:
		return "[" + joined(e.Items, ", ", w.flow) + "]"
	case *ast.Map:
		return "{" + joined(e.Entries, ", ", func(entry ast.MapEntry) string {
			return w.flow(entry.Key) + ": " + w.flow(entry.Value)
		}) + "}"
	case *ast.Call:
		if argument, ok := w.argument(e); ok {
			return "{fn::" + e.Name.Value + ": " + argument + "}"
		}
	}
	return jsonText("${" + w.expr(e) + "}")
}

// flowText formats a text for YAML flow style, in quotes if necessary.
func flowText(text string) string {
	if plainName().MatchString(text) && !dataIsNot(text, text) {
		return text
	}
	return jsonText(text)
}

// dataIsNot reports whether the YAML value is anything but the string text.
func dataIsNot(yaml, text string) bool {
	e, diags := parser.Data(diag.NewSource("", []byte("k: "+yaml+"\n")))
	m, ok := e.(*ast.Map)
	if !ok || diags.HasErrors() || len(m.Entries) != 1 {
		return true
	}
	s, ok := m.Entries[0].Value.(*ast.String)
	return !ok || s.Value != text
}

// jsonText quotes a text for JSON, which YAML reads too.
func jsonText(text string) string { return string(jsontext.AppendString(nil, text, false)) }

// braces returns the ranges of `${` and `}` around an expression that fills them. r is the range of the expression,
// with or without them, or of a quoted text that they fill. ok is false for any other range.
func braces(r diag.Range) (opening, closing diag.Range, ok bool) {
	if r.Source == nil {
		return
	}
	text := r.Source.Text()
	start, end := int(r.Start), int(r.End)
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

func white(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
