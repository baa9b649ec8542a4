package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// block is a stretch of a text with the nodes parsed from it. Results that depend only on its own text are kept for as
// long as the block exists.
type block struct {
	lead           []byte // copied from the stretch, like the fields below
	astray, deeper bool

	yaml   *yamlText // positions in it are relative to the block's source
	top    []entry   // the keys at the top level
	failed bool      // the block could not be parsed
	read   *readBlock

	asWritten *lexed // tokens before any repairs
	printable bool   // in a document: contains no forbidden characters
	flush     bool   // in a document: a line that is not a top-level key is not indented
}

// newBlock parses the YAML of a stretch. text is the stretch preceded by its lead. origin is the offset of the stretch
// in src, and line the number of lines before src in the text that the user sees.
func newBlock(src *diag.Source, s stretch, text []byte, origin, line int) *block {
	y := &yamlText{passage: passage{src: src, text: text, lead: len(s.lead), origin: origin, linesAbove: line}}
	b := &block{lead: s.lead, astray: s.astray, deeper: s.deeper, yaml: y}
	y.lexed = lex(y.text)
	b.asWritten = y.lexed
	if y.lexed.tooDeep >= 0 {
		b.failed = true
		return b
	}
	document, err := readTree(y.text, y.lexed)
	if err != nil {
		if document, err = y.reread(err); err != nil {
			b.lose()
			return b
		}
	}
	if !y.repairs.any() && !b.beginsWithKey() {
		b.missingColon()
		b.lose()
		return b
	}
	if document == nil || empty(document) {
		return b // repairs have left nothing
	}
	root := document.target()
	y.root = root
	if root.kind != mapNode {
		b.missingColon()
		b.lose()
		return b
	}
	y.noteEscapes()
	b.top = newNodeReader(&y.passage, &y.findings, &y.repairs).entries(root)
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
		y.fail(diag.Syntax, rng, "align it with the entries that it belongs to",
			"this line is indented like none of those above it")
	}
	for i, e := range b.top {
		if i > 0 {
			misaligned(e.at)
		}
	}
	b.top = b.top[:min(len(b.top), 1)]
	if len(b.top) == 1 && b.top[0].value.target().kind != mapNode && !empty(b.top[0].value) {
		if !y.repairs.mended(b.top[0].value.start) {
			b.missingColon()
		}
		b.top = nil
		b.lose()
	} else if key := b.strayField(); b.deeper && key != nil {
		y.fail(diag.Nameless, y.span(key), "write the name of the entry in the line above, as deep as the other entries",
			"`%s` belongs to an entry whose name is missing", shorten(key.value))
		b.top, b.failed = nil, true
	} else if b.astray && !y.repairs.any() && len(b.top) == 1 {
		start, _ := lineAt(y.text, lineOf(y.text, y.lead))
		misaligned(y.at(start, start+1))
	}
}

// strayField returns the first key of a block if it is a field of an entry rather than the name of one, and nil
// otherwise.
func (b *block) strayField() *node {
	if len(b.top) == 0 {
		return nil
	}
	section, _ := canonical(b.top[0].name, cuttable)
	body := b.top[0].value.target()
	if body.kind != mapNode || len(body.content) == 0 || !isField(section, body.content[0].value) {
		return nil
	}
	return body.content[0]
}

// isField reports whether a key is a field of the entries of a section, rather than the name of an entry.
func isField(section, key string) bool {
	_, field := canonical(key, entryKeys[section])
	return field || section == "variables" && strings.HasPrefix(strings.ToLower(key), "fn::")
}

// entryKeys maps sections to the fields of their entries.
var entryKeys = map[string][]string{"config": configKeys, "configuration": configKeys, "resources": allFields,
	"components": componentKeys, "hooks": hookKeys, "dynamic": dynamicKeys}

// beginsWithKey reports whether the first line of the block can be a key, judging by that line alone. A line with a
// colon that begins with an anchor, alias or tag can be one.
func (b *block) beginsWithKey() bool {
	body := b.yaml.text[b.yaml.lead:]
	lines := contentLines(body)
	if len(lines) == 0 || keyEnd(body, lines[0]) > 0 {
		return true
	}
	first := body[lines[0].start:lines[0].end]
	return bytes.IndexByte([]byte("&*!"), first[0]) >= 0 && bytes.Contains(first, []byte(":"))
}

// missingColon reports that the first line of the block is not a key.
func (b *block) missingColon() {
	text := b.yaml.text
	start, end := lineAt(text, lineOf(text, b.yaml.lead))
	b.yaml.fail(diag.Syntax, b.yaml.at(start, trimmed(text, start, end)), "a line in a map is written `key: value`",
		"`:` is missing after a key")
}

// lose marks the block as failed and records the name of its entry as lost.
func (b *block) lose() {
	b.failed = true
	body := b.yaml.text[b.yaml.lead:]
	if lines := contentLines(body); len(lines) > 0 {
		l := lines[0]
		name := body[l.start:l.end]
		if end := keyEnd(body, l); end > 0 {
			name = body[l.start : end-1]
		}
		b.yaml.repairs.lost = append(b.yaml.repairs.lost, keyText(name))
	}
}

// crossing reports whether an alias in one of the blocks refers to an anchor in another.
func crossing(blocks []*block) bool {
	var anchors map[string]bool
	for _, b := range blocks {
		for name := range b.asWritten.anchors {
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
		return slices.ContainsFunc(b.asWritten.unanchored, func(name string) bool { return anchors[name] })
	})
}
