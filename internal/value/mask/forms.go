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

// longText is how long a form may be, in bytes, to be looked for as it is. Longer ones are found by their pieces.
const longText = 1024

// manyLines is up to how many bytes of a secret each of its lines is looked for in all forms, and not only as it is and
// as JSON has it.
const manyLines = 4096

// forms are the ways to write a secret text, without repetition, none shorter than LeastText.
func forms(text string) []string {
	all := written(text)
	if strings.ContainsAny(text, "\r\n") {
		unix := strings.ReplaceAll(text, "\r\n", "\n")
		lines := strings.Split(unix, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		all = append(all, written(unix)...)
		all = append(all, written(strings.ReplaceAll(unix, "\n", "\r\n"))...)
		all = append(all, written(strings.Join(lines, ""))...)
		all = append(all, written(strings.Join(lines, " "))...)
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

// written is one text as it is and as encodings have it.
func written(text string) []string {
	all := []string{text}
	all = append(all, quoted(text)...)
	all = append(all, percentEncoded(text)...)
	digits := hex.EncodeToString([]byte(text))
	all = append(all, digits, strings.ToUpper(digits))
	return append(all, inBase64(text)...)
}

// quoted is a text inside of quotes: in Go and JSON, in JSON inside of JSON, in YAML, XML and shells.
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

// inJSON is as Go writes it: with <, > and & as \u003c, \u003e and \u0026.
func inJSON(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		return text // no string makes it fail
	}
	return string(out[1 : len(out)-1])
}

var unHTML = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029")

// plainJSON is as most others write it.
func plainJSON(text string) string { return unHTML.Replace(inJSON(text)) }

// asciiJSON has nothing but ASCII, as Python writes it.
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

// backslashes is as the shells' printf %q writes it: a backslash before everything that a shell would not take for
// itself.
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

// percentEncoded is a text in an address: as a part of a path, in a query, as JavaScript's encodeURIComponent has it,
// and with everything encoded that may be; each with digits in capitals and not.
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

// keepFor encodes all but letters, digits and the bytes in keep.
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

// base64Lines are the lengths of lines into which programs break base64: MIME and base64(1), PEM.
var base64Lines = [...]int{76, 64}

// inBase64 is a text by itself in base64, in lines too, and what is certain of it in the middle of something longer,
// where it can begin at each of three places in a group: the characters that hold bits of nothing else.
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
	for before := range 3 {
		shifted := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		from, to := (before*8+5)/6, (before+len(text))*8/6
		all = append(all, shifted[from:to])
	}
	for _, form := range slices.Clone(all) {
		all = append(all, strings.NewReplacer("+", "-", "/", "_").Replace(form))
	}
	return all
}
