package builtins

import (
	"fmt"
	"strings"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
	"github.com/yamlhost/yamlhost/internal/value"
)

// yamlText encodes a plain value as YAML that all parsers of YAML 1.1 and 1.2 read in the same way. Lists and maps are
// written in block style. Multi-line strings are literal blocks if that preserves them. Other strings are unquoted if
// they cannot be mistaken for anything else, and double-quoted as in JSON otherwise. Values without a JSON form return
// an error.
func yamlText(v value.Value) (string, error) {
	var b strings.Builder
	err := writeYAML(&b, v, "")
	return b.String(), err
}

// writeYAML writes v after the text that is already on the line: nothing, "-" or "key:". indent is the indentation of
// the surrounding block.
func writeYAML(b *strings.Builder, v value.Value, indent string) error {
	switch {
	case v.Is(value.KindList) && v.Len() > 0:
		items, _ := v.AsList()
		for i, item := range items {
			if i > 0 {
				b.WriteString(indent)
			}
			b.WriteString("-")
			if err := writeYAMLPart(b, item, indent, true); err != nil {
				return err
			}
		}
		return nil
	case v.Is(value.KindMap) && v.Len() > 0:
		for i, key := range v.Keys() {
			if i > 0 {
				b.WriteString(indent)
			}
			text, err := yamlScalar(value.String(key))
			if err != nil {
				return err
			}
			b.WriteString(text + ":")
			if err := writeYAMLPart(b, v.At(i), indent, false); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := yamlScalar(v)
	b.WriteString(text + "\n")
	return err
}

// writeYAMLPart writes a list item or the value of a key, after the dash or the colon.
func writeYAMLPart(b *strings.Builder, v value.Value, indent string, inList bool) error {
	text, _ := v.AsString()
	switch {
	case v.Len() > 0 && inList:
		b.WriteString(" ")
		return writeYAML(b, v, indent+"  ")
	case v.Len() > 0:
		b.WriteString("\n" + indent + "  ")
		return writeYAML(b, v, indent+"  ")
	case blockable(text):
		chomp := ""
		if !strings.HasSuffix(text, "\n") {
			chomp = "-"
		}
		b.WriteString(" |" + chomp + "\n")
		for line := range strings.Lines(text) {
			if line != "\n" {
				b.WriteString(indent + "  ")
			}
			b.WriteString(line)
		}
		if chomp != "" {
			b.WriteString("\n")
		}
		return nil
	}
	b.WriteString(" ")
	return writeYAML(b, v, indent)
}

// blockable reports whether a text has several lines and is preserved by a literal block: it has no leading or trailing
// white space that the block would lose, and only printable characters.
func blockable(text string) bool {
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") || strings.HasSuffix(text, "\n\n") ||
		strings.Trim(text[:1], " \t\n") == "" {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !printable(r) })
}

// bare matches strings that need no quotes unless they are reserved: they start with a letter and contain no YAML
// syntax. reserved matches words that some parser takes for a boolean, a number or null.
var (
	bare     = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	reserved = lazyregexp.New(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$`)
)

func yamlScalar(v value.Value) (string, error) {
	if text, ok := v.AsString(); ok && bare().MatchString(text) && !reserved().MatchString(text) {
		return text, nil
	}
	text, err := value.AppendJSON(nil, v)
	var b strings.Builder
	for _, r := range unescapeHTML.Replace(string(text)) {
		if printable(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r) // JSON allows characters that YAML does not
		}
	}
	return b.String(), err
}

// printable reports whether a character can be written in YAML unescaped without being taken for a line break or lost.
func printable(r rune) bool {
	return r >= ' ' && r < 0x7f || r >= 0xa0 && r != 0x2028 && r != 0x2029 && r != 0xfeff && r != 0xfffe && r != 0xffff
}

// unescapeHTML reverts the escapes that JSON only needs inside of HTML. It consumes escaped backslashes as pairs, so
// that a backslash before u003c is preserved.
var unescapeHTML = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
