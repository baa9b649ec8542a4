package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/parallel"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// item is one entry of a section whose keys are names, with its findings.
type item struct {
	name        ast.Literal
	diags       diag.Diagnostics
	hollow      bool // nothing stands behind the name
	declaration any  // such as *ast.Resource; nil for a stray field

	bare  bool   // a resource with nothing in it
	stray string // what a field that stands among the resources has to be under; empty for a resource
}

// itemReader reads one entry of a section.
type itemReader func(r *bodyReader, e entry, name ast.Literal) item

// readBlock is the parsed form of a block, with the answers that it depends on.
type readBlock struct {
	answers
	items []item
	diags diag.Diagnostics // about no single item
	lines bool             // a message names a line
	above int              // how many lines stood above the block
}

// section is an entry whose value has entries of its own.
type section struct {
	entry
	in    *bodyReader // that reads it
	parts []part      // its entries that are read in blocks of their own
}

// part is the key of a section as it stands in front of a block, with the entry of the block in it.
type part struct {
	entry
	block *block
	lines int // how many stand above the block
}

// declares reports whether a section has an entry of a name.
func (s *section) declares(name string) bool {
	has := func(e entry) bool {
		body := e.value.target()
		return body.kind == mapNode && hasExactKey(body, name)
	}
	return has(s.entry) || slices.ContainsFunc(s.parts, func(p part) bool { return has(p.entry) })
}

// hasExactKey reports whether a map has a key in just that spelling.
func hasExactKey(n *node, key string) bool {
	for i := 0; i+1 < len(n.content); i += 2 {
		if n.content[i].value == key && n.content[i].kind == scalarNode {
			return true
		}
	}
	return false
}

// entryNames returns the keys of a section.
func (s *section) entryNames() []string {
	var names []string
	for _, part := range s.parts {
		names = append(names, part.name)
	}
	return append(names, textKeys(s.value.target())...)
}

// textKeys returns the keys of a map; none of anything else.
func textKeys(n *node) []string {
	if n.kind != mapNode {
		return nil
	}
	names := make([]string, 0, len(n.content)/2)
	for i := 0; i+1 < len(n.content); i += 2 {
		names = append(names, n.content[i].value)
	}
	return names
}

// bodyReader reads the sections of a program or a component.
type bodyReader struct {
	*exprReader
	// independent reports whether the entries of sections do not depend on each other: no alias stands in the text, and
	// nobody keeps the answers of the scope.
	independent bool
}

// newBodyReader makes a reader of a text, which reports to findings.
func newBodyReader(p *passage, f *findings, r *repairs, s *scope) *bodyReader {
	return &bodyReader{exprReader: newExprReader(newNodeReader(p, f, r), s)}
}

// read reads the declarations of a section, with their findings.
func read[T any](b *bodyReader, s *section, reader itemReader) (declarations []T) {
	for _, it := range b.items(s, reader) {
		b.diags.Add(it.diags...)
		declarations = append(declarations, it.declaration.(T))
	}
	return declarations
}

// items reads the entries of a section, each name once. Findings about an item come with the item; b gets all others.
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
		rb := part.block.items(part, b.scope, read)
		b.diags.Add(rb.diags...)
		for _, it := range rb.items {
			if first, again := seen[it.name.Value]; again {
				b.duplicate(it.name.Value, it.name.Range, list[first].name.Range)
				if list[first].hollow { // what is meant stands here
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

// itemsOf reads the entries of a section that stand in one text.
func (b *bodyReader) itemsOf(section entry, read itemReader) (list []item) {
	b.section(section, "`"+section.name+"`", func(n *node, _ diag.Range) {
		entries := b.entries(n)
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
	before := len(b.diags)
	it := read(b, e, ast.Literal{Value: e.name, Range: e.at})
	it.name, it.hollow = ast.Literal{Value: e.name, Range: e.at}, empty(e.value.target())
	it.diags = b.takeFrom(before)
	return it
}

// batch is how many entries one goroutine reads at least.
const batch = 64

// itemsApart reads the entries of a section on all processors into list. It returns false, and has done nothing, where
// that is not worth it, or so many findings come of it that their bound matters.
func (b *bodyReader) itemsApart(entries []entry, list []item, read itemReader) bool {
	if len(entries) < 2*batch {
		return false
	}
	readers := make([]*bodyReader, (len(entries)+batch-1)/batch)
	parallel.Each(len(readers), 1, func(n int) {
		place := *b.passage
		r := newBodyReader(&place, new(findings), b.repairs, b.scope.apart())
		readers[n] = r
		for i := n * batch; i < min((n+1)*batch, len(entries)); i++ {
			e := entries[i]
			e.from = r.nodeReader
			list[i] = r.item(e, read)
		}
	})
	found := b.found
	for _, r := range readers {
		for severity, count := range r.found {
			if found[severity] += count; found[severity] > maxFindings {
				return false
			}
		}
		b.namesLines = b.namesLines || r.namesLines
	}
	b.found = found
	return true
}

// nameless reports the first entry of a section if that is the field of one, whose name is missing: what has fields is
// a map.
func (b *bodyReader) nameless(section string, e entry) bool {
	known, _ := canonical(section, cuttable)
	if !slices.Contains([]string{"components", "hooks", "dynamic"}, known) || !isField(known, e.name) {
		return false
	}
	if body := e.value.target(); body.kind == mapNode || empty(body) {
		return false
	}
	b.fail(diag.Nameless, e.at, "write the name of the entry in the line above",
		"`%s` belongs to an entry whose name is missing", shorten(e.name))
	return true
}

// items reads the entries of the block, or gives those that are known already.
func (b *block) items(part part, outer *scope, read itemReader) *readBlock {
	if b.read != nil && b.read.hold(outer) {
		return b.read
	}
	place := b.yaml.passage
	place.linesAbove = part.lines
	r := newBodyReader(&place, &findings{found: b.yaml.found}, &b.yaml.repairs, outer.remembering())
	rb := &readBlock{items: r.itemsOf(part.entry, read), above: part.lines}
	rb.answers = r.scope.answers()
	rb.diags, rb.lines = r.diags, place.namesLines
	b.read = rb
	return rb
}
