package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Document is the text of a program that is being edited. It is parsed in blocks, so that the cost of an edit depends
// on the size of the edited block, and a fault is confined to its block. A Document is immutable; documents derived
// from it by edits share the parts that have been parsed. It is safe for concurrent use.
type Document struct {
	src    *diag.Source
	set    *blockSet  // nil if the text must be parsed as a whole
	shared *editState // shared with the documents derived by edits
}

// Edit replaces the bytes of a text in [Start, End).
type Edit struct {
	Start, End int // byte offsets
	Text       string
}

// NewDocument divides a text into blocks and parses their YAML, but nothing else yet.
func NewDocument(src *diag.Source) *Document {
	d := &Document{src: src, shared: new(editState)}
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
	// Any other edit makes a new text, of which the unchanged blocks are found again by their content.
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

// File parses the document. Ranges in the result may refer to a block instead of the whole text; Place and the file's
// Origins convert them. A declaration remains the same pointer from one document to the next as long as its block has
// not changed and the names in it have the same meaning.
func (d *Document) File(options Options) (*ast.File, diag.Diagnostics) {
	if d.set == nil {
		return Parse(d.src, options)
	}
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	// The usual keystroke: one entry has changed, and no name.
	if file, diags, ok := d.shared.patched(d.set, d.src, options); ok {
		file.Origins = d.origins()
		return file, diags
	}
	whole, origins := newText(d.src), d.origins()
	whole.tree.Text.Whole = origins
	o := d.set.outline(whole, origins, options, false)
	file, diags := o.finish()
	d.shared.keep(d.set, o, file, diags)
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
	// The edit may only seem to reach into the next block, where its new text ends as the old one did.
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
