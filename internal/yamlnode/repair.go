package yamlnode

import (
	"bytes"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// The YAML parser returns no tree after a syntax error. So that one error does not hide all others, the line with the
// error is made harmless and the text is parsed again. Repairs preserve the length of the text, so that all positions
// remain valid: a value is overwritten with letters and then represented by an ast.Bad; a missing colon replaces the
// last letter of the key; if neither helps, the line is blanked.

// maxRepairs is the maximum number of repairs. If a text has more errors, or one that cannot be repaired, only its
// first error is reported.
const maxRepairs = 20

func (r *Repairs) Any() bool { return len(r.list) > 0 }

// Mend explains a syntax error, repairs the text and parses it again, until it succeeds or no repair is left. If it
// fails, only the first error is explained and the text is as it was.
//
// The YAML parser names the line of the collection around some errors, so that an error without a known cause is mostly
// a second message about one that has been found, at a wrong place: it is left out if there are others.
func (t *Tree) Mend(err error) (diag.Diagnostics, error) {
	text, tokens := t.Text.Bytes, t.Tokens
	first, fault := explain(&t.Text, t.Tokens, err)
	found, vague := diag.Diagnostics{first}, fault.vague
	line := LineOf(text, t.Text.Offset(first.Subject.Start))
	var strays []int // lines whose indentation has been reported
	if fault.indent {
		strays = append(strays, line)
	}
	t.Text.Bytes = bytes.Clone(text)
	for range maxRepairs {
		if !t.Repairs.mend(t.Text.Bytes, line, fault.comma) {
			break
		}
		if t.Scan(); t.Tokens.TooDeep >= 0 {
			break
		}
		if err = t.Read(); err == nil {
			for _, r := range t.Repairs.list {
				start, end, all := r.Start, r.End, r.blanked
				if start == end { // a comma, which may have made a key of a value
					_, end = LineAt(text, r.line)
					all = true
				}
				if all || bytes.IndexByte(text[start:end], ':') >= 0 { // a single value is the checker's
					t.Text.hideValues(text, start, end, all)
				}
			}
			return found, nil
		}
		var next diag.Diagnostic
		next, fault = explain(&t.Text, t.Tokens, err)
		line = LineOf(t.Text.Bytes, t.Text.Offset(next.Subject.Start))
		near := func(r repair) bool { return r.line == line || !fault.sure && line-1 <= r.line && r.line <= line+1 }
		again := fault.indent && slices.ContainsFunc(strays, func(stray int) bool { return aligned(text, stray, line) })
		if fault.indent {
			strays = append(strays, line)
		}
		switch {
		case again || slices.ContainsFunc(t.Repairs.list, near) || fault.vague: // it is the same error again
		case vague:
			found, vague = diag.Diagnostics{next}, false
		default:
			found.Add(next)
		}
	}
	t.Text.Bytes, t.Tokens, t.Repairs = text, tokens, Repairs{}
	start, end := LineAt(text, LineOf(text, t.Text.Offset(first.Subject.Start)))
	t.Text.hideValues(text, start, end, false)
	return found[:1], err
}

// aligned reports whether two lines of a text belong to the same block: they are indented alike, and no line between
// them is indented less, or the second one and all between are indented more than the first.
func aligned(text []byte, first, second int) bool {
	if second < first {
		return false
	}
	start, _ := LineAt(text, first)
	end, _ := LineAt(text, second)
	limit := start - contentBegin(text, start)
	inside := true
	for i := LineEnd(text, start); i < end; {
		i += max(BreakAt(text, i), 1)
		begin := i
		if i = SkipBlanks(text, i); BreakAt(text, i) == 0 && i < end {
			if i-begin < limit {
				return false
			}
			inside = inside && i-begin > limit
		}
		i = LineEnd(text, i)
	}
	column := end - contentBegin(text, end)
	return column == limit || column > limit && inside
}

// mend makes a line of a text harmless; repeated calls for the same line use stronger means. comma is the offset of a
// missing comma, or 0 if none is known. It returns false if no means are left.
func (r *Repairs) mend(text []byte, line, comma int) bool {
	start, end := LineAt(text, line)
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
	if comma > 0 && BlankAt(text, comma) && BreakAt(text, comma) == 0 {
		text[comma] = ','
		r.list = append(r.list, repair{Start: comma, End: comma, line: line})
		return true
	}
	if tries == 0 {
		if pos := valueIn(body); pos > 0 {
			for i := start + pos; i < end; i++ {
				text[i] = 'x'
			}
			r.list = append(r.list, repair{Start: start + pos, End: end, line: line})
			return true
		}
		if sign, end := signIn(body); sign > 0 {
			r.separate(text, line, start+sign, start+end)
			return true
		}
		if key := string(bytes.TrimRight(body, " \t")); len(key) > 1 && isWord([]byte(key)) {
			text[start+len(key)-1] = ':'
			r.list = append(r.list, repair{Start: start, End: start + len(key), line: line, Key: key})
			return true
		}
	}
	r.blankOut(text, line, start, end)
	return true
}

// separate puts a colon and a blank in place of the sign in a range. A value that follows without a blank loses its
// first letter, and counts as overwritten.
func (r *Repairs) separate(text []byte, line, start, end int) {
	_, last := LineAt(text, line)
	text[start] = ':'
	for i := start + 1; i < end; i++ {
		text[i] = ' '
	}
	found := repair{Start: start, End: start, line: line}
	if end == start+1 && !BlankAt(text, end) {
		text[end] = ' '
		found.Start, found.End = end, last
	}
	r.list = append(r.list, found)
}

// blankOut overwrites a line with blanks, and also the lines below it if it is a key without a value or a list item,
// whose further entries they are. start and end delimit its content.
func (r *Repairs) blankOut(text []byte, line, start, end int) {
	body := text[start:end]
	lost, _, _ := bytes.Cut(bytes.TrimLeft(body, "- \t"), []byte(":"))
	r.Lost = append(r.Lost, string(lost))
	r.list = slices.DeleteFunc(r.list, func(r repair) bool { return r.line == line })
	begin := contentBegin(text, start)
	if bytes.HasSuffix(bytes.TrimRight(body, " \t"), []byte(":")) || bytes.HasPrefix(body, []byte("- ")) {
		var below []string
		below, end = linesBelow(text, start-begin, end)
		r.Lost = append(r.Lost, below...)
	}
	for i := begin; i < end; {
		if n := BreakAt(text, i); n > 0 {
			i += n
			continue
		}
		text[i] = ' '
		i++
	}
	r.list = append(r.list, repair{Start: begin, End: end, line: line, blanked: true})
}

// linesBelow returns the keys of the lines after offset end that are indented deeper than a column, and the end of the
// last of these lines.
func linesBelow(text []byte, column, end int) (keys []string, last int) {
	rest := text[end:]
	last = end
	for _, l := range ContentLines(rest) {
		if l.Indent <= column || l.Tab {
			break
		}
		if i := KeyEnd(rest, l); i > 0 {
			keys = append(keys, KeyText(rest[l.Start:i-1]))
		}
		last = end + l.End
	}
	return keys, last
}

// valueIn returns the offset of the value in a line `key: value` or `- value`, or 0 if there is none.
func valueIn(body []byte) int {
	pos := 0
	for bytes.HasPrefix(body[pos:], []byte("- ")) {
		pos = SkipBlanks(body, pos+2)
	}
	for i := pos; i < len(body); i++ {
		switch c := body[i]; {
		case c == ':' && BlankAt(body, i+1) && i > pos:
			if i = SkipBlanks(body, i+1); i == len(body) {
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

// Mended reports whether the value at an offset was overwritten.
func (r *Repairs) Mended(offset int) bool {
	return slices.ContainsFunc(r.list, func(r repair) bool { return r.Key == "" && r.Start <= offset && offset < r.End })
}

// LostBehind reports whether the line after an empty value at an offset was blanked. That line may have been the value.
func (r *Repairs) LostBehind(text []byte, offset int) bool {
	return slices.ContainsFunc(r.list, func(r repair) bool {
		return r.blanked && offset <= r.Start && len(bytes.TrimSpace(text[offset:r.Start])) == 0
	})
}

// Touch reports whether a node has been repaired, inside or in the line behind it.
func (r *Repairs) Touch(text []byte, n *Node) bool {
	return r.LostBehind(text, n.End) || slices.ContainsFunc(r.list, func(r repair) bool {
		return n.Start <= r.Start && r.Start <= n.End
	})
}

// MendedKey returns the repair that added a colon to the key at an offset; false if there is none.
func (r *Repairs) MendedKey(offset int) (repair, bool) {
	i := slices.IndexFunc(r.list, func(r repair) bool { return r.Key != "" && r.Start == offset })
	if i < 0 {
		return repair{}, false
	}
	return r.list[i], true
}

// Forget makes the values null that a repair has overwritten, for readers that take null as absent, and restores keys.
func (t *Tree) Forget() { t.forget(t.Root) }

func (t *Tree) forget(n *Node) {
	if n == nil {
		return
	}
	if n.Kind == Scalar && t.Repairs.Mended(n.Start) {
		*n = Node{Kind: Scalar, Tag: NullTag, Start: n.Start, End: n.End}
	}
	if fix, ok := t.Repairs.MendedKey(n.Start); ok && n.Kind == Scalar {
		n.Value = fix.Key
	}
	for _, child := range n.Content {
		t.forget(child)
	}
}
