package parser

import (
	"bytes"
	"slices"

	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// A text is divided into stretches that can be parsed separately: the top-level keys, and the entries of sections whose
// keys are names. The division only depends on lines and their indentation, so that it also works in a text with syntax
// errors, and an error is confined to its stretch.

// stretch is a part of a text that consists of whole lines. What an astray stretch means is decided once it is parsed
// (see block.checkEntry): here only its indentation is known.
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

// cut returns the stretches of a text. sections is nil if lines do not determine them: in JSON, texts with several
// documents, complex keys or line breaks that only YAML knows, and maps that are indented as a whole. usual is the most
// frequent indentation of lines below top-level keys, or 0 if there is none.
func cut(text []byte) (sections []cutSection, usual int) {
	if yamlnode.OddBreaks(text) {
		return nil, 0
	}
	lines := yamlnode.ContentLines(text)
	if len(lines) > 0 && lines[0].Indent == 0 && bytes.Equal(bytes.TrimRight(text[lines[0].Start:lines[0].End], " \t"),
		[]byte("---")) {
		lines = lines[1:]
	}
	// A map that is indented as a whole has no line that certainly begins a section.
	if len(lines) == 0 || lines[0].Indent > 0 || lines[0].Tab || !yamlnode.KeyLine(text, lines[0]) {
		return nil, 0
	}
	var tops []int // lines that begin a top-level entry
	for i, l := range lines {
		if l.Indent > 0 || l.Tab {
			continue
		}
		switch c := text[l.Start]; {
		case c == '%', bytes.HasPrefix(text[l.Start:], []byte("---")), bytes.HasPrefix(text[l.Start:], []byte("...")):
			return nil, 0
		case (c == '?' || c == ':') && yamlnode.BlankAt(text, l.Start+1), c == '{', c == '[':
			return nil, 0
		case i == 0 || yamlnode.BeginsEntry(text, l):
			tops = append(tops, i)
		}
	}
	// The step of all lines serves to cut; only a clear one of top-level keys serves to compare later edits with.
	usual, fromTop := usualIndent(lines)
	for n := 0; n < len(tops); {
		from := tops[n]
		for n++; n < len(tops) && strays(text, lines, from, tops[n:], usual); n++ {
		}
		to, end := len(lines), len(text)
		if n < len(tops) {
			to, end = tops[n], yamlnode.LineStart(lines[tops[n]])
		}
		sections = append(sections, cutEntries(text, lines[from:to], end, usual))
	}
	if !fromTop {
		usual = 0
	}
	return sections, usual
}

// hasKeyLine reports whether one of the lines begins with a key and has the given indentation.
func hasKeyLine(text []byte, lines []yamlnode.Line, indent int) bool {
	return slices.ContainsFunc(lines, func(l yamlnode.Line) bool {
		return l.Indent == indent && yamlnode.KeyLine(text, l)
	})
}

// sectionName returns the canonical name of the section that begins at a top-level line, or an empty string for any
// other key. The sections whose keys are names, and so can be cut, are those of cuttable in keys.go.
func sectionName(text []byte, l yamlnode.Line) string {
	end := yamlnode.KeyEnd(text, l)
	if end == 0 {
		return ""
	}
	known, _ := canonical(yamlnode.KeyText(text[l.Start:end-1]), cuttable)
	return known
}

// strays reports whether the line tops[0] is a broken line of the section that begins at line section, rather than the
// beginning of another top-level entry: the lines after it continue with the entries of that section.
func strays(text []byte, lines []yamlnode.Line, section int, tops []int, usual int) bool {
	if !yamlnode.BareKey(text, lines[section]) || sectionName(text, lines[section]) == "" || section+1 >= len(lines) {
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
	end := yamlnode.KeyEnd(text, l)
	if end == 0 {
		_, known := canonical(string(bytes.TrimSpace(text[l.Start:l.End])), topKeys)
		return !known && body[0].Indent > 0
	}
	if _, known := canonical(yamlnode.KeyText(text[l.Start:end-1]), topKeys); known {
		return false
	}
	if !yamlnode.BareKey(text, l) {
		switch bytes.TrimLeft(text[end:l.End], " \t")[0] {
		case '"', '\'', '{', '[', '|', '>', '&', '!': // the value may continue on the following lines
			return false
		}
		return body[0].Indent > 0 && yamlnode.KeyLine(text, body[0])
	}
	indent := entryIndent(text, lines[section+1:i], usual)
	return body[0].Indent > indent && hasKeyLine(text, body, indent)
}

// usualIndent returns the most frequent indentation step between a line and the next one. If the lines below top-level
// keys have a clear majority, the step is theirs and fromTop is true; otherwise it is that of all lines. It is 0 if no
// line is indented deeper than the one before.
func usualIndent(lines []yamlnode.Line) (step int, fromTop bool) {
	below, deeper := map[int]int{}, map[int]int{}
	for i, l := range lines[:len(lines)-1] {
		if step := lines[i+1].Indent - l.Indent; step > 0 {
			deeper[step]++
			if l.Indent == 0 {
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
func entryIndent(text []byte, body []yamlnode.Line, usual int) int {
	first := body[0].Indent
	if first >= usual-1 && hasKeyLine(text, body, usual) {
		return usual
	}
	counts := map[int]int{}
	for _, l := range body {
		if l.Indent > 0 && l.Indent <= first && yamlnode.KeyLine(text, l) {
			counts[l.Indent]++
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
func movedLeft(text []byte, body []yamlnode.Line) bool {
	first := body[0].Indent
	if len(body) < 2 || body[1].Indent <= first || body[1].Indent == first+1 && yamlnode.BareKey(text, body[0]) {
		return false
	}
	return hasKeyLine(text, body[1:], first+1)
}

// cutEntries divides one section, given by its lines, into its entries.
func cutEntries(text []byte, lines []yamlnode.Line, end, usual int) cutSection {
	whole := cutSection{head: stretch{start: yamlnode.LineStart(lines[0]), end: end}}
	body := lines[1:]
	if len(body) == 0 || sectionName(text, lines[0]) == "" || !yamlnode.BareKey(text, lines[0]) {
		return whole
	}
	// Every entry is parsed behind this line, so that its YAML is a complete text with its section.
	lead := append(slices.Clone(text[lines[0].Start:yamlnode.KeyEnd(text, lines[0])]), '\n')
	if body[0].Indent == 0 || !yamlnode.KeyLine(text, body[0]) {
		// The section does not start with an entry. If the first line begins with a tab, it is parsed together with the
		// key.
		if !body[0].Tab {
			return whole
		}
		rest := slices.IndexFunc(body, func(l yamlnode.Line) bool { return l.Indent > 0 && yamlnode.KeyLine(text, l) })
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
		// The line belongs to the entry above it.
		case l.Indent != indent || l.Tab:
		case (text[l.Start] == '?' || text[l.Start] == ':') && yamlnode.BlankAt(text, l.Start+1):
			return whole
		case yamlnode.BeginsEntry(text, l):
			starts = append(starts, i)
		}
	}
	whole.head.end = yamlnode.LineStart(body[0])
	for n, first := range starts {
		s := stretch{start: yamlnode.LineStart(body[first]), end: end, lead: lead,
			astray: body[first].Indent != indent, deeper: body[first].Indent > indent}
		if n+1 < len(starts) {
			s.end = yamlnode.LineStart(body[starts[n+1]])
		}
		whole.entries = append(whole.entries, s)
	}
	return whole
}
