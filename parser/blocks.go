package parser

import (
	"bytes"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// block is a stretch of a text with the nodes parsed from it. Results that depend only on its own text are kept for as
// long as the block exists. A document keeps blocks from edit to edit; Parse makes them for one text, to confine a
// fault.
type block struct {
	lead           []byte // copied from the stretch, like the fields below
	astray, deeper bool

	yaml   *yamlText    // positions in it are relative to the block's source
	top    []entry      // the keys at the top level
	failed bool         // the block could not be parsed; its name is lost, as lose records
	result *blockResult // nil until the block is read

	asWritten *yamlnode.Tokens // tokens before any repairs, which decide whether the block can stand for itself
	printable bool             // in a document: contains no forbidden characters
	flush     bool             // in a document: a line that is not a top-level key is not indented
}

// newBlock parses the YAML of a stretch. text is the stretch preceded by its lead. origin is the offset of the stretch
// in src, and line the number of lines before src in the text that the user sees.
func newBlock(src *diag.Source, s stretch, text []byte, origin, line int) *block {
	y := &yamlText{tree: yamlnode.Tree{Text: yamlnode.Text{Source: src, Bytes: text, Lead: len(s.lead), Origin: origin,
		LinesAbove: line, FieldAt: fieldAt}}}
	b := &block{lead: s.lead, astray: s.astray, deeper: s.deeper, yaml: y}
	y.tree.Scan()
	b.asWritten = y.tree.Tokens
	if b.asWritten.TooDeep >= 0 {
		b.failed = true
		return b
	}
	if err := y.tree.Read(); err != nil && !y.reread(err) {
		b.lose()
		return b
	}
	document := y.tree.Root
	y.tree.Root = nil
	if !y.tree.Repairs.Any() && !b.beginsWithKey() {
		b.missingColon()
		b.lose()
		return b
	}
	if document == nil || yamlnode.IsNull(document) {
		return b // repairs have left nothing
	}
	root := document.Target()
	y.tree.Root = root
	if root.Kind != yamlnode.Map {
		b.missingColon()
		b.lose()
		return b
	}
	y.noteEscapes()
	b.top = newNodeReader(&y.tree.Text, &y.report, &y.tree.Repairs).entries(root)
	if s.lead != nil {
		b.checkEntry()
	}
	return b
}

// checkEntry reduces b.top to the section's key and reports any error in its value, which must be a single entry at the
// usual indentation.
func (b *block) checkEntry() {
	y := b.yaml
	misaligned := func(rng diag.Range) {
		y.report.fail(diag.Syntax, rng, "align it with the entries that it belongs to",
			"this line is indented like none of those around it")
	}
	for i, e := range b.top {
		// The stretch has one entry, so a second key at the top is a line with too little indentation.
		if i > 0 {
			misaligned(e.at)
		}
	}
	b.top = b.top[:min(len(b.top), 1)]
	if len(b.top) == 1 && b.top[0].value.Target().Kind != yamlnode.Map && !yamlnode.IsNull(b.top[0].value) {
		if !y.tree.Repairs.Mended(b.top[0].value.Start) {
			b.missingColon()
		}
		b.top = nil
		b.lose()
	} else if key := b.strayField(); b.deeper && key != nil {
		y.report.fail(diag.Nameless, y.tree.Text.Span(key), "write the name of the entry in the line above, as deep as the other entries",
			"`%s` belongs to an entry whose name is missing", diag.Excerpt(key.Value))
		b.top, b.failed = nil, true
	} else if b.astray && !y.tree.Repairs.Any() && len(b.top) == 1 {
		start, _ := yamlnode.LineAt(y.tree.Text.Bytes, yamlnode.LineOf(y.tree.Text.Bytes, y.tree.Text.Lead))
		misaligned(y.tree.Text.At(start, start+1))
	}
}

// strayField returns the first key of a block if it is a field of an entry rather than the name of one, and nil
// otherwise.
func (b *block) strayField() *yamlnode.Node {
	if len(b.top) == 0 {
		return nil
	}
	section, _ := canonical(b.top[0].name, cuttable)
	body := b.top[0].value.Target()
	if body.Kind != yamlnode.Map || len(body.Content) == 0 || !isField(section, body.Content[0].Value) {
		return nil
	}
	return body.Content[0]
}

// fieldAt returns the key at the start of a block if it is a field of the entries of the section that lead begins;
// false otherwise.
func fieldAt(lead, block []byte) (string, bool) {
	lines := yamlnode.ContentLines(block)
	if len(lines) == 0 || yamlnode.KeyEnd(block, lines[0]) == 0 {
		return "", false
	}
	key := yamlnode.KeyText(block[:yamlnode.KeyEnd(block, lines[0])-1])
	return key, isField(sectionName(lead, yamlnode.ContentLines(lead)[0]), key)
}

// beginsWithKey reports whether the first line of the block can be a key, judging by that line alone. A line with a
// colon that begins with an anchor, alias or tag can be one.
func (b *block) beginsWithKey() bool {
	body := b.yaml.tree.Text.Bytes[b.yaml.tree.Text.Lead:]
	lines := yamlnode.ContentLines(body)
	if len(lines) == 0 || yamlnode.KeyEnd(body, lines[0]) > 0 {
		return true
	}
	first := body[lines[0].Start:lines[0].End]
	return bytes.IndexByte([]byte("&*!"), first[0]) >= 0 && bytes.Contains(first, []byte(":"))
}

// missingColon reports that the first line of the block is not a key.
func (b *block) missingColon() {
	text := b.yaml.tree.Text.Bytes
	start, end := yamlnode.LineAt(text, yamlnode.LineOf(text, b.yaml.tree.Text.Lead))
	end = yamlnode.TrimEnd(text, start, end)
	_, advice := yamlnode.Unseparated(text[start:end])
	b.yaml.report.fail(diag.Syntax, b.yaml.tree.Text.At(start, end), advice, "`:` is missing after a key")
}

// lose marks the block as failed and records the name of its entry as lost.
func (b *block) lose() {
	b.failed = true
	body := b.yaml.tree.Text.Bytes[b.yaml.tree.Text.Lead:]
	if lines := yamlnode.ContentLines(body); len(lines) > 0 {
		l := lines[0]
		name, _ := yamlnode.Unseparated(body[l.Start:l.End])
		if end := yamlnode.KeyEnd(body, l); end > 0 {
			name = body[l.Start : end-1]
		}
		b.yaml.tree.Repairs.Lost = append(b.yaml.tree.Repairs.Lost, yamlnode.KeyText(name))
	}
}

// standsAlone reports whether a block can replace another one, and be replaced, without affecting the blocks around it.
func (b *block) standsAlone() bool {
	l := b.asWritten
	return l.TooDeep < 0 && l.SecondDocument < 0 && b.printable && !l.Open && len(l.Anchors) == 0 &&
		len(l.Unanchored) == 0
}

// hasText reports whether a block has the text and the properties of a stretch.
func (b *block) hasText(s stretch, text []byte) bool {
	return b.astray == s.astray && bytes.Equal(b.lead, s.lead) && (b.lead == nil) == (s.lead == nil) &&
		bytes.Equal(b.yaml.tree.Text.Source.Text(), text[s.start:s.end])
}

// namesLines reports whether a finding in the block mentions a line number.
func (b *block) namesLines() bool {
	return b.yaml.tree.Text.NamesLines || b.result != nil && b.result.lines
}

// canStand reports whether the findings of a block remain valid with the given number of lines above it.
func (b *block) canStand(lines int) bool {
	text := &b.yaml.tree.Text
	return !(text.NamesLines && text.LinesAbove != lines || b.result != nil && b.result.lines &&
		b.result.above != lines)
}

// crossing reports whether an alias in one of the blocks refers to an anchor in another.
func crossing(blocks []*block) bool {
	var anchors map[string]bool
	for _, b := range blocks {
		for name := range b.asWritten.Anchors {
			if anchors == nil {
				anchors = map[string]bool{}
			}
			anchors[name] = true
		}
	}
	if anchors == nil {
		return false
	}
	return slices.ContainsFunc(blocks, func(b *block) bool {
		return slices.ContainsFunc(b.asWritten.Unanchored, func(name string) bool { return anchors[name] })
	})
}

// item is one entry of a section whose keys are names, with the findings about it.
type item struct {
	name        ast.Literal
	diags       diag.Diagnostics
	hollow      bool // the entry has no value
	declaration any  // such as *ast.Resource; nil for a stray field

	bare  bool   // an empty resource
	stray string // the proper parent of a field among the resources; empty for a resource
}

// blockResult is the result of reading a block, with the answers that it depends on.
type blockResult struct {
	answers answers
	items   []item
	diags   diag.Diagnostics // findings that are not about a single item
	lines   bool             // a message contains a line number
	above   int              // number of lines above the block
}
