package parser

import (
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamlnode"
)

// yamlText is a text with its YAML tree and the findings about its syntax.
type yamlText struct {
	findings
	tree yamlnode.Tree
}

func newText(src *diag.Source) *yamlText {
	return &yamlText{tree: yamlnode.Tree{Text: yamlnode.Text{Source: src, Bytes: src.Text()}}}
}

// screen scans the text. It returns false for a text that cannot be parsed, which it reports.
func (t *yamlText) screen() bool {
	d := t.tree.Screen()
	if d != nil {
		t.addAll(*d)
	}
	return d == nil
}

// reread reports a syntax error, and parses the text in spite of it. It returns false if that fails.
func (t *yamlText) reread(err error) bool {
	hideBroken(&t.tree.Text)
	found, err := t.tree.Mend(err)
	t.addAll(found...)
	return err == nil
}

// load parses a program, whose root must be a map. If the text has a syntax error, it is parsed in blocks if possible.
// Both results are nil if there is nothing to read, which has been reported.
func (t *yamlText) load() (*yamlnode.Node, *blockSet) {
	y := &t.tree
	if err := y.Read(); err != nil {
		if blocks := t.byBlocks(); blocks != nil {
			return nil, blocks
		}
		if !t.reread(err) {
			return nil, nil
		}
	}
	document := y.Root
	if y.Repairs.Any() && (document == nil || document.Target().Kind != yamlnode.Map) {
		return nil, nil // the rest is not a program, but only because of the error
	}
	if document == nil || yamlnode.IsNull(document) {
		t.warn(diag.NoProgram, y.Text.At(0, 0),
			"a program has sections such as `resources` and `outputs`; `{}` is the shortest one",
			"the file is empty")
		return nil, nil
	}
	t.noteEscapes()
	if second := y.Tokens.SecondDocument; second >= 0 {
		t.warn(diag.Ignored, y.Text.At(second, second+3),
			"a program is one document; remove the rest or move it to another file",
			"only the first document of the file is read")
	}
	root := document.Target()
	if root.Kind != yamlnode.Map {
		t.fail(diag.WrongKind, y.Text.Span(root), "a program is a map with sections such as `resources` and `outputs`",
			"a program must be a map, found %s", yamlnode.KindName(root))
		return nil, nil
	}
	y.Root = root
	return root, nil
}

// noteEscapes reports escapes that other hosts reject.
func (t *yamlText) noteEscapes() {
	for _, rng := range t.tree.Escapes() {
		t.portability(rng, "the escape `%s`", rng.Text())
	}
}
