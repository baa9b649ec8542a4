// Package printable makes text safe for terminals and logs. Names, messages from providers and output of commands are
// not trusted: an escape sequence in them could move the cursor, hide or forge lines, set the clipboard or answer for
// the user.
//
// Line feeds and tabs are kept. Sequences that set colours are kept if colours are wanted and removed otherwise. Every
// other control character, the characters that change the direction of writing, and invalid UTF-8 are written in Go's
// notation: \x1b, \u202e, \xff.
package printable

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text returns text without colour sequences and with every other control character made visible.
func Text(text string) string { return clean(text, false) }

// Short is like Text for at most the first most characters of text; "…" replaces the others.
func Short(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return Text(text[:i]) + "…"
		}
	}
	return Text(text)
}

// Colored is like Text but keeps colour sequences.
func Colored(text string) string { return clean(text, true) }

func clean(text string, colors bool) string {
	if plain(text) {
		return text
	}
	out, _ := filter(make([]byte, 0, len(text)+16), text, colors, true)
	return string(out)
}

// plain reports whether text needs no change, which is nearly always the case.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		if b := text[i]; b < ' ' && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}

// Writer makes the text written to it printable and passes it on. It is safe for concurrent use.
type Writer struct {
	out    io.Writer
	colors func() bool

	mu   sync.Mutex // guards held and the order of writes
	held string     // an incomplete sequence or character at the end of the last write: a few bytes
}

// NewWriter returns a Writer that writes to out. colors reports whether colour sequences are kept; nil means that they
// never are.
func NewWriter(out io.Writer, colors func() bool) *Writer { return &Writer{out: out, colors: colors} }

// Write implements io.Writer. It consumes all of p or returns the error of the underlying writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == "" && plain(p) {
		return w.out.Write(p)
	}
	text, out := w.held+string(p), []byte(nil)
	out, w.held = filter(make([]byte, 0, len(text)+16), text, w.colors != nil && w.colors(), false)
	if len(out) > 0 {
		if _, err := w.out.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// longest is the maximum length of a colour sequence in bytes.
const longest = 32

// filter appends the printable form of text to dst. Unless final is set, it returns an incomplete sequence or character
// at the end of text as rest.
func filter(dst []byte, text string, colors, final bool) (out []byte, rest string) {
	for i := 0; i < len(text); {
		if !final && !utf8.FullRuneInString(text[i:]) {
			return dst, text[i:]
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
			dst = append(dst, byte(r))
		case r == '\x1b':
			end, whole := sequence(text[i:])
			if !whole && !final && len(text)-i < longest {
				return dst, text[i:]
			}
			if end == 0 {
				dst = append(dst, `\x1b`...)
				break
			}
			size = end
			if colors && harmless(text[i+2:i+end-1]) {
				dst = append(dst, text[i:i+end]...)
			}
		case r == '\r':
			if !final && i+1 == len(text) {
				return dst, text[i:]
			}
			if i+1 == len(text) || text[i+1] != '\n' {
				dst = append(dst, `\r`...)
			}
		case r == 0x7f:
			dst = append(dst, `\u007f`...) // escaped as in JSON, because the text may be JSON
		case r == utf8.RuneError && size == 1, r < 0x80:
			dst = fmt.Appendf(dst, `\x%02x`, text[i])
		case unicode.IsControl(r), r == '\u2028', r == '\u2029', r >= '\u202a' && r <= '\u202e', r >= '\u2066' &&
			r <= '\u2069':
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst, ""
}

// sequence returns the length of the colour sequence at the start of text, which begins with an escape character. It
// returns 0 if there is none. complete is false if more text could complete a sequence.
func sequence(text string) (length int, complete bool) {
	if len(text) == 1 {
		return 0, false
	}
	if text[1] != '[' {
		return 0, true
	}
	for i := 2; i < min(len(text), longest); i++ {
		switch b := text[i]; {
		case b == 'm':
			return i + 1, true
		case b != ';' && b != ':' && (b < '0' || b > '9'):
			return 0, true
		}
	}
	return 0, len(text) >= longest
}

// harmless reports whether the parameters of a sequence only set the weight and colour of text, and do not hide it.
func harmless(parameters string) bool {
	for p := range strings.SplitSeq(parameters, ";") {
		switch p {
		case "", "0", "00", "1", "01", "2", "3", "4", "22", "23", "24", "39",
			"30", "31", "32", "33", "34", "35", "36", "37", "90", "91", "92", "93", "94", "95", "96", "97":
		default:
			return false
		}
	}
	return true
}
