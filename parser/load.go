package parser

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// load parses a program, whose root must be a map. If the text has a syntax error, it is parsed in blocks if possible.
// Both results are nil if there is nothing to read, which has been reported.
func (t *yamlText) load() (*yamlnode.Node, *blockSet) {
	y := &t.tree
	err := y.Parse()
	if err != nil {
		// Blocks before repairs: they confine the fault to its entry, repairs only to its line. What has to be hidden
		// after a fault is then confined, too.
		if blocks := t.byBlocks(); blocks != nil {
			return nil, blocks
		}
	}
	y.Hide(err)
	if err != nil && !t.reread(err) {
		return nil, nil
	}
	document := y.Root
	if y.Repairs.Any() && (document == nil || document.Target().Kind != yamlnode.Map) {
		return nil, nil // the rest is not a program, but only because of the error
	}
	if document == nil || yamlnode.IsNull(document) {
		t.report.warn(diag.NoProgram, y.Text.At(0, 0),
			"a program has sections such as `resources` and `outputs`; `{}` is the shortest one",
			"the file is empty")
		return nil, nil
	}
	t.noteEscapes()
	if second := y.Tokens.SecondDocument; second >= 0 {
		t.report.warn(diag.Ignored, y.Text.At(second, second+3),
			"a program is one document; remove the rest or move it to another file",
			"only the first document of the file is read")
	}
	root := document.Target()
	if root.Kind != yamlnode.Map {
		t.report.fail(diag.WrongKind, y.Text.Span(root), "a program is a map with sections such as `resources` and `outputs`",
			"a program must be a map, found %s", yamlnode.KindName(root))
		return nil, nil
	}
	y.Root = root
	return root, nil
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
		found = found || b.yaml.report.diags.HasErrors()
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
	r := newBodyReader(&whole.tree.Text, &whole.report, &whole.tree.Repairs, nil)
	var top []*section
	var heads []*bodyReader
	var roots []*yamlnode.Node
	var lost []string
	seen := map[string]int{}           // indexes in top
	written := map[string]diag.Range{} // range of the first occurrence of each key
	for _, b := range s.blocks {
		r.report.diags.Add(b.yaml.report.diags...)
		roots = append(roots, b.yaml.tree.Root)
		lost = append(lost, b.yaml.tree.Repairs.Lost...)
	}
	for _, cut := range s.sections {
		head := s.headReader(cut.head, origins)
		heads = append(heads, head)
		for _, next := range s.topOf(cut, head) {
			if first, again := seen[next.entry.name]; again {
				head.nodes.duplicate(next.entry.name, next.entry.at, written[next.entry.name])
				if len(top[first].parts) == 0 && yamlnode.IsNull(top[first].entry.value.Target()) {
					// The later one counts if the first has no value, as in nodeReader.entries.
					top[first] = next
				}
				continue
			}
			seen[next.entry.name], written[next.entry.name] = len(top), next.entry.at
			top = append(top, next)
		}
	}
	o := newOutline(r, top, options, included)
	o.roots, o.heads, o.file.Lost = roots, heads, append(o.file.Lost, lost...)
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
	return newBodyReader(&place, &findings{found: y.report.found}, &y.tree.Repairs, nil)
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
		s.entry.from = head.nodes
	}
	return list
}

// outline finds the sections of the text. It returns nil if the text cannot be parsed at all, which has been reported.
// included reports whether another text includes it.
func (t *yamlText) outline(options Options, included bool) *outline {
	if !t.screen() {
		return nil
	}
	root, blocks := t.load()
	if blocks != nil {
		return blocks.outline(t, nil, options, included)
	}
	if root == nil {
		return nil
	}
	r := newBodyReader(&t.tree.Text, &t.report, &t.tree.Repairs, nil)
	r.independent = len(t.tree.Tokens.Anchors) == 0
	var top []*section
	for _, e := range r.nodes.entries(root) {
		top = append(top, &section{entry: e, in: r})
	}
	o := newOutline(r, top, options, included)
	o.roots = []*yamlnode.Node{root}
	o.file.Lost = append(o.file.Lost, t.tree.Repairs.Lost...)
	return o
}
