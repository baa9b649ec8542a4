package parser

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// blockSet is a text cut into blocks.
type blockSet struct {
	sections []blockSection
	blocks   []*block // all of them, in order
	places   []blockPlace
	usual    int  // how deep the entries of sections stand where most do; 0 where that is not clear
	open     bool // quotes or brackets are open at the end of some block, or that has not been asked

	indexed sync.Once
	index   map[*diag.Source]int // of the blocks by their texts, as of the set that it was made for
	replace map[*diag.Source]int // of those that edits have put in since
}

// blockSection is a key at the top: head is the block of the key, and the blocks of its entries follow up to, but not
// including, end. Both are indexes among all blocks.
type blockSection struct{ head, end int }

// blockPlace is where a block begins.
type blockPlace struct {
	start int // byte offset in the text
	lines int // number of lines before its source in the text that the user sees
}

// newBlockSet makes a set of the blocks that read returns for each part: a block, and how many lines come before it.
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

// at returns the block that holds an offset.
func (s *blockSet) at(offset int) int {
	return max(sort.Search(len(s.places), func(i int) bool { return s.places[i].start > offset })-1, 0)
}

// end is where a block of a text of so many bytes ends.
func (s *blockSet) end(i, length int) int {
	if i+1 < len(s.places) {
		return s.places[i+1].start
	}
	return length
}

// start is where the block with a text begins.
func (s *blockSet) start(src *diag.Source) (int, bool) {
	i, ok := s.replace[src]
	if !ok {
		s.indexed.Do(func() {
			if s.index != nil {
				return
			}
			s.index = make(map[*diag.Source]int, len(s.blocks))
			for i, b := range s.blocks {
				s.index[b.yaml.src] = i
			}
		})
		i, ok = s.index[src]
	}
	if !ok || s.blocks[i].yaml.src != src {
		return 0, false
	}
	return s.places[i].start, true
}

// maxReplaced bounds how many blocks are found beside the index before it is made anew.
const maxReplaced = 64

// with returns the set with another block in one place, in a text that is longer by some bytes and lines behind it.
func (s *blockSet) with(i int, b *block, bytes, lines int) *blockSet {
	next := &blockSet{sections: s.sections, blocks: slices.Clone(s.blocks), places: slices.Clone(s.places),
		usual: s.usual, open: s.open}
	next.blocks[i] = b
	for j := i + 1; j < len(next.places); j++ {
		next.places[j].start += bytes
		next.places[j].lines += lines
	}
	s.start(nil) // makes the index
	if len(s.replace) >= maxReplaced {
		return next
	}
	next.index, next.replace = s.index, make(map[*diag.Source]int, len(s.replace)+1)
	for src, pos := range s.replace {
		if pos != i {
			next.replace[src] = pos
		}
	}
	next.replace[b.yaml.src] = i
	return next
}

// cut cuts the text into blocks. It takes over blocks that another set has already.
func (d *Document) cut(from *blockSet) {
	text := d.src.Text()
	sections, usual := cut(text)
	if sections == nil {
		return
	}
	known := newKnownBlocks(from, text, sections)
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

// ownBlock reads the YAML of a stretch that becomes a source of its own.
func ownBlock(name string, s stretch, body []byte, line int) *block {
	text := slices.Concat(s.lead, body)
	b := newBlock(diag.NewSource(name, text[len(s.lead):]), s, text, 0, line)
	b.printable = oddCharacter(body) == nil
	below := body
	if s.lead == nil {
		_, below, _ = bytes.Cut(body, []byte("\n"))
	}
	for len(below) > 0 && !b.flush {
		var line []byte
		line, below, _ = bytes.Cut(below, []byte("\n"))
		b.flush = len(line) > 0 && bytes.IndexByte([]byte(" \r#"), line[0]) < 0 && !bytes.HasPrefix(line, []byte("- "))
	}
	return b
}

// Outline returns the text with the lines of the sections left empty that begin with some prefixes, and without empty
// lines at its end; ok is false where blocks do not tell which lines those are.
func (d *Document) Outline(prefixes []string) (text []byte, ok bool) {
	if d.set == nil {
		return nil, false
	}
	part := func(from, to int) string { return diag.NewRange(d.src, from, to).Text() }
	set, length := d.set, d.src.Len()
	text = []byte(part(0, set.places[0].start))
	empty := 0 // lines before what is kept next
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

// editInside returns the document after an edit inside of one entry that surely leaves all others where they are: it
// touches lines below the first one of the entry, which stand deeper than entries do before and after. It is nil for
// any other edit.
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
	inside := Edit{e.Start - from, e.End - from, e.Text}.trimmed([]byte(text))
	if inside.Start == inside.End && inside.Text == "" {
		return d
	}
	e = Edit{inside.Start + from, inside.End + from, inside.Text}
	if old.lead == nil || old.astray || !last && e.End == to {
		return nil
	}
	body := []byte(text[:inside.Start] + e.Text + text[inside.End:])
	first := bytes.IndexByte(body, '\n') + 1
	if first == 0 || inside.Start < first || !last && body[len(body)-1] != '\n' || oddBreaks(body) ||
		!set.inside([]byte(text), first) || !set.inside(body, first) {
		return nil
	}
	lines := strings.Count(e.Text, "\n") - strings.Count(text[inside.Start:inside.End], "\n")
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

// trimmed returns an edit without what is the same before and after it.
func (e Edit) trimmed(text []byte) Edit {
	for e.Start < e.End && e.Text != "" && text[e.Start] == e.Text[0] {
		e.Start, e.Text = e.Start+1, e.Text[1:]
	}
	for e.Start < e.End && e.Text != "" && text[e.End-1] == e.Text[len(e.Text)-1] {
		e.End, e.Text = e.End-1, e.Text[:len(e.Text)-1]
	}
	return e
}

// inside reports whether an entry begins as deep as usual, and all its lines behind the first one stand deeper.
func (s *blockSet) inside(body []byte, first int) bool {
	lines := contentLines(body)
	if len(lines) == 0 || lines[0].indent != s.usual || lines[0].tab || lines[0].next != first {
		return false
	}
	return !slices.ContainsFunc(lines[1:], func(l textLine) bool { return l.tab || l.indent <= s.usual })
}

// standsAlone reports whether a block can take the place of another, and have another in its place, as far as the
// blocks of a text have to hold together.
func (b *block) standsAlone() bool {
	l := b.asWritten
	return l.tooDeep < 0 && l.secondDocument < 0 && b.printable && !l.open && len(l.anchors) == 0 && len(l.unanchored) == 0
}

// blockKey identifies a block: blocks of two texts with equal keys are the same.
type blockKey struct {
	lead, text string
	astray     bool
}

// knownBlocks are the blocks of an earlier text that the next text can reuse. Nearly all of them come in the same
// order: counted from the start before an edit, and from the end behind it.
type knownBlocks struct {
	count   int      // of the blocks of the next text
	before  []*block // equal to the blocks at the start of the next text
	behind  []*block // the same as the last ones of the next text
	between map[blockKey][]*block
	taken   int
}

func newKnownBlocks(from *blockSet, text []byte, sections []cutSection) *knownBlocks {
	var next []stretch
	for _, s := range sections {
		next = append(append(next, s.head), s.entries...)
	}
	k := &knownBlocks{count: len(next)}
	if from == nil {
		return k
	}
	old := from.blocks
	for len(old) > 0 && len(next) > 0 && old[0].says(next[0], text) {
		k.before, old, next = append(k.before, old[0]), old[1:], next[1:]
	}
	last := len(old)
	for last > 0 && len(next) > 0 && old[last-1].says(next[len(next)-1], text) {
		last, next = last-1, next[:len(next)-1]
	}
	old, k.behind = old[:last], old[last:]
	k.between = make(map[blockKey][]*block, len(old))
	for _, b := range old {
		key := blockKey{lead: string(b.lead), text: string(b.yaml.src.Text()), astray: b.astray}
		k.between[key] = append(k.between[key], b)
	}
	return k
}

// says reports whether a block has the text of a stretch.
func (b *block) says(s stretch, text []byte) bool {
	return b.astray == s.astray && bytes.Equal(b.lead, s.lead) && (b.lead == nil) == (s.lead == nil) &&
		bytes.Equal(b.yaml.src.Text(), text[s.start:s.end])
}

// take returns the known block for the next stretch, above which some lines stand; nil where there is none.
func (k *knownBlocks) take(s stretch, body []byte, lines int) *block {
	pos := k.taken
	k.taken++
	var b *block
	switch {
	case pos < len(k.before):
		b = k.before[pos]
	case k.count-pos <= len(k.behind):
		b = k.behind[len(k.behind)-(k.count-pos)]
	default:
		key := blockKey{lead: string(s.lead), text: string(body), astray: s.astray}
		list := k.between[key]
		i := slices.IndexFunc(list, func(b *block) bool { return b.canStand(lines) })
		if i < 0 {
			return nil
		}
		b = list[i]
		k.between[key] = slices.Delete(list, i, i+1)
	}
	if !b.canStand(lines) || b.deeper != s.deeper {
		return nil
	}
	return b
}

// namesLines reports whether what has been said of a block speaks of lines.
func (b *block) namesLines() bool { return b.yaml.namesLines || b.read != nil && b.read.lines }

// canStand reports whether a block says what it says where so many lines stand above it.
func (b *block) canStand(lines int) bool {
	return !(b.yaml.namesLines && b.yaml.linesAbove != lines || b.read != nil && b.read.lines && b.read.above != lines)
}

// holds reports whether the blocks say the same as the whole text does.
func (s *blockSet) holds(text []byte) bool {
	if crossing(s.blocks) {
		return false
	}
	for _, b := range s.blocks {
		if b.asWritten.tooDeep >= 0 || b.asWritten.secondDocument >= 0 || !b.printable {
			return false
		}
		if len(b.top) == 0 && !b.failed && b.lead == nil && !b.yaml.repairs.any() {
			return false // nothing is in it, as in an empty text
		}
	}
	doubtful := false
	for i, b := range s.blocks {
		s.open = s.open || b.asWritten.open
		doubtful = doubtful || b.astray && !b.deeper || // it may be what the entries below it belong to
			b.asWritten.open && closesLater(text, s.places[i].start, s.end(i, len(text)))
		if doubtful {
			s.open = true
			break
		}
	}
	if doubtful {
		_, err := readTree(text, lex(text))
		return err != nil
	}
	return true
}

// closesLater reports whether the quotes or brackets that are open at the end of a stretch may be closed further below.
func closesLater(text []byte, start, end int) bool {
	l := &lexer{text: text, fresh: true, keyLine: -1, value: -1, i: start, lineStart: start}
	l.tooDeep, l.secondDocument = -1, -1
	for l.tooDeep < 0 && l.next() {
		if l.i >= end && len(l.flow) == 0 {
			break
		}
	}
	return !l.open && len(l.flow) == 0 &&
		l.first(suspectQuoteOpen, suspectQuoteTail, suspectFlowOpen, suspectCloser, suspectInterpolation) == nil
}
