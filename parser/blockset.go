package parser

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// blockSet is a text divided into blocks.
type blockSet struct {
	sections []blockSection
	blocks   []*block // all blocks, in the order of the text
	places   []blockPlace
	usual    int  // most frequent indentation of entries; 0 if there is no clear majority
	open     bool // quotes or brackets may be open at the end of some block

	indexed sync.Once
	index   map[*diag.Source]int // block indexes by source, shared with the set that it was built for
	replace map[*diag.Source]int // block indexes of sources added by edits since then
}

// blockSection is a top-level key. head is the index of the block with the key. The blocks of its entries follow, up to
// but not including the index end.
type blockSection struct{ head, end int }

// blockPlace is the position of a block.
type blockPlace struct {
	start int // byte offset in the text
	lines int // number of lines before its source in the text that the user sees
}

// newBlockSet returns the set of the blocks that read returns for each stretch. The second result of read is the number
// of lines before the block.
func newBlockSet(sections []cutSection, read func(stretch) (*block, int)) *blockSet {
	set := &blockSet{}
	one := func(s stretch) {
		b, lines := read(s)
		set.blocks = append(set.blocks, b)
		set.places = append(set.places, blockPlace{s.start, lines})
	}
	for _, s := range sections {
		head := len(set.blocks)
		one(s.head)
		for _, e := range s.entries {
			one(e)
		}
		set.sections = append(set.sections, blockSection{head, len(set.blocks)})
	}
	return set
}

// at returns the index of the block that contains an offset.
func (s *blockSet) at(offset int) int {
	return max(sort.Search(len(s.places), func(i int) bool { return s.places[i].start > offset })-1, 0)
}

// end returns the end offset of the i-th block in a text of the given length.
func (s *blockSet) end(i, length int) int {
	if i+1 < len(s.places) {
		return s.places[i+1].start
	}
	return length
}

// start returns the start offset of the block with source src, or false if there is none.
func (s *blockSet) start(src *diag.Source) (int, bool) {
	i, ok := s.replace[src]
	if !ok {
		s.indexed.Do(func() {
			if s.index != nil {
				return
			}
			s.index = make(map[*diag.Source]int, len(s.blocks))
			for i, b := range s.blocks {
				s.index[b.yaml.tree.Text.Source] = i
			}
		})
		i, ok = s.index[src]
	}
	if !ok || s.blocks[i].yaml.tree.Text.Source != src {
		return 0, false
	}
	return s.places[i].start, true
}

// maxReplaced is the maximum size of the map replace. Beyond it, the index is rebuilt.
const maxReplaced = 64

// with returns a copy of the set in which block i is replaced by b. The text grows by the given numbers of bytes and
// lines.
func (s *blockSet) with(i int, b *block, bytes, lines int) *blockSet {
	next := &blockSet{sections: s.sections, blocks: slices.Clone(s.blocks), places: slices.Clone(s.places),
		usual: s.usual, open: s.open}
	next.blocks[i] = b
	for j := i + 1; j < len(next.places); j++ {
		next.places[j].start += bytes
		next.places[j].lines += lines
	}
	s.start(nil) // builds the index
	if len(s.replace) >= maxReplaced {
		return next
	}
	next.index, next.replace = s.index, make(map[*diag.Source]int, len(s.replace)+1)
	for src, pos := range s.replace {
		if pos != i {
			next.replace[src] = pos
		}
	}
	next.replace[b.yaml.tree.Text.Source] = i
	return next
}

// cut divides the text into blocks. It reuses unchanged blocks of the set prior.
func (d *Document) cut(prior *blockSet) {
	text := d.src.Text()
	sections, usual := cut(text)
	if sections == nil {
		return
	}
	known := newKnownBlocks(prior, text, sections)
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	line, counted := 0, 0
	set := newBlockSet(sections, func(s stretch) (*block, int) {
		line += bytes.Count(text[counted:s.start], []byte("\n"))
		counted = s.start
		b := known.take(s, text[s.start:s.end], line)
		if b == nil {
			b = ownBlock(d.src.Name(), s, text[s.start:s.end], line)
		}
		return b, line
	})
	set.usual = usual
	if set.holds(text) {
		d.set = set
	}
}

// ownBlock parses a stretch as a block with its own source.
func ownBlock(name string, s stretch, body []byte, line int) *block {
	text := slices.Concat(s.lead, body)
	b := newBlock(diag.NewSource(name, text[len(s.lead):]), s, text, 0, line)
	b.printable = yamlnode.Printable(body)
	rest := body
	if s.lead == nil {
		_, rest, _ = bytes.Cut(body, []byte("\n"))
	}
	for len(rest) > 0 && !b.flush {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		b.flush = len(line) > 0 && bytes.IndexByte([]byte(" \r#"), line[0]) < 0 && !bytes.HasPrefix(line, []byte("- "))
	}
	return b
}

// Outline returns the text in which every top-level section that begins with one of the prefixes is replaced by empty
// lines, and without empty lines at the end. ok is false if the blocks do not determine the lines of a section.
func (d *Document) Outline(prefixes []string) (text []byte, ok bool) {
	if d.set == nil {
		return nil, false
	}
	part := func(from, to int) string { return diag.NewRange(d.src, from, to).Text() }
	set, length := d.set, d.src.Len()
	text = []byte(part(0, set.places[0].start))
	empty := 0 // removed lines before the next section that is kept
	for _, section := range set.sections {
		from, to := set.places[section.head].start, set.end(section.end-1, length)
		if !slices.ContainsFunc(prefixes, func(p string) bool { return part(from, min(from+len(p), to)) == p }) {
			text = append(text, bytes.Repeat([]byte("\n"), empty)...)
			text, empty = append(text, part(from, to)...), 0
			continue
		}
		if slices.ContainsFunc(set.blocks[section.head:section.end], func(b *block) bool { return b.flush }) {
			return nil, false
		}
		empty += d.src.Position(to).Line - d.src.Position(from).Line
	}
	return append(bytes.TrimRight(text, "\n"), '\n'), true
}

// editInside returns the document after an edit inside of one entry that certainly does not affect any other. Such an
// edit changes only lines below the first one of the entry, and those are indented deeper than entries both before and
// after it. editInside returns nil for any other edit.
func (d *Document) editInside(e Edit) *Document {
	set, length := d.set, d.src.Len()
	if set == nil || set.usual == 0 || set.open || e.Start < 0 || e.End < e.Start || e.End > length {
		return nil
	}
	i := set.at(e.Start)
	if e.End > set.end(i, length) {
		e = e.trimmed(d.src.Text())
		i = set.at(e.Start)
	}
	old, from, to := set.blocks[i], set.places[i].start, set.end(i, length)
	last := to == length
	if e.Start < from || e.End > to {
		return nil
	}
	text := diag.NewRange(d.src, from, to).Text()
	rel := Edit{e.Start - from, e.End - from, e.Text}.trimmed([]byte(text))
	if rel.Start == rel.End && rel.Text == "" {
		return d
	}
	e = Edit{rel.Start + from, rel.End + from, rel.Text}
	if old.lead == nil || old.astray || !last && e.End == to {
		return nil
	}
	body := []byte(text[:rel.Start] + e.Text + text[rel.End:])
	first := bytes.IndexByte(body, '\n') + 1
	if first == 0 || rel.Start < first || !last && body[len(body)-1] != '\n' || yamlnode.OddBreaks(body) ||
		!set.inside([]byte(text), first) || !set.inside(body, first) {
		return nil
	}
	lines := strings.Count(e.Text, "\n") - strings.Count(text[rel.Start:rel.End], "\n")
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	if lines != 0 {
		for _, b := range set.blocks[i+1:] {
			if b.namesLines() {
				return nil
			}
		}
	}
	b := ownBlock(d.src.Name(), stretch{lead: old.lead}, body, set.places[i].lines)
	if !b.standsAlone() || !old.standsAlone() {
		return nil
	}
	return &Document{src: d.src.Edited(e.Start, e.End, e.Text), shared: d.shared,
		set: set.with(i, b, len(body)-(to-from), lines)}
}

// trimmed returns the edit without the common prefix and suffix of its old and new text.
func (e Edit) trimmed(text []byte) Edit {
	for e.Start < e.End && e.Text != "" && text[e.Start] == e.Text[0] {
		e.Start, e.Text = e.Start+1, e.Text[1:]
	}
	for e.Start < e.End && e.Text != "" && text[e.End-1] == e.Text[len(e.Text)-1] {
		e.End, e.Text = e.End-1, e.Text[:len(e.Text)-1]
	}
	return e
}

// inside reports whether an entry has the usual indentation and all lines after its first one are indented deeper.
// first is the offset of its second line.
func (s *blockSet) inside(body []byte, first int) bool {
	lines := yamlnode.ContentLines(body)
	if len(lines) == 0 || lines[0].Indent != s.usual || lines[0].Tab || lines[0].Next != first {
		return false
	}
	return !slices.ContainsFunc(lines[1:], func(l yamlnode.Line) bool { return l.Tab || l.Indent <= s.usual })
}

// standsAlone reports whether a block can replace another one, and be replaced, without affecting the blocks around it.
func (b *block) standsAlone() bool {
	l := b.asWritten
	return l.TooDeep < 0 && l.SecondDocument < 0 && b.printable && !l.Open && len(l.Anchors) == 0 && len(l.Unanchored) == 0
}

// blockKey identifies the content of a block.
type blockKey struct {
	lead, text string
	astray     bool
}

// knownBlocks holds the blocks of an earlier text that the next text can reuse. Nearly all of them are in the same
// order: before the edit counted from the start, and after it counted from the end.
type knownBlocks struct {
	count  int      // number of blocks in the next text
	head   []*block // equal to the first blocks of the next text
	tail   []*block // equal to the last blocks of the next text
	middle map[blockKey][]*block
	taken  int
}

func newKnownBlocks(prior *blockSet, text []byte, sections []cutSection) *knownBlocks {
	var next []stretch
	for _, s := range sections {
		next = append(append(next, s.head), s.entries...)
	}
	k := &knownBlocks{count: len(next)}
	if prior == nil {
		return k
	}
	old := prior.blocks
	for len(old) > 0 && len(next) > 0 && old[0].says(next[0], text) {
		k.head, old, next = append(k.head, old[0]), old[1:], next[1:]
	}
	last := len(old)
	for last > 0 && len(next) > 0 && old[last-1].says(next[len(next)-1], text) {
		last, next = last-1, next[:len(next)-1]
	}
	old, k.tail = old[:last], old[last:]
	k.middle = make(map[blockKey][]*block, len(old))
	for _, b := range old {
		key := blockKey{lead: string(b.lead), text: string(b.yaml.tree.Text.Source.Text()), astray: b.astray}
		k.middle[key] = append(k.middle[key], b)
	}
	return k
}

// says reports whether a block has the text and the properties of a stretch.
func (b *block) says(s stretch, text []byte) bool {
	return b.astray == s.astray && bytes.Equal(b.lead, s.lead) && (b.lead == nil) == (s.lead == nil) &&
		bytes.Equal(b.yaml.tree.Text.Source.Text(), text[s.start:s.end])
}

// take returns the known block for the next stretch, or nil if there is none. lines is the number of lines above it.
func (k *knownBlocks) take(s stretch, body []byte, lines int) *block {
	pos := k.taken
	k.taken++
	var b *block
	switch {
	case pos < len(k.head):
		b = k.head[pos]
	case k.count-pos <= len(k.tail):
		b = k.tail[len(k.tail)-(k.count-pos)]
	default:
		key := blockKey{lead: string(s.lead), text: string(body), astray: s.astray}
		list := k.middle[key]
		i := slices.IndexFunc(list, func(b *block) bool { return b.canStand(lines) })
		if i < 0 {
			return nil
		}
		b = list[i]
		k.middle[key] = slices.Delete(list, i, i+1)
	}
	if !b.canStand(lines) || b.deeper != s.deeper {
		return nil
	}
	return b
}

// namesLines reports whether a finding in the block mentions a line number.
func (b *block) namesLines() bool {
	return b.yaml.tree.Text.NamesLines || b.read != nil && b.read.lines
}

// canStand reports whether the findings of a block remain valid with the given number of lines above it.
func (b *block) canStand(lines int) bool {
	text := &b.yaml.tree.Text
	return !(text.NamesLines && text.LinesAbove != lines || b.read != nil && b.read.lines && b.read.above != lines)
}

// holds reports whether parsing the blocks separately gives the same result as parsing the whole text. It also sets
// s.open.
func (s *blockSet) holds(text []byte) bool {
	if crossing(s.blocks) {
		return false
	}
	for _, b := range s.blocks {
		if b.asWritten.TooDeep >= 0 || b.asWritten.SecondDocument >= 0 || !b.printable {
			return false
		}
		if len(b.top) == 0 && !b.failed && b.lead == nil && !b.yaml.tree.Repairs.Any() {
			return false // the block is empty, as in an empty text
		}
	}
	doubtful := false
	for i, b := range s.blocks {
		s.open = s.open || b.asWritten.Open
		doubtful = doubtful || b.astray && !b.deeper || // the entries below may belong to it
			b.asWritten.Open && yamlnode.ClosesLater(text, s.places[i].start, s.end(i, len(text)))
		if doubtful {
			s.open = true
			break
		}
	}
	if doubtful {
		whole := yamlnode.Tree{Text: yamlnode.Text{Bytes: text}}
		whole.Scan()
		return whole.Read() != nil
	}
	return true
}
