package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longText is the maximum length in bytes of a form that is searched verbatim. Longer forms are found by their pieces.
const longText = 1024

// manyLines is the maximum length in bytes of a secret whose lines are searched in all forms. The lines of a longer
// secret are only searched verbatim and in JSON.
const manyLines = 4096

// forms returns the ways to write a secret text, without duplicates and forms shorter than LeastText.
func forms(text string) []string {
	all := written(text)
	if strings.ContainsAny(text, "\r\n") {
		unix := strings.ReplaceAll(text, "\r\n", "\n")
		lines := strings.Split(unix, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		all = slices.Concat(all, written(unix), written(strings.ReplaceAll(unix, "\n", "\r\n")),
			written(strings.Join(lines, "")), written(strings.Join(lines, " ")))
		for _, line := range lines {
			if len(text) > manyLines {
				all = append(all, line, inJSON(line))
			} else if len(line) >= LeastText {
				all = append(all, written(line)...)
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(form string) bool { return len(form) < LeastText })
}

// written returns a text verbatim and in all encodings.
func written(text string) []string {
	digits := hex.EncodeToString([]byte(text))
	return slices.Concat([]string{text, digits, strings.ToUpper(digits)}, quoted(text), percentEncoded(text),
		inBase64(text))
}

// quoted returns a text as it appears inside quotes: in Go and JSON, in JSON inside JSON, in YAML, XML and shells.
func quoted(text string) []string {
	inGo := strconv.Quote(text)
	inGo = inGo[1 : len(inGo)-1]
	return []string{
		inGo, inJSON(text), plainJSON(text), asciiJSON(text), inJSON(inJSON(text)), plainJSON(plainJSON(text)),
		strings.ReplaceAll(text, "'", "''"),
		html.EscapeString(text), xmlNames.Replace(text),
		strings.ReplaceAll(text, "'", `'\''`), strings.ReplaceAll(text, "'", `'"'"'`), doubleQuotes.Replace(text),
		backslashes(text),
		strings.ReplaceAll(cEscapes.Replace(text), "'", `\'`), // $'…', also in Python
	}
}

var (
	xmlNames     = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")
	doubleQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	cEscapes     = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x1b", `\E`)
)

// inJSON returns a text in JSON as Go writes it: with <, > and & as \u003c, \u003e and \u0026.
func inJSON(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		return text // cannot happen for a string
	}
	return string(out[1 : len(out)-1])
}

var unHTML = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029")

// plainJSON returns a text in JSON as most other programs write it.
func plainJSON(text string) string { return unHTML.Replace(inJSON(text)) }

// asciiJSON returns a text in JSON with non-ASCII characters escaped, as Python writes it.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range plainJSON(text) {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		units := []rune{r}
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			units = []rune{high, low}
		}
		for _, u := range units {
			b.WriteString(`\u` + hex.EncodeToString([]byte{byte(u >> 8), byte(u)}))
		}
	}
	return b.String()
}

// backslashes returns a text as printf %q of shells writes it: with a backslash before every special character.
func backslashes(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf && r != '\n' && !isWord(byte(r)) && !strings.ContainsRune("%+-./:=@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// percentEncoded returns a text as part of a URL: in a path, in a query, as by JavaScript's encodeURIComponent, and
// with everything encoded that may be; each with upper-case and lower-case digits.
func percentEncoded(text string) []string {
	component := keepFor(text, "-_.!~*'()")
	all := []string{
		url.QueryEscape(text), url.PathEscape(text), component, keepFor(text, "-_.~"), keepFor(text, "-_.~/"),
		url.UserPassword("", text).String()[1:],
	}
	for _, form := range slices.Clone(all) {
		all = append(all, smallPercents(form))
	}
	return all
}

// keepFor percent-encodes all bytes but letters, digits and those in keep.
func keepFor(text, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c < utf8.RuneSelf && c != '_' && isWord(c) || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

func smallPercents(encoded string) string {
	out := []byte(encoded)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			out[i+1], out[i+2] = lower(out[i+1]), lower(out[i+2])
		}
	}
	return string(out)
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'F' {
		return b + 'a' - 'A'
	}
	return b
}

// base64Lines are the usual line lengths of base64: MIME and base64(1), PEM.
var base64Lines = [...]int{76, 64}

// inBase64 returns a text in base64, alone and in lines, and the part that is the same wherever the text occurs inside
// a longer encoded text: for each of the three alignments, the characters that depend on no other bytes.
func inBase64(text string) []string {
	alone := base64.RawStdEncoding.EncodeToString([]byte(text))
	all := []string{alone, alone + "===="[:(4-len(alone)%4)%4]}
	for _, width := range base64Lines {
		for rest := alone; len(alone) > width && rest != ""; {
			n := min(width, len(rest))
			all = append(all, rest[:n])
			rest = rest[n:]
		}
	}
	for offset := range 3 {
		shifted := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), text...))
		from, to := (offset*8+5)/6, (offset+len(text))*8/6
		all = append(all, shifted[from:to])
	}
	for _, form := range slices.Clone(all) {
		all = append(all, strings.NewReplacer("+", "-", "/", "_").Replace(form))
	}
	return all
}
