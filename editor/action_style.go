package editor

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/literal"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// changeStyle offers to write the map or list at the selection as JSON or as YAML in block style. The text is read as
// plain data and written anew, so that interpolations stay as they are written; comments would be lost, and so a text
// with any is left alone.
func changeStyle(a *actor) []Action {
	trail := a.trail(a.start, a.end)
	if len(trail) < 2 || a.text.json() {
		return nil
	}
	s := trail[len(trail)-1]
	start, end := int(s.Value.Start), int(s.Value.End)
	// The cursor on the key or at the beginning of the value is enough: the whole value need not be selected.
	if onKey := !s.Key.IsZero() && a.end <= int(s.Key.End); !onKey && a.start != start && !a.selects(s) {
		return nil
	}
	if a.commented(start, end) || s.Kind != parser.MapSpan && s.Kind != parser.ListSpan || a.text.inFlow(trail) ||
		len(s.Children) == 0 {
		return nil
	}
	data, ok := a.data(start, end)
	if !ok {
		return nil
	}
	var edit diag.Edit
	form := " as JSON"
	if s.Flow {
		form = " in lines"
		text := strings.TrimSuffix(writeYAML(data, a.indentBelow(s)), "\n")
		// replaceBelow indents the first line by itself.
		edit, ok = a.replaceBelow(s, strings.TrimLeft(text, " "))
	} else {
		edit, ok = a.replaceValue(s, writeJSON(data, -1))
	}
	if !ok {
		return nil
	}
	return a.action(RewriteAction, "Write "+a.called(s)+form, edit)
}

// called returns the name of an entry for a title.
func (a *actor) called(s parser.Span) string {
	if s.Key.IsZero() {
		return "the item"
	}
	return s.Name
}

// data parses the bytes from start to end as plain data, without interpolation.
func (a *actor) data(start, end int) (ast.Expr, bool) {
	// The first line begins in the middle of a line of the file, and the others are indented as they are there.
	text := strings.Repeat(" ", a.text.column(start)) + string(a.text[start:end]) + "\n"
	data, diags := parser.Data(diag.NewSource("", []byte(text)))
	return data, !diags.HasErrors()
}

// changeFile offers to convert the whole file from YAML to JSON or back. It is offered in the first line only:
// elsewhere it would be in every menu.
func changeFile(a *actor) []Action {
	if a.start > a.text.lineEnd(0) || len(a.spans) == 0 || a.commented(0, len(a.text)) {
		return nil
	}
	data, diags := parser.Data(a.src)
	// Aliases and merge keys are expanded in data, so the new text has what they stand for.
	if _, isMap := data.(*ast.Map); !isMap || diags.HasErrors() {
		return nil
	}
	title, text, ext := "Write the file as JSON", "", ".json"
	if a.text.json() {
		title, text, ext = "Write the file as YAML", writeYAML(data, 0), ".yaml"
	} else {
		text = writeJSON(data, 0) + "\n"
	}
	offered := a.action(RewriteAction, title, a.replace(0, len(a.text), text))
	// A file with another ending keeps its name, for what it means is not known here.
	if oldExt := filepath.Ext(a.path); oldExt != ext && (oldExt == ".yaml" || oldExt == ".yml" || oldExt == ".json") {
		offered[0].Renamed = strings.TrimSuffix(a.path, oldExt) + ext
	}
	return offered
}

// writeJSON formats data as JSON, on one line if indent is negative.
func writeJSON(e ast.Expr, indent int) string {
	// On one line everything inside is on one line, too.
	inner, separator, open := -1, ", ", ""
	closing := ""
	if indent >= 0 {
		inner = indent + 2
		open = "\n" + strings.Repeat(" ", inner)
		separator, closing = ","+open, "\n"+strings.Repeat(" ", indent)
	}
	switch e := e.(type) {
	case *ast.Map:
		if len(e.Entries) == 0 {
			return "{}"
		}
		return "{" + open + joined(e.Entries, separator, func(entry ast.MapEntry) string {
			return literal.JSON(keyText(entry.Key)) + ": " + writeJSON(entry.Value, inner)
		}) + closing + "}"
	case *ast.List:
		if len(e.Items) == 0 {
			return "[]"
		}
		return "[" + open + joined(e.Items, separator, func(item ast.Expr) string { return writeJSON(item, inner) }) +
			closing + "]"
	}
	return scalarJSON(e)
}

// scalarJSON formats a scalar as JSON. A number keeps its spelling if JSON has it, so that 1.0 stays 1.0.
func scalarJSON(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.String:
		return literal.JSON(e.Value)
	case *ast.Bool:
		return strconv.FormatBool(e.Value)
	case *ast.Number:
		if raw := e.Range().Text(); json.Valid([]byte(raw)) {
			return raw
		}
		return strconv.FormatFloat(e.Value, 'f', -1, 64)
	}
	return "null"
}

// keyText returns a map key as text.
func keyText(e ast.Expr) string {
	if s, ok := e.(*ast.String); ok {
		return s.Value
	}
	return e.Range().Text()
}

// writeYAML formats a map or list in block style, indented. The first entry of a map in a list stands behind its dash.
func writeYAML(e ast.Expr, indent int) string {
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	switch e := e.(type) {
	case *ast.Map:
		for _, entry := range e.Entries {
			b.WriteString(pad + yamlText(keyText(entry.Key)) + ":" + yamlValue(entry.Value, indent+2))
		}
	case *ast.List:
		for _, item := range e.Items {
			text := yamlValue(item, indent+2)
			if strings.HasPrefix(text, "\n") {
				// The other lines are indented for it: a dash and a space are as wide as one level.
				text = " " + strings.TrimLeft(text, "\n ")
			}
			b.WriteString(pad + "-" + text)
		}
	}
	return b.String()
}

// yamlValue formats a value to follow a colon or a dash, with a line break at its end.
func yamlValue(e ast.Expr, indent int) string {
	switch e := e.(type) {
	case *ast.Map:
		if len(e.Entries) > 0 {
			return "\n" + writeYAML(e, indent)
		}
		return " {}\n"
	case *ast.List:
		if len(e.Items) > 0 {
			return "\n" + writeYAML(e, indent)
		}
		return " []\n"
	case *ast.String:
		if text, ok := literalBlock(e.Value, indent); ok {
			return text
		}
		return " " + yamlText(e.Value) + "\n"
	}
	return " " + scalarJSON(e) + "\n"
}

// literalBlock formats a text as a literal block scalar. It reports false if the text has one line or YAML would not
// read it back unchanged. It is tried by reading it back: trailing blanks, tabs and empty lines have rules of their
// own.
func literalBlock(text string, indent int) (string, bool) {
	if !strings.Contains(text, "\n") || text[0] == ' ' || text[0] == '\n' {
		return "", false
	}
	sign, body := " |\n", strings.TrimSuffix(text, "\n")
	if body == text {
		// Without the dash the block would end with a line break, which the text has not.
		sign = " |-\n"
	}
	block := sign + lines(body, indent)
	// Below a key, with the indentation that it will have.
	e, diags := parser.Data(diag.NewSource("", []byte(strings.Repeat(" ", max(indent-2, 0))+"k:"+block)))
	m, ok := e.(*ast.Map)
	if !ok || diags.HasErrors() || len(m.Entries) != 1 {
		return "", false
	}
	s, ok := m.Entries[0].Value.(*ast.String)
	return block, ok && s.Value == text
}

// yamlText formats a text on one line, plain if YAML reads it back unchanged, else in quotes.
func yamlText(text string) string {
	if strings.ContainsAny(text, "\n\r\t") || text == "" || dataIsNot(text, text) {
		return literal.JSON(text)
	}
	return text
}
