package builtins

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/value"
)

// yamlText returns a plain value as YAML that every reader of YAML 1.1 and 1.2 understands alike: lists and maps in
// blocks, texts of several lines as literal blocks where that is exact, other texts bare where nobody could take them
// for something else and between double quotes, as in JSON, where somebody could. Values without a JSON form have no
// YAML form either.
func yamlText(v value.Value) (string, error) {
	var b strings.Builder
	err := writeYAML(&b, v, "")
	return b.String(), err
}

// writeYAML writes v behind the text that is on the line already: nothing, "- " or "key:". indent is the indentation
// of the surrounding block.
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

// writeYAMLPart writes an item of a list or the value of a key, behind the dash or the colon.
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

// blockable reports whether a text has several lines and survives as a literal block: no white space that the block
// could lose or misread, nothing that is not printable.
func blockable(text string) bool {
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") || strings.HasSuffix(text, "\n\n") ||
		strings.Trim(text[:1], " \t\n") == "" {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !printable(r) })
}

// bare matches texts that no reader takes for anything else: they start with a letter, hold nothing that YAML knows,
// and are none of the words that some reader takes for a boolean, a number or null.
var (
	bare = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)
	})
	reserved = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$`)
	})
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
			fmt.Fprintf(&b, "\\u%04x", r) // JSON may hold what YAML may not
		}
	}
	return b.String(), err
}

// printable reports whether a character may stand in YAML as it is, and no reader takes it for a line end or loses it.
func printable(r rune) bool {
	return r >= ' ' && r < 0x7f || r >= 0xa0 && r != 0x2028 && r != 0x2029 && r != 0xfeff && r != 0xfffe && r != 0xffff
}

// unescapeHTML takes back the escapes that are needed only where JSON stands in a web page. A backslash is skipped
// together with what follows, so that an escaped backslash before u003c stays one.
var unescapeHTML = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
