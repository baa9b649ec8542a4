package value

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The placeholders in printed values.
const (
	SecretText  = "[secret]"
	UnknownText = "[unknown]"
)

var (
	_ fmt.Stringer   = Value{}
	_ fmt.GoStringer = Value{}
	_ fmt.Formatter  = Value{}
)

// String returns v for display: similar to JSON, with SecretText for every secret and UnknownText for every unknown
// value. It is safe for logs, diffs, panics and failing tests.
func (v Value) String() string {
	var b strings.Builder
	v.print(&b)
	return b.String()
}

// GoString is String, so that no verb of package fmt shows a secret.
func (v Value) GoString() string { return v.String() }

// Format writes String for every verb of package fmt, and ignores width and flags.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) }

func (v Value) print(b *strings.Builder) {
	switch {
	case v.IsSecret():
		b.WriteString(SecretText)
		return
	case !v.IsKnown():
		b.WriteString(UnknownText)
		return
	}
	switch p := v.payload.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(p))
	case float64:
		b.WriteString(FormatNumber(p))
	case string:
		b.WriteString(strconv.Quote(p))
	case []Value:
		b.WriteByte('[')
		for i, item := range p {
			if i > 0 {
				b.WriteString(", ")
			}
			item.print(b)
		}
		b.WriteByte(']')
	case *fields:
		b.WriteByte('{')
		for i, key := range p.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(key) + ": ")
			p.values[i].print(b)
		}
		b.WriteByte('}')
	case *Asset:
		printSource(b, "asset", p.HasText, p.Text, p.Path, p.URI, p.Hash)
	case *Archive:
		if p.Assets.Is(KindMap) || p.Assets.IsSecret() || !p.Assets.IsKnown() {
			b.WriteString("archive(")
			p.Assets.print(b)
			b.WriteByte(')')
			return
		}
		printSource(b, "archive", false, "", p.Path, p.URI, p.Hash)
	case *ResourceRef:
		b.WriteString("resource(" + string(p.URN) + ")")
	}
}

func printSource(b *strings.Builder, kind string, hasText bool, text, path, uri, hash string) {
	source := "hash " + hash
	switch {
	case hasText:
		source = "text " + strconv.Quote(text)
	case path != "":
		source = "path " + strconv.Quote(path)
	case uri != "":
		source = "uri " + strconv.Quote(uri)
	}
	b.WriteString(kind + "(" + source + ")")
}
