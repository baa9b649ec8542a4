package parser

import (
	"bytes"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// SpanKind is the kind of value of a Span.
type SpanKind uint8

// The kinds of values.
const (
	ScalarSpan SpanKind = iota
	MapSpan
	ListSpan
	BrokenSpan // a stretch of the text that cannot be read
)

// Span is an entry of a map or an item of a list, by its places in the whole text.
type Span struct {
	Name       string     // the key's text; empty for an item of a list
	Key, Value diag.Range // Key is zero for an item of a list
	Kind       SpanKind
	Flow       bool // in brackets
	Children   []Span
}

// Range returns the place of the entry: from the key to the end of the value.
func (s Span) Range() diag.Range {
	if s.Key.IsZero() {
		return s.Value
	}
	return diag.NewRange(s.Key.Source, int(s.Key.Start), max(int(s.Key.End), int(s.Value.End)))
}

// Spans returns the entries at the top of the document with all inside of them, in the order of the text. A block that
// cannot be read is one BrokenSpan; a document without blocks that cannot be read has no spans.
func (d *Document) Spans() []Span {
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	if d.set == nil {
		t := newText(d.src)
		if !t.screen() {
			return nil
		}
		root, err := readTree(t.text, t.lexed)
		if err != nil || root == nil {
			return nil
		}
		return t.spans(root)
	}
	var all []Span
	for _, section := range d.set.sections {
		head := d.blockSpans(section.head)
		var entries []Span
		for i := section.head + 1; i < section.end; i++ {
			for _, s := range d.blockSpans(i) {
				if s.Kind == BrokenSpan {
					entries = append(entries, s)
					continue
				}
				entries = append(entries, s.Children...) // of the section's key, which is read in front of the block
			}
		}
		if last := len(head) - 1; last >= 0 && len(entries) > 0 && head[last].Kind != BrokenSpan {
			s := &head[last]
			s.Kind, s.Children = MapSpan, append(s.Children, entries...)
			s.Value = diag.NewRange(d.src, int(entries[0].Range().Start), int(entries[len(entries)-1].Range().End))
			entries = nil
		}
		all = append(all, append(head, entries...)...)
	}
	return all
}

// blockSpans returns the spans of one block, placed in the whole text. The caller holds d.shared.
func (d *Document) blockSpans(i int) []Span {
	spans := d.set.blocks[i].spans()
	d.placeSpans(spans)
	return spans
}

// spans returns the spans of a block, by its own places.
func (b *block) spans() []Span {
	if b.failed || b.yaml.root == nil {
		body := b.yaml.src.Text()
		start := len(body) - len(bytes.TrimLeft(body, " \t\r\n"))
		end := len(bytes.TrimRight(body, " \t\r\n"))
		if start >= end {
			return nil
		}
		return []Span{{Value: diag.NewRange(b.yaml.src, start, end), Kind: BrokenSpan}}
	}
	return b.yaml.spans(b.yaml.root)
}

// Part is a part of a document that is read separately.
type Part struct {
	Source      *diag.Source // the same for as long as the stretch stays what it is
	Start, Line int          // a byte offset in the document; lines above
}

// Parts returns the parts of the document, in order; nil where it is read as a whole.
func (d *Document) Parts() []Part {
	if d.set == nil {
		return nil
	}
	parts := make([]Part, len(d.set.blocks))
	for i, b := range d.set.blocks {
		parts[i] = Part{Source: b.yaml.src, Start: d.set.places[i].start, Line: d.set.places[i].lines}
	}
	return parts
}

// SpansIn returns the spans of a part, by the places of its own source. Those of an entry stand in one of its section.
func (d *Document) SpansIn(part int) []Span {
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	return d.set.blocks[part].spans()
}

func (d *Document) placeSpans(spans []Span) {
	for i := range spans {
		spans[i].Key, spans[i].Value = d.Place(spans[i].Key), d.Place(spans[i].Value)
		d.placeSpans(spans[i].Children)
	}
}

// spans returns the entries or items of a located node. The node that an alias stands for is not inside of the alias.
func (p *passage) spans(n *node) []Span {
	var spans []Span
	switch n.kind {
	case mapNode:
		for i := 0; i+1 < len(n.content); i += 2 {
			s := p.valueSpan(n.content[i+1])
			s.Name, s.Key = n.content[i].value, p.span(n.content[i])
			spans = append(spans, s)
		}
	case listNode:
		for _, item := range n.content {
			spans = append(spans, p.valueSpan(item))
		}
	}
	return spans
}

func (p *passage) valueSpan(n *node) Span {
	s := Span{Value: p.span(n), Flow: n.flow(), Children: p.spans(n)}
	switch n.kind {
	case mapNode:
		s.Kind = MapSpan
	case listNode:
		s.Kind = ListSpan
	}
	return s
}
