package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

func texts(secrets ...string) *Masker {
	m := New()
	for _, s := range secrets {
		m.LearnText(s)
	}
	return m
}

func TestHide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secrets    []string
		text, want string
	}{
		"nothing known":        {nil, "hunter2", "hunter2"},
		"empty text":           {[]string{"hunter2"}, "", ""},
		"one":                  {[]string{"hunter2"}, "got hunter2!", "got [secret]!"},
		"one contains another": {[]string{"hunter", "hunter2secret"}, "got hunter2secret", "got [secret]"},
		"the other order": {[]string{"hunter2secret", "hunter"}, "got hunter2secret, hunter",
			"got [secret], [secret]"},
		"in the middle of another":      {[]string{"2sec", "hunter2secret"}, "hunter2secret 2sec", "[secret] [secret]"},
		"at the end of another":         {[]string{"cret", "hunter2secret"}, "hunter2secre cret", "hunter2secre [secret]"},
		"overlapping":                   {[]string{"abcdef", "defghi"}, "-abcdefghi-", "-[secret]-"},
		"side by side":                  {[]string{"abcdef", "ghijkl"}, "abcdefghijkl", "[secret]"},
		"with itself":                   {[]string{"abab"}, "xababababx", "x[secret]x"},
		"begins like one":               {[]string{"abcdX", "bcdY"}, "abcdY", "a[secret]"},
		"short ones are not looked for": {[]string{"abc"}, "abcd abc", "abcd abc"},
		"short and the whole":           {[]string{"abc"}, " abc\n", " [secret]\n"},
		"spaces around do not count":    {[]string{"\n hunter2 \n"}, "hunter2", "[secret]"},
		"only spaces":                   {[]string{" \n \n     "}, "a b", "a b"},
		"lines": {[]string{"first line\r\n  second\nxy"}, "the second, first line: xy",
			"the [secret], [secret]: xy"},
		"without newlines":       {[]string{"ab\ncd\nef"}, "abcdef ab cd ef", "[secret] [secret]"},
		"with other newlines":    {[]string{"ab\ncd\nef"}, "ab\r\ncd\r\nef", "[secret]"},
		"bytes that are no text": {[]string{"\xff\xfe\xfd\xfc"}, "a\xff\xfe\xfd\xfcb", "a[secret]b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, texts(c.secrets...).Hide(c.text))
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	m := New(value.MapOf(
		value.Entry{Key: "password", Value: value.String("hunter2").Secret()},
		value.Entry{Key: "name", Value: value.String("public")},
		value.Entry{Key: "deep", Value: value.List(value.MapOf(value.Entry{Key: "inner",
			Value: value.String("deeper")})).Secret()},
		value.Entry{Key: "port", Value: value.Number(5432).Secret()},
		value.Entry{Key: "million", Value: value.Number(-1000000).Secret()},
		value.Entry{Key: "small", Value: value.Number(7).Secret()},
		value.Entry{Key: "on", Value: value.Bool(true).Secret()},
		value.Entry{Key: "file", Value: value.NewAsset(&value.Asset{Path: "keys/id_rsa"}).Secret()},
		value.Entry{Key: "text", Value: value.NewAsset(&value.Asset{Text: "asset text", HasText: true}).Secret()},
		value.Entry{Key: "folder", Value: value.NewArchive(&value.Archive{Assets: value.MapOf(
			value.Entry{Key: "page", Value: value.NewAsset(&value.Asset{URI: "https://host/page"})})}).Secret()},
	))
	for text, want := range map[string]string{
		"hunter2 deeper public":                       "[secret] [secret] public",
		"password, name, inner":                       "password, name, inner",
		"port 5432, db:5432, -5432, 5432.":            "port [secret], db:[secret], -[secret], [secret].",
		"154320 id5432 5432ms 1.5432 5432.1 1.5432.1": "154320 id5432 5432ms 1.5432 5432.1 1.5432.1",
		"5432.0 5.432e+03 5.432E+03 5432":             "[secret] [secret] [secret] [secret]",
		"1000000 1e+06 1E+06":                         "[secret] [secret] [secret]",
		"7 of 17 is true":                             "7 of 17 is true",
		"7":                                           "[secret]",
		"true\n":                                      "[secret]\n",
		"open keys/id_rsa: asset text":                "open [secret]: [secret]",
		"Get https://host/page":                       "Get [secret]",
	} {
		require.Equal(t, want, m.Hide(text), text)
	}
	shown := m.HideValue(value.MapOf(
		value.Entry{Key: "a", Value: value.String("the hunter2")}, value.Entry{Key: "b", Value: value.Number(5432)},
		value.Entry{Key: "c", Value: value.Number(7)}, value.Entry{Key: "d", Value: value.Bool(true)},
		value.Entry{Key: "e", Value: value.String("7")},
	))
	require.Equal(t, `{"a": "the [secret]", "b": "[secret]", "c": 7, "d": true, "e": "7"}`, shown.String())
}

// The forms that programs use, by name; the remaining part of the secret must be shorter than LeastText bytes.
func TestForms(t *testing.T) {
	t.Parallel()
	marshal := func(escape bool) func(string) string {
		return func(s string) string {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(escape)
			require.NoError(t, e.Encode(map[string]string{"k": s}))
			return b.String()
		}
	}
	encodings := map[string]func(string) string{
		"itself":      func(s string) string { return s },
		"Go":          func(s string) string { return fmt.Sprintf("%q", s) },
		"JSON":        marshal(true),
		"plain JSON":  marshal(false),
		"nested JSON": func(s string) string { return marshal(false)(marshal(false)(s)) },
		"query":       url.QueryEscape,
		"path":        url.PathEscape,
		"password":    func(s string) string { return url.UserPassword("me", s).String() },
		"lower case": func(s string) string {
			return strings.ToLower(url.QueryEscape("@@@@")) + smallPercents(url.QueryEscape(s))
		},
		"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
		"HEX":        func(s string) string { return fmt.Sprintf("%X", s) },
		"YAML":       func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
		"shell":      func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"shlex":      func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" },
		"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"raw url":    func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"basic auth": func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+s)) },
		"lines":      func(s string) string { return strings.ReplaceAll(s, "\n", "\n    | ") },
		"one line":   func(s string) string { return strings.ReplaceAll(s, "\n", "") },
	}
	for i := range 3 {
		encodings[fmt.Sprintf("base64 at %d", i)] = func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("~", i) + s + "~~~~"))
		}
	}
	for _, secret := range []string{
		"correct horse", "with \"quotes\" and 'more'", "<&>/?#+%@:;=$`\\|", "größer als 日本 🔑",
		"-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END KEY-----",
		"tab\tand\x00\x1b[31m", strings.Repeat("0123456789abcdef+/", 40), strings.Repeat("long & \"longer\"\n", 500),
	} {
		m := texts(secret)
		for name, encode := range encodings {
			encoded := encode(secret)
			hidden := m.Hide("before " + encoded + " after")
			require.Contains(t, hidden, "[secret]", "%s of %q", name, secret)
			// Nothing of the encoded secret is left except the encoding's own characters, and those that base64 mixes with the
			// neighbours of the secret.
			rest := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(hidden, "before "), " after"), "[secret]", "")
			rest = strings.NewReplacer("\n", "", " ", "", "|", "", "Basic", "", "me:", "", "//", "", "@", "", `{"k":`, "", "}",
				"", `"`, "", `'`, "", `\`, "").Replace(rest)
			require.Less(t, len(rest), 15, "%s of %q: %s", name, secret, hidden)
		}
	}
}

// The automata find the same as a naive search, for any order of learning and hiding.
func TestAgainstComparing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		word := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = "abc"[r.IntN(3)]
			}
			return string(b)
		}
		m := New()
		var secrets []string
		for range 1 + r.IntN(20) {
			s := word(LeastText + r.IntN(6))
			secrets = append(secrets, s)
			m.LearnText(s)
			text := word(r.IntN(60))
			require.Equal(t, compared(text, secrets), m.Hide(text), "%q in %q", secrets, text)

			var out bytes.Buffer
			w := NewWriter(&out, m)
			for rest := text; rest != ""; {
				n := 1 + r.IntN(len(rest))
				_, err := w.Write([]byte(rest[:n]))
				require.NoError(t, err)
				rest = rest[n:]
			}
			require.NoError(t, w.Flush())
			require.Equal(t, compared(text, secrets), out.String(), "%q in %q, in pieces", secrets, text)
		}
	}
}

// compared returns the expected result of Hide.
func compared(text string, secrets []string) string {
	hidden := make([]bool, len(text))
	for _, s := range secrets {
		for pos := range len(text) - len(s) + 1 {
			if text[pos:pos+len(s)] == s {
				for i := range s {
					hidden[pos+i] = true
				}
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(value.SecretText)
		}
	}
	return b.String()
}

func TestWriter(t *testing.T) {
	t.Parallel()
	random := make([]byte, 5000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte('!' + r.IntN(90))
	}
	long := string(random)
	m := New(value.Number(54321).Secret())
	for _, s := range []string{"hunter", "hunter2secret", long} {
		m.LearnText(s)
	}
	text := "got hunter2secret and hunt and hunter2 at 54321, 543210 and " + long + " then hunter" + long[1000:3000] + "."
	for size := 1; size < 200; size++ {
		var out bytes.Buffer
		w := NewWriter(&out, m)
		for pos := 0; pos < len(text); pos += size {
			n, err := w.Write([]byte(text[pos:min(pos+size, len(text))]))
			require.NoError(t, err)
			require.Equal(t, min(size, len(text)-pos), n)
		}
		require.NoError(t, w.Flush())
		require.True(t, strings.HasPrefix(out.String(),
			"got [secret] and hunt and [secret]2 at [secret], 543210 and [secret] then [secret]"), "%d: %.200s", size,
			out.String())
	}
	whole := m.Hide(text)
	require.Less(t, len(whole), len("got [secret] and hunt and [secret]2 at [secret], 543210 and [secret] then [secret].")+
		3*window, "a part of a long secret")
}

func TestWriterHoldsBackNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := NewWriter(&out, texts("hunter2"))
	for _, step := range []struct{ write, want string }{
		{"a line\n", "a line\n"}, {"and hun", "a line\nand "}, {"t", "a line\nand "}, {"s", "a line\nand hunts"},
		{" hunter2", "a line\nand hunts [secret]"},
	} {
		_, err := w.Write([]byte(step.write))
		require.NoError(t, err)
		require.Equal(t, step.want, out.String())
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	m := New()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				secret := fmt.Sprintf("secret-%d-%d", g, i)
				m.LearnText(secret)
				m.Learn(value.Number(float64(10000 + i)).Secret())
				if got := m.Hide("is " + secret); got != "is [secret]" {
					t.Errorf("%s was not hidden: %s", secret, got)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzHide(f *testing.F) {
	f.Add("hunter2", "hunter2secret", "got hunter2secret", 3)
	f.Fuzz(func(t *testing.T, a, b, text string, cut int) {
		m := texts(a, b)
		hidden := m.Hide(text)
		for _, s := range []string{a, b} {
			if s = strings.TrimSpace(s); len(s) >= LeastText && strings.Contains(text, s) &&
				!strings.Contains(hidden, value.SecretText) {
				t.Errorf("%q was not hidden in %q", s, text)
			}
		}
		var out bytes.Buffer
		w := NewWriter(&out, m)
		cut = min(max(cut, 0), len(text))
		_, _ = w.Write([]byte(text[:cut]))
		_, _ = w.Write([]byte(text[cut:]))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if want := string(whole(m, text)); out.String() != want {
			t.Errorf("in pieces %q, at once %q", out.String(), want)
		}
	})
}

// whole returns the output of a Writer for a text in one write.
func whole(m *Masker, text string) []byte {
	var out bytes.Buffer
	w := NewWriter(&out, m)
	_, _ = w.Write([]byte(text))
	_ = w.Flush()
	return out.Bytes()
}

// A secret stays readable inside a known name that is a separate word, and nowhere else.
func TestNamesAreNoValues(t *testing.T) {
	t.Parallel()
	m := New(value.String("left").Secret())
	const name = "urn:pulumi:dev::p::a:b:Left::left"
	m.LearnName(name, "a:b:left")
	for text, want := range map[string]string{
		name:                             name,
		"create \"" + name + "\": left":  "create \"" + name + "\": [secret]",
		name + ":\nleft":                 name + ":\n[secret]",
		"x" + name:                       "xurn:pulumi:dev::p::a:b:Left::[secret]",
		name + "left":                    "urn:pulumi:dev::p::a:b:Left::[secret]",
		"a:b:left, a:b:leftover":         "a:b:left, a:b:[secret]over",
		"urn:pulumi:dev::p::a:b:C::left": "urn:pulumi:dev::p::a:b:C::[secret]",
	} {
		require.Equal(t, want, m.Hide(text))
	}
}
