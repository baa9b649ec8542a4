package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// itemReader reads one entry of a section.
type itemReader func(r *bodyReader, e entry, name ast.Literal) item

// section is an entry whose value consists of entries.
type section struct {
	entry entry
	in    *bodyReader // the reader of the section
	parts []part      // entries in separate blocks
}

// part is the key of a section as parsed in front of a block; its value contains the entry of the block.
type part struct {
	entry entry
	block *block
	lines int // number of lines above the block
}

// declares reports whether a section has an entry with that name.
func (s *section) declares(name string) bool {
	has := func(e entry) bool {
		body := e.value.Target()
		return body.Kind == yamlnode.Map && hasExactKey(body, name)
	}
	return has(s.entry) || slices.ContainsFunc(s.parts, func(p part) bool { return has(p.entry) })
}

// hasExactKey reports whether a map has a key in exactly that spelling.
func hasExactKey(n *yamlnode.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i].Kind == yamlnode.Scalar {
			return true
		}
	}
	return false
}

// entryNames returns the keys of a section.
func (s *section) entryNames() []string {
	var names []string
	for _, part := range s.parts {
		names = append(names, part.entry.name)
	}
	return append(names, textKeys(s.entry.value.Target())...)
}

// textKeys returns the keys of a map, or nil for any other node.
func textKeys(n *yamlnode.Node) []string {
	if n.Kind != yamlnode.Map {
		return nil
	}
	names := make([]string, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}

// bodyReader reads the sections of a program or a component.
type bodyReader struct {
	exprs  *exprReader
	texts  *textReader
	nodes  *nodeReader
	text   *yamlnode.Text
	report *findings
	// independent reports whether the entries of sections can be read independently: the text has no anchors, and the
	// scope does not record answers.
	independent bool
}

// newBodyReader returns a reader of a text that adds its diagnostics to f.
func newBodyReader(p *yamlnode.Text, f *findings, r *yamlnode.Repairs, s *scope) *bodyReader {
	x := newExprReader(newNodeReader(p, f, r), s)
	return &bodyReader{exprs: x, texts: &x.texts, nodes: x.nodes, text: p, report: f}
}

// declarationsOf reads the declarations of a section and adds the findings about them to b.
func declarationsOf[T any](b *bodyReader, s *section, reader itemReader) (declarations []T) {
	for _, it := range b.items(s, reader) {
		b.report.diags.Add(it.diags...)
		declarations = append(declarations, it.declaration.(T))
	}
	return declarations
}

// items reads the entries of a section, each name once. Findings about an item are stored in the item; all others are
// added to b.
func (b *bodyReader) items(s *section, read itemReader) []item {
	if s == nil {
		return nil
	}
	list := s.in.itemsOf(s.entry, read)
	if len(s.parts) == 0 {
		return list
	}
	seen := make(map[string]int, len(s.parts))
	for i, it := range list {
		seen[it.name.Value] = i
	}
	for _, part := range s.parts {
		rb := part.block.items(part, b.texts.scope, read)
		b.report.diags.Add(rb.diags...)
		for _, it := range rb.items {
			if first, again := seen[it.name.Value]; again {
				b.nodes.duplicate(it.name.Value, it.name.Range, list[first].name.Range)
				if list[first].hollow { // the later entry has the value
					it.name = list[first].name
					list[first] = it
				}
				continue
			}
			seen[it.name.Value] = len(list)
			list = append(list, it)
		}
	}
	return list
}

// itemsOf reads the entries of a section in one text.
func (b *bodyReader) itemsOf(section entry, read itemReader) (list []item) {
	b.nodes.section(section, "`"+section.name+"`", func(n *yamlnode.Node, _ diag.Range) {
		entries := b.nodes.entries(n)
		if len(entries) > 0 && b.nameless(section.name, entries[0]) {
			return
		}
		list = make([]item, len(entries))
		if b.independent && b.itemsApart(entries, list, read) {
			return
		}
		for i, e := range entries {
			list[i] = b.item(e, read)
		}
	})
	return list
}

// item reads one entry of a section.
func (b *bodyReader) item(e entry, read itemReader) item {
	count := len(b.report.diags)
	it := read(b, e, ast.Literal{Value: e.name, Range: e.at})
	it.name, it.hollow = ast.Literal{Value: e.name, Range: e.at}, yamlnode.IsNull(e.value.Target())
	it.diags = b.report.takeFrom(count)
	return it
}

// batch is the minimum number of entries that one goroutine reads.
const batch = 64

// itemsApart reads the entries of a section into list, using all processors. It returns false without any effect on b
// if there are too few entries, or so many findings that their limit matters.
func (b *bodyReader) itemsApart(entries []entry, list []item, read itemReader) bool {
	if len(entries) < 2*batch {
		return false
	}
	readers := make([]*bodyReader, (len(entries)+batch-1)/batch)
	parallel.Each(len(readers), 1, func(n int) {
		place := *b.text
		r := newBodyReader(&place, new(findings), b.nodes.repairs, b.texts.scope.apart())
		readers[n] = r
		for i := n * batch; i < min((n+1)*batch, len(entries)); i++ {
			e := entries[i]
			e.from = r.nodes
			list[i] = r.item(e, read)
		}
	})
	found := b.report.found
	for _, r := range readers {
		for severity, count := range r.report.found {
			if found[severity] += count; found[severity] > maxFindings {
				return false
			}
		}
		b.text.NamesLines = b.text.NamesLines || r.text.NamesLines
	}
	b.report.found = found
	return true
}

// nameless reports the first entry of a section if it is a field of an entry whose name is missing: the entries of
// these sections are maps.
func (b *bodyReader) nameless(section string, e entry) bool {
	known, _ := canonical(section, cuttable)
	if !slices.Contains([]string{"components", "hooks", "dynamic"}, known) || !isField(known, e.name) {
		return false
	}
	if body := e.value.Target(); body.Kind == yamlnode.Map || yamlnode.IsNull(body) {
		return false
	}
	b.report.fail(diag.Nameless, e.at, "write the name of the entry in the line above",
		"`%s` belongs to an entry whose name is missing", diag.Excerpt(e.name))
	return true
}

// items reads the entries of the block, or returns the earlier result if it is still valid.
func (b *block) items(part part, outer *scope, read itemReader) *blockResult {
	if b.result != nil && b.result.answers.hold(outer) {
		return b.result
	}
	place := b.yaml.tree.Text
	place.LinesAbove = part.lines
	r := newBodyReader(&place, &findings{found: b.yaml.report.found}, &b.yaml.tree.Repairs, outer.remembering())
	rb := &blockResult{items: r.itemsOf(part.entry, read), above: part.lines}
	rb.answers = r.texts.scope.answers()
	rb.diags, rb.lines = r.report.diags, place.NamesLines
	b.result = rb
	return rb
}

// hasKey reports whether a map has one of the given keys, in any spelling that canonical accepts.
func hasKey(n *yamlnode.Node, keys ...string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if _, found := canonical(n.Content[i].Value, keys); found {
			return true
		}
	}
	return false
}
