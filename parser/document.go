package parser

import (
	"bytes"
	"slices"

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
	shared *reads    // with the documents that edits make of it
}

// Edit replaces the bytes of a text from Start up to but not including End.
type Edit struct {
	Start, End int // byte offsets
	Text       string
}

// NewDocument cuts a text into blocks. It reads nothing yet but their YAML.
func NewDocument(src *diag.Source) *Document {
	d := &Document{src: src, shared: new(reads)}
	d.cut(nil)
	return d
}

// Source is the whole text.
func (d *Document) Source() *diag.Source { return d.src }

// Edit makes the document that comes of edits, which are applied one after the other: each speaks of the text that the
// ones before it have left. Offsets outside of the text are moved to its nearest end.
func (d *Document) Edit(edits ...Edit) *Document {
	if len(edits) == 1 {
		if next := d.editInside(edits[0]); next != nil {
			return next
		}
	}
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

// byBlocks reads a text with a syntax error by blocks; nil where they do not tell where the error is.
func (p *parser) byBlocks() *blockSet {
	sections := cut(p.text)
	if sections == nil {
		return nil
	}
	found := false
	set := newBlockSet(sections, func(s stretch) (*block, int) {
		b := newBlock(p.src, s, p.text[s.start:s.end], s.start, 0, p.options)
		found = found || b.p.diags.HasErrors()
		return b, 0
	})
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
	seen := map[string]int{}           // places in top
	written := map[string]diag.Range{} // where each key stands first
	for _, b := range s.blocks {
		p.diags.Add(b.p.diags...)
		roots = append(roots, b.p.yamlRoot)
		lost = append(lost, b.p.lost...)
	}
	for _, section := range s.sections {
		first := s.blocks[section.head]
		head := *first.p
		head.diags, head.options, head.linesAbove, head.origins = nil, p.options, s.places[section.head].lines, p.origins
		heads = append(heads, &head)
		entries := slices.Clone(first.top)
		for i := range entries {
			entries[i].p = &head
		}
		for i, b := range s.blocks[section.head+1 : section.end] {
			for _, e := range b.top {
				if len(entries) == 0 { // the line of the key was taken out
					key := e
					nothing := *e.value
					nothing.Kind, nothing.Content, nothing.Tag = yaml.ScalarNode, nil, nullTag
					key.value = &nothing
					entries = []entry{key}
				}
				e.block, e.line = b, s.places[section.head+1+i].lines
				entries[0].parts = append(entries[0].parts, e)
			}
		}
		for _, e := range entries {
			if first, again := seen[e.name]; again {
				head.duplicate(e.name, e.at, written[e.name])
				if len(top[first].parts) == 0 && empty(p.deref(top[first].value)) { // as entries does
					top[first] = e
				}
				continue
			}
			seen[e.name], written[e.name] = len(top), e.at
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
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	if file, diags, ok := d.patched(options); ok {
		file.Origins = d.origins()
		return file, diags
	}
	p := &parser{src: d.src, text: d.src.Text(), options: options, origins: d.origins()}
	o := d.set.outline(p, false)
	file, diags := p.finish(o)
	d.keep(options, o, file, diags)
	file.Origins = p.origins
	return file, diags
}

func (d *Document) origins() *ast.Origins {
	return &ast.Origins{Whole: d.src, Start: d.set.start}
}

// Place is a range of the whole text for one of a block, and any other range as it is.
func (d *Document) Place(r diag.Range) diag.Range {
	if d.set == nil {
		return r
	}
	return d.origins().Place(r)
}

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
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	var names []Named
	for _, section := range d.set.sections {
		head := d.set.blocks[section.head]
		if len(head.top) == 0 {
			continue
		}
		key, named := canonical(head.top[0].name, []string{"config", "configuration", "variables", "resources"})
		for _, b := range d.set.blocks[section.head+1 : section.end] {
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
	i := d.set.at(offset)
	return diag.NewRange(d.src, d.set.places[i].start, d.set.end(i, d.src.Text()))
}

// Inside is the block that holds an offset of the whole text, and the offset in it. Without blocks that is the text
// itself.
func (d *Document) Inside(offset int) (*diag.Source, int) {
	if d.set == nil || len(d.set.blocks) == 0 {
		return d.src, offset
	}
	i := d.set.at(offset)
	return d.set.blocks[i].p.src, offset - d.set.places[i].start
}
