package parser

import (
	"bytes"
	"slices"

	"github.com/yamlhost/yamlhost/diag"
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

// reread reports the syntax error and goes on behind it as far as that is possible, until the text can be read. read
// reads p.text.
func (p *parser) reread(err error, read func() error) error {
	original, lexed, first := p.text, p.lexed, len(p.diags)
	p.syntax(err)
	findings, found := len(p.diags), p.found
	line := p.lineOf(p.offset(p.diags[first].Subject.Start))
	p.text = bytes.Clone(p.text)
	for range maxRepairs {
		if !p.mend(line) {
			break
		}
		p.lexed = lex(p.text)
		if p.lexed.tooDeep >= 0 {
			break
		}
		if err = read(); err == nil {
			return nil
		}
		count, counted := len(p.diags), p.found
		p.syntax(err)
		line = p.lineOf(p.offset(p.diags[count].Subject.Start))
		near := func(r repair) bool { return r.line == line || !p.sure && line-1 <= r.line && r.line <= line+1 }
		if slices.ContainsFunc(p.repairs, near) { // the same fault shows again
			p.diags, p.found = p.diags[:count], counted
		}
	}
	p.text, p.lexed, p.repairs, p.lost = original, lexed, nil, nil
	p.diags, p.found = p.diags[:findings], found
	return err
}

// mend makes a line harmless, each time it is asked to by stronger means. It answers false when there are none left.
func (p *parser) mend(line int) bool {
	start, end := p.lineAt(line)
	body := p.text[start:end]
	tries := 0
	for _, r := range p.repairs {
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
	if at := p.comma; at > 0 && blankAt(p.text, at) && breakAt(p.text, at) == 0 {
		p.text[at] = ','
		p.repairs = append(p.repairs, repair{start: at, end: at, line: line})
		return true
	}
	if tries == 0 {
		if at := valueIn(body); at > 0 {
			for i := start + at; i < end; i++ {
				p.text[i] = 'x'
			}
			p.repairs = append(p.repairs, repair{start: start + at, end: end, line: line})
			return true
		}
		if key := string(bytes.TrimRight(body, " \t")); len(key) > 1 && isWord([]byte(key)) {
			p.text[start+len(key)-1] = ':'
			p.repairs = append(p.repairs, repair{start: start, end: start + len(key), line: line, key: key})
			return true
		}
	}
	lost, _, _ := bytes.Cut(bytes.TrimLeft(body, "- \t"), []byte(":"))
	p.lost = append(p.lost, string(lost))
	p.repairs = slices.DeleteFunc(p.repairs, func(r repair) bool { return r.line == line })
	lineStart := start
	for lineStart > 0 && breakBefore(p.text, lineStart) == 0 {
		lineStart--
	}
	// what stands below it goes with it
	if last := bytes.TrimRight(body, " \t"); len(last) > 0 && last[len(last)-1] == ':' {
		end = p.below(start-lineStart, end)
	}
	for i := lineStart; i < end; {
		if n := breakAt(p.text, i); n > 0 {
			i += n
			continue
		}
		p.text[i] = ' '
		i++
	}
	p.repairs = append(p.repairs, repair{start: lineStart, end: end, line: line, blanked: true})
	return true
}

// below is the end of the lines behind the end of a line that are indented deeper than a column. Their keys are lost.
func (p *parser) below(column, end int) int {
	rest := p.text[end:]
	last := end
	for _, l := range contentLines(rest) {
		if l.indent <= column || l.tab {
			break
		}
		if at := keyEnd(rest, l); at > 0 {
			p.lost = append(p.lost, string(bytes.Trim(rest[l.start:at-1], " \t\"'")))
		}
		last = end + l.end
	}
	return last
}

// valueIn is where the value of a line `key: value` or `- value` begins; 0 where there is no such thing.
func valueIn(body []byte) int {
	at := 0
	for bytes.HasPrefix(body[at:], []byte("- ")) {
		at += 2
		for at < len(body) && blank(body[at]) {
			at++
		}
	}
	for i := at; i < len(body); i++ {
		switch c := body[i]; {
		case c == ':' && blankAt(body, i+1) && i > at:
			for i++; i < len(body) && blank(body[i]); i++ {
			}
			if i == len(body) {
				return 0
			}
			return i
		case !keyByte(c):
			if at > 0 && at < len(body) {
				return at
			}
			return 0
		}
	}
	return at
}

func isWord(text []byte) bool {
	for _, c := range text {
		if !keyByte(c) {
			return false
		}
	}
	return true
}

func keyByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == '/' || c == ':' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z'
}

// mended reports whether the value at an offset was written over.
func (p *parser) mended(at diag.Range) bool {
	return slices.ContainsFunc(p.repairs, func(r repair) bool {
		return r.key == "" && r.start <= p.offset(at.Start) && p.offset(at.Start) < r.end
	})
}

// lostBehind reports whether the line behind an empty value was taken out, which was perhaps the value.
func (p *parser) lostBehind(at diag.Range) bool {
	return slices.ContainsFunc(p.repairs, func(r repair) bool {
		start := p.offset(at.Start)
		return r.blanked && start <= r.start && len(bytes.TrimSpace(p.text[start:r.start])) == 0
	})
}

// mendedKey is the key at an offset that a colon was given to.
func (p *parser) mendedKey(at diag.Range) (name string, whole diag.Range, ok bool) {
	for _, r := range p.repairs {
		if r.key != "" && r.start == p.offset(at.Start) {
			return r.key, p.at(r.start, r.end), true
		}
	}
	return "", diag.Range{}, false
}
