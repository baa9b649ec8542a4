package parser

import (
	"bytes"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Document is the text of a program that is being edited. It is parsed in blocks, so that the cost of an edit depends
// on the size of the edited block, and a fault is confined to its block. A Document is immutable; documents derived
// from it by edits share the parts that have been parsed. It is safe for concurrent use.
type Document struct {
	src    *diag.Source
	set    *blockSet // nil if the text must be parsed as a whole
	shared *reads    // shared with the documents derived by edits
}

// Edit replaces the bytes of a text in [Start, End).
type Edit struct {
	Start, End int // byte offsets
	Text       string
}

// NewDocument divides a text into blocks and parses their YAML, but nothing else yet.
func NewDocument(src *diag.Source) *Document {
	d := &Document{src: src, shared: new(reads)}
	d.cut(nil)
	return d
}

// Source returns the whole text.
func (d *Document) Source() *diag.Source { return d.src }

// Edit returns the document after applying edits one after the other. The offsets of each edit refer to the result of
// the edits before it. Offsets outside of the text are moved to its nearest end.
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

// byBlocks parses a text with a syntax error in blocks. It returns nil if the blocks do not locate the error.
func (t *yamlText) byBlocks() *blockSet {
	sections, _ := cut(t.tree.Text.Bytes)
	if sections == nil {
		return nil
	}
	found := false
	set := newBlockSet(sections, func(s stretch) (*block, int) {
		b := newBlock(t.tree.Text.Source, s, slices.Concat(s.lead, t.tree.Text.Bytes[s.start:s.end]), s.start, 0)
		found = found || b.yaml.diags.HasErrors()
		return b, 0
	})
	if !found || crossing(set.blocks) || slices.ContainsFunc(set.blocks,
		func(b *block) bool { return b.asWritten.TooDeep >= 0 }) {
		return nil
	}
	return set
}

// outline collects the sections from the blocks. whole is the text that contains the blocks; included reports whether
// another text includes it. origins is nil unless the blocks have sources of their own.
func (s *blockSet) outline(whole *yamlText, origins *ast.Origins, options Options, included bool) *outline {
	r := newBodyReader(&whole.tree.Text, &whole.findings, &whole.tree.Repairs, nil)
	var top []*section
	var heads []*bodyReader
	var roots []*yamlnode.Node
	var lost []string
	seen := map[string]int{}           // indexes in top
	written := map[string]diag.Range{} // range of the first occurrence of each key
	for _, b := range s.blocks {
		r.diags.Add(b.yaml.diags...)
		roots = append(roots, b.yaml.tree.Root)
		lost = append(lost, b.yaml.tree.Repairs.Lost...)
	}
	for _, cut := range s.sections {
		head := s.headReader(cut.head, origins)
		heads = append(heads, head)
		for _, next := range s.topOf(cut, head) {
			if first, again := seen[next.name]; again {
				head.duplicate(next.name, next.at, written[next.name])
				if len(top[first].parts) == 0 && yamlnode.IsNull(top[first].value.Target()) { // as nodeReader.entries does
					top[first] = next
				}
				continue
			}
			seen[next.name], written[next.name] = len(top), next.at
			top = append(top, next)
		}
	}
	o := newOutline(r, top, options, included)
	o.roots, o.heads, o.file.Lost = roots, heads, lost
	o.gatherDiags()
	return o
}

// headReader returns the reader of a top-level block. origins belongs to the whole text.
func (s *blockSet) headReader(i int, origins *ast.Origins) *bodyReader {
	y := s.blocks[i].yaml
	place := y.tree.Text
	place.LinesAbove = s.places[i].lines
	if origins != nil {
		place.Whole = origins
	}
	return newBodyReader(&place, &findings{found: y.found}, &y.tree.Repairs, nil)
}

// topOf returns the top-level keys in the first block of a section, which head reads. The entries in the other blocks
// become parts of the first key.
func (s *blockSet) topOf(cut blockSection, head *bodyReader) []*section {
	var list []*section
	for _, e := range s.blocks[cut.head].top {
		list = append(list, &section{entry: e, in: head})
	}
	for i := cut.head + 1; i < cut.end; i++ {
		for _, e := range s.blocks[i].top {
			if len(list) == 0 { // a repair has removed the line of the key
				key := e
				nothing := *e.value
				nothing.Kind, nothing.Content, nothing.Tag = yamlnode.Scalar, nil, yamlnode.NullTag
				key.value = &nothing
				list = []*section{{entry: key, in: head}}
			}
			list[0].parts = append(list[0].parts, part{entry: e, block: s.blocks[i], lines: s.places[i].lines})
		}
	}
	for _, s := range list {
		s.from = head.nodeReader
	}
	return list
}

// File parses the document. Ranges in the result may refer to a block instead of the whole text; Place and the file's
// Origins convert them. A declaration remains the same pointer from one document to the next as long as its block has
// not changed and the names in it have the same meaning.
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
	whole, origins := newText(d.src), d.origins()
	whole.tree.Text.Whole = origins
	o := d.set.outline(whole, origins, options, false)
	file, diags := o.finish()
	d.keep(o, file, diags)
	file.Origins = origins
	return file, diags
}

func (d *Document) origins() *ast.Origins {
	return &ast.Origins{Whole: d.src, Start: d.set.start}
}

// Place returns the range of the whole text that corresponds to a range in a block. It returns any other range
// unchanged.
func (d *Document) Place(r diag.Range) diag.Range {
	if d.set == nil {
		return r
	}
	return d.origins().Place(r)
}

// Named identifies an entry of a section whose keys are names.
type Named struct {
	Section string // config, configuration, variables or resources
	Name    string
}

// DeclaredSince returns the names of configuration values, variables and resources in blocks that prior, from which
// this document was derived, does not have. It skips blocks that cannot be parsed, and returns nil if the text is
// parsed as a whole.
func (d *Document) DeclaredSince(prior *Document) []Named {
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
			if prior != nil && prior.set != nil {
				if _, known := prior.set.start(b.yaml.tree.Text.Source); known {
					continue
				}
			}
			for _, e := range b.top { // the section's key; the entry is its value
				for _, name := range textKeys(e.value.Target()) {
					if named {
						names = append(names, Named{Section: key, Name: name})
					}
				}
			}
		}
	}
	return names
}

// Block returns the range in the whole text of the block that contains an offset. It is the whole text if that is not
// divided into blocks.
func (d *Document) Block(offset int) diag.Range {
	if d.set == nil || len(d.set.blocks) == 0 {
		return diag.NewRange(d.src, 0, d.src.Len())
	}
	i := d.set.at(offset)
	return diag.NewRange(d.src, d.set.places[i].start, d.set.end(i, d.src.Len()))
}

// Near returns the part of the text that is needed to interpret an offset: the block around it preceded by the key of
// its section, or the whole text. shift is the difference between an offset in the document and the same position in
// the result.
func (d *Document) Near(offset int) (text []byte, shift int) {
	if d.set == nil || len(d.set.blocks) == 0 || d.set.open {
		return d.src.Text(), 0
	}
	i := d.set.at(offset)
	b := d.set.blocks[i]
	if b.astray || b.failed || offset < d.set.places[i].start {
		return d.src.Text(), 0 // it may belong to the text above
	}
	return slices.Concat(b.lead, b.yaml.tree.Text.Source.Text()), d.set.places[i].start - len(b.lead)
}

// Inside returns the source of the block that contains an offset of the whole text, and the offset in that source.
// Without blocks it returns the whole source and the same offset.
func (d *Document) Inside(offset int) (*diag.Source, int) {
	if d.set == nil || len(d.set.blocks) == 0 {
		return d.src, offset
	}
	i := d.set.at(offset)
	return d.set.blocks[i].yaml.tree.Text.Source, offset - d.set.places[i].start
}
