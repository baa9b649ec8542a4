package pcl

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// plainScalar matches texts that YAML reads back as they are without quotes, in keys and in values, with room to spare.
var plainScalar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^[A-Za-z_./$][A-Za-z0-9_./${}\[\]()*+@=;&|<>?!^~-]*( [A-Za-z0-9_./${}()*+@=;&|<>?!^~-]+)*$`)
})

// reserved are words that YAML 1.1 or 1.2 readers take for something else than text.
var reserved = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	".inf": true, ".nan": true, "~": true,
}

var numberLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[.]?[0-9]`)
})

// Scalar returns a text as a YAML scalar that reads back as exactly that text: plain where that is safe, else in single
// quotes, else in double quotes.
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

// interpolationOnly matches a whole property access, which stays plain for the reader's sake.
var interpolationOnly = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_.-]*\}$`)
})

// singleLine reports whether a text may stand in single quotes on one line.
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

// escaped writes a character that quoted texts of YAML and of HCL escape alike, and reports whether r is one.
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
