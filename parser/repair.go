package parser

import (
	"bytes"
	"slices"
)

// The YAML reader gives no tree at all after a syntax error. So that one does not hide what else is wrong, the line at
// fault is made harmless and the text read again. Repairs keep the length of the text, so that every place stays what
// it is: a value is written over with letters, and what is read there is Bad; a colon that is missing takes the place
// of the key's last letter; a line for which neither helps becomes blank.

// maxRepairs bounds how many lines are repaired. A text with more faults, or with one that nothing repairs, has only
// its first fault reported.
const maxRepairs = 20

// repair is a stretch of text that was written over.
type repair struct {
	start, end int
	line       int
	key        string // the key that a colon was given to; empty for a value
	blanked    bool   // the whole line
}

// repairs are the replaced parts of a text.
type repairs struct {
	list []repair
	lost []string // keys of lines that were taken out
}

func (r *repairs) any() bool { return len(r.list) > 0 }

// reread reports a syntax error and goes on behind it as far as that is possible, until the text can be read, which it
// then has been.
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
		before := t.findings
		fault = t.syntax(err)
		line = lineOf(t.text, t.offset(t.diags[len(before.diags)].Subject.Start))
		near := func(r repair) bool { return r.line == line || !fault.sure && line-1 <= r.line && r.line <= line+1 }
		if slices.ContainsFunc(t.repairs.list, near) { // the same fault shows again
			t.findings = before
		}
	}
	t.text, t.lexed, t.repairs, t.findings = original, lexed, repairs{}, kept
	return nil, err
}

// mend makes a line of a text harmless, each time it is asked to by stronger means. comma is where a comma is missing,
// 0 where nothing is known of one. It answers false when there are no means left.
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

// blankOut writes blanks over a line, whose content is given, and over the lines below a key without a value.
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

// linesBelow returns the lines behind the end of a line that are indented deeper than a column: their keys, and where
// the last one ends.
func linesBelow(text []byte, column, end int) (keys []string, last int) {
	rest := text[end:]
	last = end
	for _, l := range contentLines(rest) {
		if l.indent <= column || l.tab {
			break
		}
		if i := keyEnd(rest, l); i > 0 {
			keys = append(keys, string(bytes.Trim(rest[l.start:i-1], " \t\"'")))
		}
		last = end + l.end
	}
	return keys, last
}

// valueIn is where the value of a line `key: value` or `- value` begins; 0 where there is no such thing.
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

// mended reports whether the value at an offset was written over.
func (r *repairs) mended(offset int) bool {
	return slices.ContainsFunc(r.list, func(r repair) bool { return r.key == "" && r.start <= offset && offset < r.end })
}

// lostBehind reports whether the line behind an empty value, at an offset of the text, was taken out, which was perhaps
// the value.
func (r *repairs) lostBehind(text []byte, offset int) bool {
	return slices.ContainsFunc(r.list, func(r repair) bool {
		return r.blanked && offset <= r.start && len(bytes.TrimSpace(text[offset:r.start])) == 0
	})
}

// mendedKey returns the repair that gave a colon to the key at an offset; false for any other key.
func (r *repairs) mendedKey(offset int) (repair, bool) {
	i := slices.IndexFunc(r.list, func(r repair) bool { return r.key != "" && r.start == offset })
	if i < 0 {
		return repair{}, false
	}
	return r.list[i], true
}
