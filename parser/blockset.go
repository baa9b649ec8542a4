package parser

import (
	"slices"
	"sort"
	"sync"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// blockSet is a text divided into blocks. A set is immutable once holds has been called, but for the results that
// blocks keep, which the lock of the documents guards (editState).
type blockSet struct {
	sections []blockSection
	blocks   []*block // all blocks, in the order of the text
	places   []blockPlace
	usual    int  // most frequent indentation of entries; 0 if there is no clear majority
	open     bool // quotes or brackets may be open at the end of some block, so that no block can be changed alone

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
	// An index that is shared with an earlier set may name a block that has been replaced since.
	if !ok || s.blocks[i].yaml.tree.Text.Source != src {
		return 0, false
	}
	return s.places[i].start, true
}

// maxReplaced is the maximum size of the map replace. Beyond it, the index is rebuilt.
const maxReplaced = 64

// with returns a copy of the set in which block i is replaced by b. The text grows by the given numbers of bytes and
// lines. All blocks keep their sources, so that declarations in the others stay the same.
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

// inside reports whether an entry has the usual indentation and all lines after its first one are indented deeper.
// first is the offset of its second line.
func (s *blockSet) inside(body []byte, first int) bool {
	lines := yamlnode.ContentLines(body)
	if len(lines) == 0 || lines[0].Indent != s.usual || lines[0].Tab || lines[0].Next != first {
		return false
	}
	return !slices.ContainsFunc(lines[1:], func(l yamlnode.Line) bool { return l.Tab || l.Indent <= s.usual })
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
	for len(old) > 0 && len(next) > 0 && old[0].hasText(next[0], text) {
		k.head, old, next = append(k.head, old[0]), old[1:], next[1:]
	}
	last := len(old)
	for last > 0 && len(next) > 0 && old[last-1].hasText(next[len(next)-1], text) {
		last, next = last-1, next[:len(next)-1]
	}
	old, k.tail = old[:last], old[last:]
	k.middle = make(map[blockKey][]*block, len(old))
	for _, b := range old {
		// Only what lies between the equal ends is compared by its text: after an edit in several places, or one that
		// moves entries.
		key := blockKey{lead: string(b.lead), text: string(b.yaml.tree.Text.Source.Text()), astray: b.astray}
		k.middle[key] = append(k.middle[key], b)
	}
	return k
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
		// A block stands for one stretch: of equal entries each needs its own places.
		k.middle[key] = slices.Delete(list, i, i+1)
	}
	if !b.canStand(lines) || b.deeper != s.deeper {
		return nil
	}
	return b
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
	if doubtful { // a sound text has to be read as a whole; in a faulty one, the blocks confine the fault
		whole := yamlnode.Tree{Text: yamlnode.Text{Bytes: text}}
		whole.Scan()
		return whole.Read() != nil
	}
	return true
}
