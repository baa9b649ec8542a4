package parser

import (
	"bytes"
	"slices"
)

// A text is divided into stretches that can be parsed separately: the top-level keys, and the entries of sections whose
// keys are names. The division only depends on lines and their indentation, so that it also works in a text with syntax
// errors, and an error is confined to its stretch.

// stretch is a part of a text that consists of whole lines.
type stretch struct {
	start, end int
	// lead is the line of the section's key, without its value, which is parsed in front of an entry. It is nil for a
	// top-level stretch.
	lead []byte
	// astray reports whether the indentation of the first line differs from that of the section's entries, and deeper
	// whether it is greater.
	astray, deeper bool
}

// cutSection is a top-level key. entries is nil if its value is parsed together with the key.
type cutSection struct {
	head    stretch
	entries []stretch
}

// cuttable lists the sections whose entries are parsed separately.
var cuttable = []string{"config", "configuration", "variables", "resources", "outputs", "components", "hooks",
	"dynamic"}

// textLine is a line of a text.
type textLine struct {
	start, end int // content, without indentation and line break
	next       int // where the next line begins
	indent     int
	tab        bool // the indentation is followed by a tab
}

// cut returns the stretches of a text. sections is nil if lines do not determine them: in JSON, texts with several
// documents, complex keys or line breaks that only YAML knows, and maps that are indented as a whole. usual is the most
// frequent indentation of lines below top-level keys, or 0 if there is none.
func cut(text []byte) (sections []cutSection, usual int) {
	if oddBreaks(text) {
		return nil, 0
	}
	lines := contentLines(text)
	if len(lines) > 0 && lines[0].indent == 0 && bytes.Equal(bytes.TrimRight(text[lines[0].start:lines[0].end], " \t"),
		[]byte("---")) {
		lines = lines[1:]
	}
	if len(lines) == 0 || lines[0].indent > 0 || lines[0].tab || !keyLine(text, lines[0]) {
		return nil, 0
	}
	var tops []int // lines that begin a top-level entry
	for i, l := range lines {
		if l.indent > 0 || l.tab {
			continue
		}
		switch c := text[l.start]; {
		case c == '%', bytes.HasPrefix(text[l.start:], []byte("---")), bytes.HasPrefix(text[l.start:], []byte("...")):
			return nil, 0
		case (c == '?' || c == ':') && blankAt(text, l.start+1), c == '{', c == '[':
			return nil, 0
		case i == 0 || beginsEntry(text, l):
			tops = append(tops, i)
		}
	}
	usual, fromTop := usualIndent(lines)
	for n := 0; n < len(tops); {
		from := tops[n]
		for n++; n < len(tops) && strays(text, lines, from, tops[n:], usual); n++ {
		}
		to, end := len(lines), len(text)
		if n < len(tops) {
			to, end = tops[n], lineStart(lines[tops[n]])
		}
		sections = append(sections, cutEntries(text, lines[from:to], end, usual))
	}
	if !fromTop {
		usual = 0
	}
	return sections, usual
}

func lineStart(l textLine) int { return l.start - l.indent }

// oddBreaks reports whether a text has line breaks other than LF and CRLF, or a byte order mark after its start.
func oddBreaks(text []byte) bool {
	for i := 0; i < len(text); i++ {
		pos := bytes.IndexByte(text[i:], '\r')
		if pos < 0 {
			break
		}
		if i += pos; i+1 >= len(text) || text[i+1] != '\n' {
			return true
		}
	}
	marks := [][]byte{[]byte("\u0085"), []byte("\u2028"), []byte("\u2029"), byteOrderMark}
	return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(text[textStart(text):], mark) })
}

// lineFrom returns the line that begins at an offset. It may be empty.
func lineFrom(text []byte, i int) textLine {
	l := textLine{end: len(text), next: len(text)}
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		l.end, l.next = i+n, i+n+1
		if l.end > i && text[l.end-1] == '\r' {
			l.end--
		}
	}
	l.start = behindSpaces(text[:l.end], i)
	l.indent, l.tab = l.start-i, l.start < l.end && text[l.start] == '\t'
	return l
}

// contentLines returns the lines of a text that contain more than white space and a comment.
func contentLines(text []byte) []textLine {
	lines := make([]textLine, 0, bytes.Count(text, []byte("\n"))+1)
	for i := textStart(text); i < len(text); {
		l := lineFrom(text, i)
		if rest := bytes.TrimLeft(text[l.start:l.end], " \t"); len(rest) > 0 && rest[0] != '#' {
			lines = append(lines, l)
		}
		i = l.next
	}
	return lines
}

// beginsEntry reports whether a line can be the first one of an entry, rather than a continuation of the line above.
func beginsEntry(text []byte, l textLine) bool {
	switch c := text[l.start]; c {
	case '-', '?', ':':
		return !blankAt(text, l.start+1)
	case '[', ']', '{', '}', ',', '|', '>', '%', '@', '`', '\t':
		return false
	}
	return true
}

// keyEnd returns the offset after the colon of the key at the start of a line, or 0 if there is no key.
func keyEnd(text []byte, l textLine) int {
	i := l.start
	switch c := text[i]; c {
	case '"', '\'':
		if i = quotedEnd(text[:l.end], i); i >= l.end {
			return 0
		}
		i = behindBlanks(text[:l.end], i)
		if i < l.end && text[i] == ':' && blankAt(text, i+1) {
			return i + 1
		}
		return 0
	case '{', '[', '&', '*', '!', '|', '>', '%', '@', '`', '#', ']', '}', ',':
		return 0
	}
	for ; i < l.end; i++ {
		switch {
		case text[i] == ':' && blankAt(text, i+1):
			return i + 1
		case text[i] == '#' && i > l.start && blank(text[i-1]):
			return 0
		}
	}
	return 0
}

// keyLine reports whether a line begins with a key. A line whose indentation ends with a tab does not.
func keyLine(text []byte, l textLine) bool { return beginsEntry(text, l) && keyEnd(text, l) > 0 }

// hasKeyLine reports whether one of the lines begins with a key and has the given indentation.
func hasKeyLine(text []byte, lines []textLine, indent int) bool {
	return slices.ContainsFunc(lines, func(l textLine) bool { return l.indent == indent && keyLine(text, l) })
}

// keyText returns the text of a key without the quotes and blanks around it.
func keyText(key []byte) string { return string(bytes.Trim(key, " \t\"'")) }

// bareKey reports whether a line is a key without a value.
func bareKey(text []byte, l textLine) bool {
	end := keyEnd(text, l)
	if end == 0 {
		return false
	}
	rest := bytes.TrimLeft(text[end:l.end], " \t")
	return len(rest) == 0 || rest[0] == '#'
}

// sectionName returns the canonical name of the section that begins at a top-level line, or an empty string for any
// other key.
func sectionName(text []byte, l textLine) string {
	end := keyEnd(text, l)
	if end == 0 {
		return ""
	}
	known, _ := canonical(keyText(text[l.start:end-1]), cuttable)
	return known
}

// strays reports whether the line tops[0] is a broken line of the section that begins at line section, rather than the
// beginning of another top-level entry: the lines after it continue with the entries of that section.
func strays(text []byte, lines []textLine, section int, tops []int, usual int) bool {
	if !bareKey(text, lines[section]) || sectionName(text, lines[section]) == "" || section+1 >= len(lines) {
		return false
	}
	i := tops[0]
	l := lines[i]
	next := len(lines)
	if len(tops) > 1 {
		next = tops[1]
	}
	body := lines[i+1 : next]
	if len(body) == 0 || i == section+1 {
		return false
	}
	end := keyEnd(text, l)
	if end == 0 {
		_, known := canonical(string(bytes.TrimSpace(text[l.start:l.end])), topKeys)
		return !known && body[0].indent > 0
	}
	if _, known := canonical(keyText(text[l.start:end-1]), topKeys); known {
		return false
	}
	if !bareKey(text, l) {
		switch bytes.TrimLeft(text[end:l.end], " \t")[0] {
		case '"', '\'', '{', '[', '|', '>', '&', '!': // the value may continue on the following lines
			return false
		}
		return body[0].indent > 0 && keyLine(text, body[0])
	}
	indent := entryIndent(text, lines[section+1:i], usual)
	return body[0].indent > indent && hasKeyLine(text, body, indent)
}

// usualIndent returns the most frequent indentation step between a line and the next one. If the lines below top-level
// keys have a clear majority, the step is theirs and fromTop is true; otherwise it is that of all lines. It is 0 if no
// line is indented deeper than the one before.
func usualIndent(lines []textLine) (step int, fromTop bool) {
	below, deeper := map[int]int{}, map[int]int{}
	for i, l := range lines[:len(lines)-1] {
		if step := lines[i+1].indent - l.indent; step > 0 {
			deeper[step]++
			if l.indent == 0 {
				below[step]++
			}
		}
	}
	usual := func(counts map[int]int) (best int, clear bool) {
		for step, n := range counts {
			switch {
			case n > counts[best] || best == 0:
				best, clear = step, true
			case n == counts[best]:
				best, clear = min(best, step), false
			}
		}
		return best, clear && counts[best] > 1
	}
	if best, clear := usual(below); clear {
		return best, true
	}
	step, _ = usual(deeper)
	return step, false
}

// entryIndent returns the indentation of a section's entries: usual if a key has that indentation and, otherwise, the
// most frequent indentation of keys up to that of the first line.
func entryIndent(text []byte, body []textLine, usual int) int {
	first := body[0].indent
	if first >= usual-1 && hasKeyLine(text, body, usual) {
		return usual
	}
	counts := map[int]int{}
	for _, l := range body {
		if l.indent > 0 && l.indent <= first && keyLine(text, l) {
			counts[l.indent]++
		}
	}
	best := first
	for indent, n := range counts {
		if n > counts[best] || n == counts[best] && indent > best {
			best = indent
		}
	}
	if best == first && counts[first] == 1 && len(counts) == 1 && movedLeft(text, body) {
		return first + 1
	}
	return best
}

// movedLeft reports whether the first entry of a section seems to be indented one column too little: no other line has
// its indentation, and others are one column deeper but cannot belong to it.
func movedLeft(text []byte, body []textLine) bool {
	first := body[0].indent
	if len(body) < 2 || body[1].indent <= first || body[1].indent == first+1 && bareKey(text, body[0]) {
		return false
	}
	return hasKeyLine(text, body[1:], first+1)
}

// cutEntries divides one section, given by its lines, into its entries.
func cutEntries(text []byte, lines []textLine, end, usual int) cutSection {
	whole := cutSection{head: stretch{start: lineStart(lines[0]), end: end}}
	body := lines[1:]
	if len(body) == 0 || sectionName(text, lines[0]) == "" || !bareKey(text, lines[0]) {
		return whole
	}
	lead := append(slices.Clone(text[lines[0].start:keyEnd(text, lines[0])]), '\n')
	if body[0].indent == 0 || !keyLine(text, body[0]) {
		// The section does not start with an entry. If the first line begins with a tab, it is parsed together with the
		// key.
		if !body[0].tab {
			return whole
		}
		rest := slices.IndexFunc(body, func(l textLine) bool { return l.indent > 0 && keyLine(text, l) })
		if rest < 0 {
			return whole
		}
		body = body[rest:]
	}
	indent := entryIndent(text, body, usual)
	var starts []int
	for i, l := range body {
		switch {
		case i == 0:
			starts = append(starts, i)
		case l.indent != indent || l.tab:
		case (text[l.start] == '?' || text[l.start] == ':') && blankAt(text, l.start+1):
			return whole
		case beginsEntry(text, l):
			starts = append(starts, i)
		}
	}
	whole.head.end = lineStart(body[0])
	for n, first := range starts {
		s := stretch{start: lineStart(body[first]), end: end, lead: lead,
			astray: body[first].indent != indent, deeper: body[first].indent > indent}
		if n+1 < len(starts) {
			s.end = lineStart(body[starts[n+1]])
		}
		whole.entries = append(whole.entries, s)
	}
	return whole
}
