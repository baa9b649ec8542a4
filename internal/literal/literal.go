// Package literal writes texts as literals of the language. It holds one law: what is written means what was read. For
// every text, the parser reads the literal as exactly that text. Whatever writes programs calls this package, so that
// no other knows which characters a program escapes.
//
// A text passes two forms on its way into a file. Text and Template return the content of a string, in which `$$` is a
// dollar sign and `${…}` a value. Scalar and Flow put such a content into YAML, in quotes if it needs them. Inside of
// `${…}`, Quoted and QuotedTemplate return string literals of the expression language, whose escapes are HCL's.
package literal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// Part is a part of a template: an expression, or a text if that is empty.
type Part struct{ Text, Expression string }

// Text returns the content of a string that means text. A dollar sign that stands alone remains as it is; a brace or
// another dollar sign behind it would give it a meaning, so all of these are doubled.
func Text(text string) string { return escaped(text, false) }

// escaped is Text; before reports whether `${` follows.
func escaped(text string, before bool) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] == '$' {
			end++
		}
		dollars := text[i:end]
		b.WriteString(dollars)
		if len(dollars) > 1 || len(dollars) == 1 &&
			(end < len(text) && text[end] == '{' || end == len(text) && before) {
			b.WriteString(dollars)
		}
		if i = end; i < len(text) {
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String()
}

// Key returns the content of a map key that means text. A text that begins with `fn::` would be a call.
func Key(text string) string {
	if call := "fn::"; len(text) >= len(call) && strings.EqualFold(text[:len(call)], call) {
		return "${" + Quoted(text) + "}"
	}
	return Text(text)
}

// Template returns the content of a string that is made of parts.
func Template(parts []Part) string {
	var b strings.Builder
	parts = merged(parts)
	for i, p := range parts {
		if p.Expression != "" {
			b.WriteString("${" + p.Expression + "}")
		} else {
			b.WriteString(escaped(p.Text, i+1 < len(parts)))
		}
	}
	return b.String()
}

// merged joins texts that follow each other: a dollar sign at the end of one may stand before a brace of the next.
func merged(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		switch n := len(out); {
		case p == Part{}:
		case p.Expression == "" && n > 0 && out[n-1].Expression == "":
			out[n-1].Text += p.Text
		default:
			out = append(out, p)
		}
	}
	return out
}

// Quoted returns text as a string literal of an expression.
func Quoted(text string) string { return QuotedTemplate([]Part{{Text: text}}) }

// QuotedTemplate returns a string literal of an expression that is made of parts.
func QuotedTemplate(parts []Part) string {
	var b strings.Builder
	b.WriteByte('"')
	parts = merged(parts)
	for i, p := range parts {
		if p.Expression != "" {
			b.WriteString("${" + p.Expression + "}")
			continue
		}
		text := p.Text
		if i+1 < len(parts) {
			text = strings.TrimRight(text, "$")
		}
		writeQuoted(&b, text)
		if dollars := p.Text[len(text):]; dollars != "" { // right before `${` they would escape it
			b.WriteString(`${"` + dollars + `"}`)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Name returns text in quotes for a step of a property access, `["name"]`. ok is false if there is no form that both
// Pulumi's grammar for accesses, which knows one escape only, and HCL's for expressions read as text.
func Name(text string) (quoted string, ok bool) {
	quoted = Quoted(text)
	return quoted, quoted == `"`+strings.ReplaceAll(text, `"`, `\"`)+`"` && !strings.Contains(text, `\`)
}

// writeQuoted writes text for a quoted string of an expression. The text remains printable and on one line, so that it
// can also stand in a scalar of YAML that is not quoted.
func writeQuoted(b *strings.Builder, text string) {
	for i, r := range text {
		switch {
		case quoteEscape(b, r):
		case (r == '$' || r == '%') && strings.HasPrefix(text[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		default:
			writePrintable(b, r)
		}
	}
}

// quoteEscape writes r if YAML, JSON and HCL have the same escape for it between quotes, and reports whether they do.
func quoteEscape(b *strings.Builder, r rune) bool {
	switch r {
	case '"', '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case '\n':
		b.WriteString(`\n`)
	case '\t':
		b.WriteString(`\t`)
	case '\r':
		b.WriteString(`\r`)
	default:
		return false
	}
	return true
}

// writePrintable writes r itself, or as an escape if YAML does not read it as it is. Characters beyond U+FFFF, for
// which JSON and YAML have different escapes, are all readable.
func writePrintable(b *strings.Builder, r rune) {
	if r > 0xffff || r != 0xfeff && (unicode.IsPrint(r) || unicode.Is(unicode.Co, r)) {
		b.WriteRune(r)
	} else {
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// plainScalar matches contents that are safe as plain scalars, in keys and in values. It leaves out some safe ones.
var plainScalar = lazyregexp.New(
	`^[A-Za-z_./$][A-Za-z0-9_./${}\[\]()*+@=;&|<>?!^~-]*( [A-Za-z0-9_./${}()*+@=;&|<>?!^~-]+)*$`)

// plainFlow matches contents that are safe as plain scalars between brackets as well.
var plainFlow = lazyregexp.New(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)

// reserved are the words that YAML 1.1 or 1.2 reads as something other than a string.
var reserved = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	".inf": true, ".nan": true, "~": true,
}

var numberLike = lazyregexp.New(`^[.]?[0-9]`)

// interpolationOnly matches a single property access, which stays plain because it is easier to read.
var interpolationOnly = lazyregexp.New(`^\$\{[A-Za-z_][A-Za-z0-9_.-]*\}$`)

// Scalar returns content as a scalar of YAML outside of brackets: plain if that is safe, else in single quotes, else in
// double quotes.
func Scalar(content string) string {
	switch {
	case content == "":
		return `""`
	case plainScalar().MatchString(strings.ReplaceAll(content, ":", "/")) && !strings.Contains(content, ": ") &&
		!strings.HasSuffix(content, ":") && !reserved[strings.ToLower(content)] && !numberLike().MatchString(content) &&
		!strings.HasPrefix(content, "${") || interpolationOnly().MatchString(content):
		return content
	case singleLine(content):
		return "'" + strings.ReplaceAll(content, "'", "''") + "'"
	}
	return JSON(content)
}

// Flow returns content as a scalar of YAML that may stand between brackets: plain if that is safe, else in double
// quotes.
func Flow(content string) string {
	if plainFlow().MatchString(content) && !reserved[strings.ToLower(content)] {
		return content
	}
	return JSON(content)
}

// singleLine reports whether a content can be a single-quoted scalar on one line.
func singleLine(content string) bool {
	if !utf8.ValidString(content) {
		return false
	}
	for _, r := range content {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// JSON returns content in double quotes, in a form that JSON and YAML read alike.
func JSON(content string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range content {
		if !quoteEscape(&b, r) {
			writePrintable(&b, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
