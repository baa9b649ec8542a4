package diag

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tabWidth is the distance between the tab stops of an excerpt, in columns.
const tabWidth = 4

// cell is one character of a displayed line.
type cell struct {
	offset int    // byte offset in the line
	column int    // 0-based display column
	shown  string // the displayed text: spaces for a tab, U+FFFD for an unprintable character
}

// lineLayout is a line with the display column of each character.
type lineLayout struct {
	cells []cell
	width int // in columns
}

func layout(line []byte) lineLayout {
	l := lineLayout{cells: make([]cell, 0, len(line))}
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		c := cell{offset: i, column: l.width}
		width := 1
		switch {
		case r == '\t':
			width = tabWidth - l.width%tabWidth
			c.shown = strings.Repeat(" ", width)
		case r == utf8.RuneError || !harmless(r):
			c.shown = "\uFFFD"
		default:
			c.shown = string(line[i : i+size])
			width = runeWidth(r)
		}
		l.cells = append(l.cells, c)
		l.width += width
		i += size
	}
	return l
}

// column returns the display column of the character at a byte offset. At or after the end of the line it returns the
// line's width.
func (l lineLayout) column(offset int) int {
	i := sort.Search(len(l.cells), func(i int) bool { return l.cells[i].offset >= offset })
	if i == len(l.cells) {
		return l.width
	}
	return l.cells[i].column
}

// window returns the part of the line that fits into width columns and contains the columns from..to, and the columns
// of that range in the result. An ellipsis marks each cut.
func (l lineLayout) window(from, to, width int) (shown string, newFrom, newTo int) {
	left, right := 0, l.width
	if l.width > width {
		margin := max((width-(to-from))/2, leastCutMargin)
		left = max(from-margin, 0)
		if right = left + width; right >= l.width {
			left, right = l.width-(width-1), l.width
		} else {
			right-- // make room for the ellipsis at the end
			if left > 0 {
				right--
			}
		}
	}
	var b strings.Builder
	shift := left
	if left > 0 {
		b.WriteString(cutMark)
		shift--
	}
	begun := false
	end := 0
	for i, c := range l.cells {
		next := l.width
		if i+1 < len(l.cells) {
			next = l.cells[i+1].column
		}
		if c.column < left {
			continue
		}
		if next > right {
			break
		}
		if !begun { // spaces replace a wide character that is cut in half
			b.WriteString(strings.Repeat(" ", c.column-left))
			begun = true
		}
		b.WriteString(c.shown)
		end = next
	}
	if right < l.width {
		b.WriteString(cutMark)
		to = min(to, max(end, from+1))
	}
	return b.String(), max(from-shift, 0), max(to-shift, 0)
}

// harmless reports whether a character may be written to a terminal unchanged. Control characters, and characters that
// change the direction of writing, may not.
func harmless(r rune) bool {
	const zeroWidthJoiner = '\u200d'
	return r == zeroWidthJoiner || !unicode.Is(unicode.C, r)
}

// runeWidth returns the number of columns that a printable character takes on a terminal.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide is the set of characters that take two columns: East Asian scripts and pictographs.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x2614, 0x2615, 1}, {0x2648, 0x2653, 1},
		{0x26a1, 0x26a1, 1}, {0x2705, 0x2705, 1}, {0x274c, 0x274c, 1}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1},
		{0x2e80, 0x303e, 1}, {0x3041, 0x33ff, 1}, {0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xa000, 0xa4cf, 1},
		{0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18aff, 1}, {0x1b000, 0x1b2ff, 1}, {0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1},
		{0x1f200, 0x1f320, 1}, {0x1f32d, 0x1f335, 1}, {0x1f337, 0x1f37c, 1}, {0x1f37e, 0x1f393, 1},
		{0x1f3a0, 0x1f3ca, 1}, {0x1f3cf, 0x1f3d3, 1}, {0x1f3e0, 0x1f3f0, 1}, {0x1f3f8, 0x1f43e, 1},
		{0x1f440, 0x1f4fc, 1}, {0x1f4ff, 0x1f53d, 1}, {0x1f54b, 0x1f567, 1}, {0x1f5fb, 0x1f64f, 1},
		{0x1f680, 0x1f6c5, 1}, {0x1f6d0, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// oneLine converts text for output on a single line: line breaks and tabs become spaces, unprintable characters U+FFFD.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !harmless(r):
			return utf8.RuneError
		}
		return r
	}, text)
}
