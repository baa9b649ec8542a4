package diag

import (
	"bytes"
	"slices"
	"sort"
)

// pieces are a text in parts, which an edited text shares with the one before but for those that the edit touches. They
// are immutable.
type pieces struct {
	list   []*piece
	at     []pieceStart // where each of them begins
	size   int          // bytes
	breaks int          // line breaks
}

// place is where a piece begins in its text.
type pieceStart struct{ offset, breaks int }

// piece is a part of a text. Lines begin behind its line breaks, at these offsets, counted from base.
type piece struct {
	text   []byte
	starts []int32
	base   int32
}

// pieceSize is about how many bytes a piece has once a text has been edited.
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
	p := &pieces{list: list, at: make([]pieceStart, len(list))}
	for i, part := range list {
		p.at[i] = pieceStart{p.size, p.breaks}
		p.size += len(part.text)
		p.breaks += len(part.starts)
	}
	return p
}

// split cuts a piece into smaller ones, which share its memory.
func (p *piece) split() (parts []*piece) {
	for from, line := 0, 0; from < len(p.text); {
		to := min(from+pieceSize, len(p.text))
		if len(p.text)-to < pieceSize/2 {
			to = len(p.text)
		}
		behind := line + sort.Search(len(p.starts)-line, func(i int) bool { return int(p.starts[line+i]-p.base) > to })
		parts = append(parts, &piece{text: p.text[from:to:to], starts: p.starts[line:behind], base: p.base + int32(from)})
		from, line = to, behind
	}
	return parts
}

// holding is the piece that has the byte at an offset; the last one for the end of the text.
func (p *pieces) holding(offset int) int {
	return max(sort.Search(len(p.at), func(i int) bool { return p.at[i].offset > offset })-1, 0)
}

// edited is the text with the bytes from start up to but not including end replaced.
func (p *pieces) edited(start, end int, replacement string) *pieces {
	first, last := p.holding(start), p.holding(end)
	if len(p.list) == 1 && p.size > 2*pieceSize {
		return joined(p.list[0].split()).edited(start, end, replacement)
	}
	head, tail := p.list[first].text[:start-p.at[first].offset], p.list[last].text[end-p.at[last].offset:]
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

// slice is a part of the text, which the caller must not modify: a copy only where it lies in several pieces.
func (p *pieces) slice(start, end int) []byte {
	i := p.holding(start)
	from := start - p.at[i].offset
	if length := end - start; from+length <= len(p.list[i].text) {
		return p.list[i].text[from : from+length : from+length]
	}
	text := make([]byte, 0, end-start)
	for ; len(text) < end-start; i++ {
		part := p.list[i].text[from:]
		text = append(text, part[:min(len(part), end-start-len(text))]...)
		from = 0
	}
	return text
}

// lineOf is the 0-based line of an offset.
func (p *pieces) lineOf(offset int) int {
	i := p.holding(offset)
	part, local := p.list[i], int32(offset-p.at[i].offset)
	return p.at[i].breaks + sort.Search(len(part.starts), func(j int) bool { return part.starts[j]-part.base > local })
}

// lineStart is where a 0-based line begins, which the text has.
func (p *pieces) lineStart(line int) int {
	if line == 0 {
		return 0
	}
	i := sort.Search(len(p.at), func(i int) bool { return p.at[i].breaks >= line }) - 1
	part := p.list[i]
	return p.at[i].offset + int(part.starts[line-p.at[i].breaks-1]-part.base)
}
