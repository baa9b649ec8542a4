package parser

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// block is a stretch of a text with the nodes read from it. Results that depend on nothing but its own text are kept
// for as long as that text lives.
type block struct {
	lead           []byte // of the stretch, as what follows
	astray, deeper bool

	yaml   *yamlText // its position in the text is fixed
	top    []entry   // the keys at the top of what was read
	failed bool      // nothing could be read
	read   *readBlock

	asWritten *lexed // before repairs
	printable bool   // of a document: it holds nothing that no program may
	flush     bool   // of a document: a line other than a key at the top is not indented
}

// newBlock reads the YAML of a stretch; text is that with the lead of the stretch in front. origin is the offset in src at
// which the stretch begins; line is the number of lines before src in the text that the user sees.
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
		return b // nothing but what was taken out
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

// checkEntry keeps the section's key of a block, whose value must be one entry that stands where entries do.
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

// strayField returns the first key of a block, if that is no entry's name but the field of one; nil for any other.
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

// isField reports whether a key is a field of a section's entries, rather than the name of an entry.
func isField(section, key string) bool {
	_, field := canonical(key, entryKeys[section])
	return field || section == "variables" && strings.HasPrefix(strings.ToLower(key), "fn::")
}

// entryKeys are the fields of the entries of sections.
var entryKeys = map[string][]string{"config": configKeys, "configuration": configKeys, "resources": allFields,
	"components": componentKeys, "hooks": hookKeys, "dynamic": dynamicKeys}

// beginsWithKey reports whether the first line of the block can be a key, as far as lines tell; one that begins with an
// anchor or a tag may be.
func (b *block) beginsWithKey() bool {
	body := b.yaml.text[b.yaml.lead:]
	lines := contentLines(body)
	if len(lines) == 0 || keyEnd(body, lines[0]) > 0 {
		return true
	}
	first := body[lines[0].start:lines[0].end]
	return bytes.IndexByte([]byte("&*!"), first[0]) >= 0 && bytes.Contains(first, []byte(":"))
}

// missingColon reports that the block begins with a line that is no key.
func (b *block) missingColon() {
	text := b.yaml.text
	start, end := lineAt(text, lineOf(text, b.yaml.lead))
	b.yaml.fail(diag.Syntax, b.yaml.at(start, trimmed(text, start, end)), "a line in a map is written `key: value`",
		"`:` is missing after a key")
}

// lose notes the name of an entry that cannot be read.
func (b *block) lose() {
	b.failed = true
	body := b.yaml.text[b.yaml.lead:]
	if lines := contentLines(body); len(lines) > 0 {
		l := lines[0]
		name := body[l.start:l.end]
		if end := keyEnd(body, l); end > 0 {
			name = body[l.start : end-1]
		}
		b.yaml.repairs.lost = append(b.yaml.repairs.lost, string(bytes.Trim(name, " \t\"'")))
	}
}

// crossing reports whether an alias in one of the blocks stands for what an anchor in another names.
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
