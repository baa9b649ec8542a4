package printable

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{ // without and with colours
		"":                         {"", ""},
		"größer\n\t日本 🔑":           {"größer\n\t日本 🔑", "größer\n\t日本 🔑"},
		"\x1b[31mred\x1b[0m":       {"red", "\x1b[31mred\x1b[0m"},
		"\x1b[1;32mbold\x1b[m":     {"bold", "\x1b[1;32mbold\x1b[m"},
		"\x1b[8mhidden\x1b[30;40m": {"hidden", "hidden"},
		"\x1b[2Jgone\x1b[1A":       {`\x1b[2Jgone\x1b[1A`, `\x1b[2Jgone\x1b[1A`},
		"\x1b]0;title\x07\x1b]52;c;aGk=\x1b\\": {`\x1b]0;title\x07\x1b]52;c;aGk=\x1b\`,
			`\x1b]0;title\x07\x1b]52;c;aGk=\x1b\`},
		"\u009b2J\u0085\x7f\x00":           {`\u009b2J\u0085\u007f\x00`, `\u009b2J\u0085\u007f\x00`},
		"a\r\nb\rc\r":                      {"a\nb\\rc\\r", "a\nb\\rc\\r"},
		"user\u202egpj.exe\u2066\u2028":    {`user\u202egpj.exe\u2066\u2028`, `user\u202egpj.exe\u2066\u2028`},
		"\xff\xc3":                         {`\xff\xc3`, `\xff\xc3`},
		"\x1b":                             {`\x1b`, `\x1b`},
		"\x1b[" + strings.Repeat("1;", 40): {`\x1b[` + strings.Repeat("1;", 40), `\x1b[` + strings.Repeat("1;", 40)},
	} {
		require.Equal(t, want, [2]string{Text(text), Colored(text)}, "%q", text)
	}
}

// The output of a Writer does not depend on how a text is split into writes, and only colour sequences have an effect.
func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[31mb\x1b[2J\u009bgrößer\r\nc", 3)
	f.Add("\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m", 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = 1 + max(size, -size)%9
		if size <= 0 {
			size = 1
		}
		var out bytes.Buffer
		w := NewWriter(&out, func() bool { return true })
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			_, err := w.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		if whole := Colored(text); !strings.HasPrefix(whole, out.String()) {
			t.Errorf("%q: in pieces %q, at once %q", text, out.String(), whole)
		}
		for _, shown := range []string{Text(text), Text(Colored(text))} {
			if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool {
				return unicode.IsControl(r) &&
					r != '\n' && r != '\t'
			}) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}
