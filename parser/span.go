package parser

import (
	"bytes"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// SpanKind is the kind of value of a Span.
type SpanKind uint8

// The kinds of values.
const (
	ScalarSpan SpanKind = iota
	MapSpan
	ListSpan
	BrokenSpan // a part of the text that cannot be parsed
)

// Span is an entry of a map or an item of a list, with its positions.
type Span struct {
	Name       string     // the key; empty for a list item
	Key, Value diag.Range // Key is zero for a list item
	Kind       SpanKind
	Flow       bool // written in brackets
	Children   []Span
}

// Range returns the range of the entry, from the key to the end of the value.
func (s Span) Range() diag.Range {
	if s.Key.IsZero() {
		return s.Value
	}
	return diag.NewRange(s.Key.Source, int(s.Key.Start), max(int(s.Key.End), int(s.Value.End)))
}

// Spans returns the top-level entries of the document with their children, in the order of the text. A block that
// cannot be parsed is a BrokenSpan. If a document without blocks cannot be parsed, the result is empty.
func (d *Document) Spans() []Span {
	d.shared.mu.Lock()
	defer d.shared.mu.Unlock()
	if d.set == nil {
		t := newText(d.src)
		if !t.screen() {
			return nil
		}
		if err := t.tree.Read(); err != nil || t.tree.Root == nil {
			return nil
		}
		return spansOf(&t.tree.Text, t.tree.Root)
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
				entries = append(entries, s.Children...) // children of the section's key, which precedes the block
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

// blockSpans returns the spans of one block, with ranges in the whole text. The caller holds d.shared.mu.
func (d *Document) blockSpans(i int) []Span {
	spans := d.set.blocks[i].spans()
	d.placeSpans(spans)
	return spans
}

// spans returns the spans of a block, with ranges in its own source.
func (b *block) spans() []Span {
	if b.failed || b.yaml.tree.Root == nil {
		body := b.yaml.tree.Text.Source.Text()
		start := len(body) - len(bytes.TrimLeft(body, " \t\r\n"))
		end := len(bytes.TrimRight(body, " \t\r\n"))
		if start >= end {
			return nil
		}
		return []Span{{Value: diag.NewRange(b.yaml.tree.Text.Source, start, end), Kind: BrokenSpan}}
	}
	return spansOf(&b.yaml.tree.Text, b.yaml.tree.Root)
}

// Part is a part of a document that is parsed separately.
type Part struct {
	Source      *diag.Source // the same pointer as long as the part is unchanged
	Start, Line int          // byte offset in the document; number of lines above
}

// Parts returns the parts of the document, in order, or nil if it is parsed as a whole.
func (d *Document) Parts() []Part {
	if d.set == nil {
		return nil
	}
	parts := make([]Part, len(d.set.blocks))
	for i, b := range d.set.blocks {
		parts[i] = Part{Source: b.yaml.tree.Text.Source, Start: d.set.places[i].start, Line: d.set.places[i].lines}
	}
	return parts
}

// SpansIn returns the spans of a part, with ranges in its own source. The span of an entry is a child of the span of
// its section.
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

// spans returns the entries or items of a node. It does not follow aliases.
func spansOf(p *yamlnode.Text, n *yamlnode.Node) []Span {
	var spans []Span
	switch n.Kind {
	case yamlnode.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			s := valueSpan(p, n.Content[i+1])
			s.Name, s.Key = n.Content[i].Value, p.Span(n.Content[i])
			spans = append(spans, s)
		}
	case yamlnode.List:
		for _, item := range n.Content {
			spans = append(spans, valueSpan(p, item))
		}
	}
	return spans
}

func valueSpan(p *yamlnode.Text, n *yamlnode.Node) Span {
	s := Span{Value: p.Span(n), Flow: n.Flow(), Children: spansOf(p, n)}
	switch n.Kind {
	case yamlnode.Map:
		s.Kind = MapSpan
	case yamlnode.List:
		s.Kind = ListSpan
	}
	return s
}
