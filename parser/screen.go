package parser

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/yamlhost/yamlhost/diag"
)

// maxDepth is how deep collections may nest. Nothing that people or their generators write comes near it, and it keeps
// every recursion of every later pass short.
const maxDepth = 1000

var byteOrderMark = []byte("\uFEFF")

// textStart is where a text begins, behind byte order marks.
func textStart(text []byte) int {
	start := 0
	for bytes.HasPrefix(text[start:], byteOrderMark) {
		start += len(byteOrderMark)
	}
	return start
}

// screen reports what is not fit to be read as YAML at all, before a reader sees it that is slow, confused or
// misleading about it: binary data, another encoding, nesting without end. It answers false for such a text.
func (p *parser) screen() bool {
	if len(p.text) > math.MaxInt32-1 {
		p.fail(diag.RunawayInput, p.at(0, 0), "a program may have two gigabytes at most", "the file is too large")
		return false
	}
	if bytes.HasPrefix(p.text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(p.text, []byte{0xFE, 0xFF}) {
		p.fail(diag.RunawayInput, p.at(0, 2), "save the file as UTF-8", "the file is encoded as UTF-16, not as UTF-8")
		return false
	}
	if !p.screenCharacters() {
		return false
	}
	p.lexed = lex(p.text)
	if deep := p.lexed.tooDeep; deep >= 0 {
		p.fail(diag.RunawayInput, p.at(deep, deep+1), "simplify the structure",
			"more than %d lists and maps inside each other", maxDepth)
		return false
	}
	return true
}

func (p *parser) screenCharacters() bool {
	for i := 0; i < len(p.text); {
		c := p.text[i]
		if c >= ' ' && c <= '~' || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(p.text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			p.fail(diag.RunawayInput, p.at(i, i+1), "save the file as UTF-8; bytes that are no text belong in a file that"+
				" `fn::filebase64` reads", "the byte 0x%02X is not valid UTF-8", c)
			return false
		case r == 0:
			p.fail(diag.RunawayInput, p.at(i, i+1), "the file holds binary data and is no program",
				"a NUL byte cannot be part of a program")
			return false
		case !printable(r):
			p.fail(diag.RunawayInput, p.at(i, i+size), "in a double-quoted text, write it as an escape such as \"\\u001b\"",
				"the control character U+%04X cannot be part of a program", r)
			return false
		}
		i += size
	}
	return true
}

// printable are the characters that YAML 1.2 lets a text contain.
func printable(r rune) bool {
	return r == 0x85 || r >= 0xA0 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}

// printableText reports whether a text holds nothing that screenCharacters refuses.
func printableText(text []byte) bool {
	p := &parser{src: diag.NewSource("", nil), text: text}
	return p.screenCharacters()
}
