package parser

import (
	"bytes"
	"slices"
)

// The YAML parser returns no tree after a syntax error. So that one error does not hide all others, the line with the
// error is made harmless and the text is parsed again. Repairs preserve the length of the text, so that all positions
// remain valid: a value is overwritten with letters and then represented by an ast.Bad; a missing colon replaces the
// last letter of the key; if neither helps, the line is blanked.

// maxRepairs is the maximum number of repairs. If a text has more errors, or one that cannot be repaired, only its
// first error is reported.
const maxRepairs = 20

// repair is an overwritten range of the text.
type repair struct {
	start, end int
	line       int
	key        string // the key that got a colon; empty for other repairs
	blanked    bool   // the whole line was blanked
}

// repairs holds the overwritten ranges of a text.
type repairs struct {
	list []repair
	lost []string // keys of blanked lines
}

func (r *repairs) any() bool { return len(r.list) > 0 }

// reread reports a syntax error, repairs the text and parses it again, until it succeeds or no repair is left.
func (t *yamlText) reread(err error) (*node, error) {
	original, lexed, first := t.text, t.lexed, len(t.diags)
	fault := t.syntax(err)
	kept := t.findings
	line := lineOf(t.text, t.offset(t.diags[first].Subject.Start))
	t.text = bytes.Clone(t.text)
	for range maxRepairs {
		if !t.repairs.mend(t.text, line, fault.comma) {
			break
		}
		t.lexed = lex(t.text)
		if t.lexed.tooDeep >= 0 {
			break
		}
		var document *node
		if document, err = readTree(t.text, t.lexed); err == nil {
			return document, nil
		}
		prior := t.findings
		fault = t.syntax(err)
		line = lineOf(t.text, t.offset(t.diags[len(prior.diags)].Subject.Start))
		near := func(r repair) bool { return r.line == line || !fault.sure && line-1 <= r.line && r.line <= line+1 }
		if slices.ContainsFunc(t.repairs.list, near) { // it is the same error again
			t.findings = prior
		}
	}
	t.text, t.lexed, t.repairs, t.findings = original, lexed, repairs{}, kept
	return nil, err
}

// mend makes a line of a text harmless; repeated calls for the same line use stronger means. comma is the offset of a
// missing comma, or 0 if none is known. It returns false if no means are left.
func (r *repairs) mend(text []byte, line, comma int) bool {
	start, end := lineAt(text, line)
	body := text[start:end]
	tries := 0
	for _, r := range r.list {
		if r.line == line {
			tries++
			if r.blanked {
				return false
			}
		}
	}
	if len(body) == 0 {
		return false
	}
	if comma > 0 && blankAt(text, comma) && breakAt(text, comma) == 0 {
		text[comma] = ','
		r.list = append(r.list, repair{start: comma, end: comma, line: line})
		return true
	}
	if tries == 0 {
		if pos := valueIn(body); pos > 0 {
			for i := start + pos; i < end; i++ {
				text[i] = 'x'
			}
			r.list = append(r.list, repair{start: start + pos, end: end, line: line})
			return true
		}
		if key := string(bytes.TrimRight(body, " \t")); len(key) > 1 && isWord([]byte(key)) {
			text[start+len(key)-1] = ':'
			r.list = append(r.list, repair{start: start, end: start + len(key), line: line, key: key})
			return true
		}
	}
	r.blankOut(text, line, start, end)
	return true
}

// blankOut overwrites a line with blanks, and also the lines below it if it is a key without a value. start and end
// delimit its content.
func (r *repairs) blankOut(text []byte, line, start, end int) {
	body := text[start:end]
	lost, _, _ := bytes.Cut(bytes.TrimLeft(body, "- \t"), []byte(":"))
	r.lost = append(r.lost, string(lost))
	r.list = slices.DeleteFunc(r.list, func(r repair) bool { return r.line == line })
	begin := contentBegin(text, start)
	if last := bytes.TrimRight(body, " \t"); len(last) > 0 && last[len(last)-1] == ':' {
		var below []string
		below, end = linesBelow(text, start-begin, end)
		r.lost = append(r.lost, below...)
	}
	for i := begin; i < end; {
		if n := breakAt(text, i); n > 0 {
			i += n
			continue
		}
		text[i] = ' '
		i++
	}
	r.list = append(r.list, repair{start: begin, end: end, line: line, blanked: true})
}

// linesBelow returns the keys of the lines after offset end that are indented deeper than a column, and the end of the
// last of these lines.
func linesBelow(text []byte, column, end int) (keys []string, last int) {
	rest := text[end:]
	last = end
	for _, l := range contentLines(rest) {
		if l.indent <= column || l.tab {
			break
		}
		if i := keyEnd(rest, l); i > 0 {
			keys = append(keys, keyText(rest[l.start:i-1]))
		}
		last = end + l.end
	}
	return keys, last
}

// valueIn returns the offset of the value in a line `key: value` or `- value`, or 0 if there is none.
func valueIn(body []byte) int {
	pos := 0
	for bytes.HasPrefix(body[pos:], []byte("- ")) {
		pos = behindBlanks(body, pos+2)
	}
	for i := pos; i < len(body); i++ {
		switch c := body[i]; {
		case c == ':' && blankAt(body, i+1) && i > pos:
			if i = behindBlanks(body, i+1); i == len(body) {
				return 0
			}
			return i
		case !keyByte(c):
			if pos > 0 && pos < len(body) {
				return pos
			}
			return 0
		}
	}
	return pos
}

func isWord(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return !keyByte(c) })
}

func keyByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '/' || c == ':' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

// mended reports whether the value at an offset was overwritten.
func (r *repairs) mended(offset int) bool {
	return slices.ContainsFunc(r.list, func(r repair) bool { return r.key == "" && r.start <= offset && offset < r.end })
}

// lostBehind reports whether the line after an empty value at an offset was blanked. That line may have been the value.
func (r *repairs) lostBehind(text []byte, offset int) bool {
	return slices.ContainsFunc(r.list, func(r repair) bool {
		return r.blanked && offset <= r.start && len(bytes.TrimSpace(text[offset:r.start])) == 0
	})
}

// mendedKey returns the repair that added a colon to the key at an offset; false if there is none.
func (r *repairs) mendedKey(offset int) (repair, bool) {
	i := slices.IndexFunc(r.list, func(r repair) bool { return r.key != "" && r.start == offset })
	if i < 0 {
		return repair{}, false
	}
	return r.list[i], true
}
