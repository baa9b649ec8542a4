package pcl

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// plainScalar matches texts that are safe as plain scalars, in keys and in values. It leaves out some safe ones.
var plainScalar = lazyregexp.New(
	`^[A-Za-z_./$][A-Za-z0-9_./${}\[\]()*+@=;&|<>?!^~-]*( [A-Za-z0-9_./${}()*+@=;&|<>?!^~-]+)*$`)

// reserved are the words that YAML 1.1 or 1.2 reads as something other than a string.
var reserved = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	".inf": true, ".nan": true, "~": true,
}

var numberLike = lazyregexp.New(`^[.]?[0-9]`)

// Scalar returns a YAML scalar that is read back as exactly text: plain if that is safe, else in single quotes, else in
// double quotes.
func Scalar(text string) string {
	switch {
	case text == "":
		return `""`
	case plainScalar().MatchString(strings.ReplaceAll(text, ":", "/")) && !strings.Contains(text, ": ") &&
		!strings.HasSuffix(text, ":") && !reserved[strings.ToLower(text)] && !numberLike().MatchString(text) &&
		!strings.HasPrefix(text, "${") || interpolationOnly().MatchString(text):
		return text
	case singleLine(text):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return doubleQuoted(text)
}

// interpolationOnly matches a single property access, which stays plain because it is easier to read.
var interpolationOnly = lazyregexp.New(`^\$\{[A-Za-z_][A-Za-z0-9_.-]*\}$`)

// singleLine reports whether a text can be a single-quoted scalar on one line.
func singleLine(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// doubleQuoted returns a text as a double-quoted scalar.
func doubleQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case escaped(&b, r):
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escaped writes r if quoted strings in YAML and HCL escape it in the same way, and reports whether they do.
func escaped(b *strings.Builder, r rune) bool {
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
