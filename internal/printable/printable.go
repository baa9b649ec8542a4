// Package printable makes text harmless for terminals and logs. Names, messages of providers and output of commands
// come from elsewhere; an escape sequence inside of them could move the cursor, hide or forge lines, set the clipboard
// or answer for the user.
//
// Line feeds and tabs stay. Sequences that set colours pass where colours are wanted and are left out elsewhere. Every
// other control character, the characters that turn the direction of writing around, and bytes that are no UTF-8 are
// written as Go writes them in a string: \x1b, \u202e, \xff.
package printable

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text returns text without colours and with every other control character made visible.
func Text(text string) string { return clean(text, false) }

// Colored is Text, but colours stay.
func Colored(text string) string { return clean(text, true) }

func clean(text string, colors bool) string {
	if plain(text) {
		return text
	}
	out, _ := filter(make([]byte, 0, len(text)+16), text, colors, true)
	return string(out)
}

// plain reports whether there is nothing to do, as there almost never is.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		if b := text[i]; b < ' ' && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}

// Writer makes what passes through it printable. It is safe for concurrent use.
type Writer struct {
	out    io.Writer
	colors func() bool

	mu   sync.Mutex // guards held and the order of writes
	held string     // a sequence or a character that is not complete: a few bytes
}

// NewWriter returns a Writer in front of out. colors tells whether colours pass; nil for never.
func NewWriter(out io.Writer, colors func() bool) *Writer { return &Writer{out: out, colors: colors} }

// Write takes all of p, or reports the error of the writer behind.
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

// longest is how many bytes a sequence for a colour may have.
const longest = 32

// filter appends text to dst. Unless text is all there is, it returns what has to wait for more.
func filter(dst []byte, text string, colors, all bool) (out []byte, rest string) {
	for i := 0; i < len(text); {
		if !all && !utf8.FullRuneInString(text[i:]) {
			return dst, text[i:]
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
			dst = append(dst, byte(r))
		case r == '\x1b':
			end, whole := sequence(text[i:])
			if !whole && !all && len(text)-i < longest {
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
			if !all && i+1 == len(text) {
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

// sequence is the length of the sequence for a colour that text begins with, 0 for none. It is not whole where more
// could make it one.
func sequence(text string) (length int, whole bool) {
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

// harmless reports whether parameters of a sequence do nothing but weight and colour of letters: none hides them.
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
