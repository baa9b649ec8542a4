package diag

import (
	"bytes"
	"slices"
	"sort"
)

// pieces is a text split into parts. An edited text shares all pieces that the edit does not touch with the text before
// it. It is immutable.
type pieces struct {
	list   []*piece
	marks  []pieceStart // the start of each piece in the text
	size   int          // bytes
	breaks int          // line breaks
}

// pieceStart is the position of a piece in its text: its byte offset, and the number of line breaks before it.
type pieceStart struct{ offset, breaks int }

// piece is a part of a text. starts holds the offset after each line break, relative to base.
type piece struct {
	text   []byte
	starts []int32
	base   int32
}

// pieceSize is the approximate size of a piece of an edited text, in bytes.
const pieceSize = 16 << 10

func newPiece(text []byte) *piece {
	p := &piece{text: text}
	if n := bytes.Count(text, []byte{'\n'}); n > 0 {
		p.starts = make([]int32, 0, n)
	}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return p
		}
		i += n + 1
		p.starts = append(p.starts, int32(i))
	}
}

func joined(list []*piece) *pieces {
	p := &pieces{list: list, marks: make([]pieceStart, len(list))}
	for i, part := range list {
		p.marks[i] = pieceStart{p.size, p.breaks}
		p.size += len(part.text)
		p.breaks += len(part.starts)
	}
	return p
}

// split divides a piece into smaller ones, which share its memory.
func (p *piece) split() (parts []*piece) {
	for from, line := 0, 0; from < len(p.text); {
		to := min(from+pieceSize, len(p.text))
		if len(p.text)-to < pieceSize/2 {
			to = len(p.text)
		}
		nextLine := line + sort.Search(len(p.starts)-line,
			func(i int) bool { return int(p.starts[line+i]-p.base) > to })
		parts = append(parts, &piece{text: p.text[from:to:to], starts: p.starts[line:nextLine],
			base: p.base + int32(from)})
		from, line = to, nextLine
	}
	return parts
}

// holding returns the index of the piece that contains the byte at offset. At the end of the text it returns the last
// piece.
func (p *pieces) holding(offset int) int {
	return max(sort.Search(len(p.marks), func(i int) bool { return p.marks[i].offset > offset })-1, 0)
}

// edited returns the text with the bytes in [start, end) replaced.
func (p *pieces) edited(start, end int, replacement string) *pieces {
	first, last := p.holding(start), p.holding(end)
	if len(p.list) == 1 && p.size > 2*pieceSize {
		return joined(p.list[0].split()).edited(start, end, replacement)
	}
	head, tail := p.list[first].text[:start-p.marks[first].offset], p.list[last].text[end-p.marks[last].offset:]
	fresh := newPiece(slices.Concat(head, []byte(replacement), tail))
	list := make([]*piece, 0, len(p.list)+1)
	list = append(list, p.list[:first]...)
	switch {
	case len(fresh.text) > 2*pieceSize:
		list = append(list, fresh.split()...)
	case len(fresh.text) > 0 || len(p.list) == 1:
		list = append(list, fresh)
	}
	list = append(list, p.list[last+1:]...)
	if len(list) == 0 {
		list = append(list, fresh)
	}
	return joined(list)
}

// slice returns the bytes in [start, end), which the caller must not modify. They are copied only if they span several
// pieces.
func (p *pieces) slice(start, end int) []byte {
	i := p.holding(start)
	pos := start - p.marks[i].offset
	if length := end - start; pos+length <= len(p.list[i].text) {
		return p.list[i].text[pos : pos+length : pos+length]
	}
	text := make([]byte, 0, end-start)
	for ; len(text) < end-start; i++ {
		part := p.list[i].text[pos:]
		text = append(text, part[:min(len(part), end-start-len(text))]...)
		pos = 0
	}
	return text
}

// lineOf returns the 0-based line that contains an offset.
func (p *pieces) lineOf(offset int) int {
	i := p.holding(offset)
	part, local := p.list[i], int32(offset-p.marks[i].offset)
	return p.marks[i].breaks + sort.Search(len(part.starts),
		func(j int) bool { return part.starts[j]-part.base > local })
}

// lineStart returns the offset of a 0-based line, which must exist.
func (p *pieces) lineStart(line int) int {
	if line == 0 {
		return 0
	}
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].breaks >= line }) - 1
	part := p.list[i]
	return p.marks[i].offset + int(part.starts[line-p.marks[i].breaks-1]-part.base)
}
