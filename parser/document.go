package parser

import (
	"bytes"
	"slices"
	"sort"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Document is the text of a program that is being edited. It is read by blocks, so that an edit costs little more than
// what it touches, and a fault stays in its block. A Document is immutable; what has been read is shared with the
// documents that edits make of it. It is safe for concurrent use.
type Document struct {
	src    *diag.Source
	set    *blockSet // nil where the text has to be read as a whole
	starts map[*diag.Source]int
	shared *sync.Mutex // guards what blocks know, of this document and those made of it
}

// Edit replaces the bytes of a text from Start up to but not including End.
type Edit struct {
	Start, End int // byte offsets
	Text       string
}

// blockSet is a text cut into blocks.
type blockSet struct {
	sections []blockSection
	blocks   []*block // all of them, in order
}

type blockSection struct {
	head    *block
	entries []*block
}

// NewDocument cuts a text into blocks. It reads nothing yet but their YAML.
func NewDocument(src *diag.Source) *Document {
	d := &Document{src: src, shared: new(sync.Mutex)}
	d.cut(nil)
	return d
}

// Source is the whole text.
func (d *Document) Source() *diag.Source { return d.src }

// Edit makes the document that comes of edits, which are applied one after the other: each speaks of the text that the
// ones before it have left. Offsets outside of the text are moved to its nearest end.
func (d *Document) Edit(edits ...Edit) *Document {
	text := d.src.Text()
	for _, e := range edits {
		start := min(max(e.Start, 0), len(text))
		end := min(max(e.End, start), len(text))
		text = slices.Concat(text[:start], []byte(e.Text), text[end:])
	}
	if len(edits) == 0 {
		text = bytes.Clone(text)
	}
	next := &Document{src: diag.NewSource(d.src.Name(), text), shared: d.shared}
	next.cut(d.set)
	return next
}

// cut cuts the text into blocks, of which those that another set has already are taken over.
func (d *Document) cut(from *blockSet) {
	text := d.src.Text()
	sections := cut(text)
	if sections == nil {
		return
	}
	known := newKnownBlocks(from, text, sections)
	set := &blockSet{}
	d.starts = make(map[*diag.Source]int, known.count)
	d.shared.Lock()
	defer d.shared.Unlock()
	line, counted := 0, 0
	one := func(s stretch) *block {
		line += bytes.Count(text[counted:s.start], []byte("\n"))
		counted = s.start
		body := text[s.start:s.end]
		b := known.take(s, body, line)
		if b == nil {
			b = newBlock(diag.NewSource(d.src.Name(), bytes.Clone(body)), s, body, 0, line, Options{})
			b.printable = printableText(body)
		}
		d.starts[b.p.src] = s.start
		set.blocks = append(set.blocks, b)
		return b
	}
	for _, s := range sections {
		section := blockSection{head: one(s.head)}
		for _, e := range s.entries {
			section.entries = append(section.entries, one(e))
		}
		set.sections = append(set.sections, section)
	}
	if set.holds(text) {
		d.set = set
	} else {
		d.starts = nil
	}
}

// blockKey is what the blocks of two texts must have in common to be the same.
type blockKey struct {
	lead, text string
	astray     bool
}

// knownBlocks are the blocks of an earlier text, of which those of the next are taken. Nearly all of them come in the
// same order: before an edit from the start on, and behind it from the end.
type knownBlocks struct {
	count   int      // of the blocks of the next text
	before  []*block // the same as those of the next text, from its start on
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
		key := blockKey{lead: string(b.lead), text: string(b.p.src.Text()), astray: b.astray}
		k.between[key] = append(k.between[key], b)
	}
	return k
}

// says reports whether a block has the text of a stretch.
func (b *block) says(s stretch, text []byte) bool {
	return b.astray == s.astray && bytes.Equal(b.lead, s.lead) && (b.lead == nil) == (s.lead == nil) &&
		bytes.Equal(b.p.src.Text(), text[s.start:s.end])
}

// take is the known block for the next stretch; nil where there is none.
func (k *knownBlocks) take(s stretch, body []byte, line int) *block {
	at := k.taken
	k.taken++
	switch {
	case at < len(k.before):
		return k.before[at].moved(s, line)
	case k.count-at <= len(k.behind):
		return k.behind[len(k.behind)-(k.count-at)].moved(s, line)
	}
	key := blockKey{lead: string(s.lead), text: string(body), astray: s.astray}
	for i, b := range k.between[key] {
		if b = b.moved(s, line); b != nil {
			k.between[key] = slices.Delete(k.between[key], i, i+1)
			return b
		}
	}
	return nil
}

// moved is a block at another place; nil for one that speaks of the line it stands in.
func (b *block) moved(s stretch, line int) *block {
	if b.linesAbove != line && (b.p.namesLines || b.read != nil && b.read.lines) {
		return nil
	}
	moved := *b // the block belongs to a document that stays as it is
	moved.stretch, moved.linesAbove = s, line
	return &moved
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
		if len(b.top) == 0 && !b.failed && b.lead == nil && len(b.p.repairs) == 0 {
			return false // nothing is in it, as in an empty text
		}
	}
	for _, b := range s.blocks {
		if b.asWritten.open && closesLater(text, b.start, b.end) {
			var document node
			whole := &parser{text: text, lexed: lex(text)}
			return whole.unmarshal(&document) != nil
		}
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

// byBlocks reads a text with a syntax error by blocks; nil where they do not tell where the error is.
func (p *parser) byBlocks() *blockSet {
	sections := cut(p.text)
	if sections == nil {
		return nil
	}
	set := &blockSet{}
	found := false
	one := func(s stretch) *block {
		b := newBlock(p.src, s, p.text[s.start:s.end], s.start, 0, p.options)
		found = found || b.p.diags.HasErrors()
		set.blocks = append(set.blocks, b)
		return b
	}
	for _, s := range sections {
		section := blockSection{head: one(s.head)}
		for _, e := range s.entries {
			section.entries = append(section.entries, one(e))
		}
		set.sections = append(set.sections, section)
	}
	if !found || crossing(set.blocks) || slices.ContainsFunc(set.blocks,
		func(b *block) bool { return b.asWritten.tooDeep >= 0 }) {
		return nil
	}
	return set
}

// outline finds the sections among the blocks. p is the parser of the whole text.
func (s *blockSet) outline(p *parser, part bool) *outline {
	var top []entry
	var heads []*parser
	var roots []*node
	var lost []string
	seen := map[string]int{} // places in top
	for _, b := range s.blocks {
		p.diags.Add(b.p.diags...)
		roots = append(roots, b.p.yamlRoot)
		lost = append(lost, b.p.lost...)
	}
	for _, section := range s.sections {
		head := *section.head.p
		head.diags, head.options, head.linesAbove, head.origins = nil, p.options, section.head.linesAbove, p.origins
		heads = append(heads, &head)
		entries := slices.Clone(section.head.top)
		for i := range entries {
			entries[i].p = &head
		}
		for _, b := range section.entries {
			for _, e := range b.top {
				if len(entries) == 0 { // the line of the key was taken out
					key := e
					nothing := *e.value
					nothing.Kind, nothing.Content, nothing.Tag = yaml.ScalarNode, nil, nullTag
					key.value = &nothing
					entries = []entry{key}
				}
				e.block = b
				entries[0].parts = append(entries[0].parts, e)
			}
		}
		for _, e := range entries {
			if first, again := seen[e.name]; again {
				head.duplicate(e.name, e.at, top[first].at)
				if len(top[first].parts) == 0 && empty(p.deref(top[first].value)) { // as entries does
					top[first].value, top[first].parts, top[first].p = e.value, e.parts, e.p
				}
				continue
			}
			seen[e.name] = len(top)
			top = append(top, e)
		}
	}
	o := p.outline(top, part)
	o.roots, o.heads, o.file.Lost = roots, heads, lost
	o.gatherDiags()
	return o
}

// File reads the document. What it answers may speak of blocks instead of the whole text, which Place and the file's
// Origins tell apart; declarations whose blocks have not changed, and for which the names of the program mean the same,
// are the very ones that a document before has answered with.
func (d *Document) File(options Options) (*ast.File, diag.Diagnostics) {
	if d.set == nil {
		return Parse(d.src, options)
	}
	d.shared.Lock()
	defer d.shared.Unlock()
	p := &parser{src: d.src, text: d.src.Text(), options: options, origins: d.origins()}
	file, diags := p.finish(d.set.outline(p, false))
	file.Origins = p.origins
	return file, diags
}

func (d *Document) origins() *ast.Origins {
	return &ast.Origins{Whole: d.src, Starts: d.starts}
}

// Place is a range of the whole text for one of a block, and any other range as it is.
func (d *Document) Place(r diag.Range) diag.Range { return d.origins().Place(r) }

// Named is an entry of a section whose keys are names.
type Named struct {
	Section string // config, configuration, variables or resources
	Name    string
}

// Declared are the names of the program's configuration, variables and resources, as far as they can be read. There are
// none where the text is read as a whole.
func (d *Document) Declared() []Named {
	if d.set == nil {
		return nil
	}
	d.shared.Lock()
	defer d.shared.Unlock()
	var names []Named
	for _, section := range d.set.sections {
		if len(section.head.top) == 0 {
			continue
		}
		key, named := canonical(section.head.top[0].name, []string{"config", "configuration", "variables", "resources"})
		for _, b := range section.entries {
			for _, e := range b.top { // the section's key, in front of the entry
				for _, name := range entryNames(b.p, e) {
					if named {
						names = append(names, Named{Section: key, Name: name})
					}
				}
			}
		}
	}
	return names
}

// Block is the range of the whole text that is read together with an offset. It is the whole text where that is not
// read by blocks.
func (d *Document) Block(offset int) diag.Range {
	if d.set == nil || len(d.set.blocks) == 0 {
		return diag.NewRange(d.src, 0, len(d.src.Text()))
	}
	i := sort.Search(len(d.set.blocks), func(i int) bool { return d.set.blocks[i].start > offset })
	b := d.set.blocks[max(i-1, 0)]
	return diag.NewRange(d.src, b.start, b.end)
}

// Inside is the block that holds an offset of the whole text, and the offset in it. Without blocks that is the text
// itself.
func (d *Document) Inside(offset int) (*diag.Source, int) {
	if d.set == nil || len(d.set.blocks) == 0 {
		return d.src, offset
	}
	i := sort.Search(len(d.set.blocks), func(i int) bool { return d.set.blocks[i].start > offset })
	b := d.set.blocks[max(i-1, 0)]
	return b.p.src, offset - b.start
}
