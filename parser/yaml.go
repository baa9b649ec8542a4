package parser

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// yamlText is a text whose YAML is read: its tokens and its tree, what had to be repaired in it, and what is wrong with
// it as YAML.
type yamlText struct {
	passage
	findings
	lexed   *lexed // nil before screen
	repairs repairs
	root    *node // nil where nothing can be read
}

func newText(src *diag.Source) *yamlText {
	return &yamlText{passage: passage{src: src, text: src.Text()}}
}

// load reads the tree of a program, whose root is a map. A text with a syntax error is read by blocks where it can be.
// Both answers are nil when there is nothing to read, which has been reported.
func (t *yamlText) load() (*node, *blockSet) {
	document, err := readTree(t.text, t.lexed)
	if err != nil {
		if blocks := t.byBlocks(); blocks != nil {
			return nil, blocks
		}
		if document, err = t.reread(err); err != nil {
			return nil, nil
		}
	}
	if t.repairs.any() && (document == nil || document.target().kind != mapNode) {
		return nil, nil // what is left is no program, and need not be one
	}
	if document == nil || empty(document) {
		t.warn(diag.NoProgram, t.at(0, 0),
			"a program has sections such as `resources` and `outputs`; `{}` is the shortest one",
			"the file is empty")
		return nil, nil
	}
	t.noteEscapes()
	if second := t.lexed.secondDocument; second >= 0 {
		t.warn(diag.Ignored, t.at(second, second+3),
			"a program is one document; remove the rest or move it to another file",
			"only the first document of the file is read")
	}
	root := document.target()
	if root.kind != mapNode {
		t.fail(diag.WrongKind, t.span(root), "a program is a map with sections such as `resources` and `outputs`",
			"a program must be a map, found %s", kindName(root))
		return nil, nil
	}
	t.root = root
	return root, nil
}

// readTree reads the first document of a text; nil where it has no content. It drops from lexed the refused escapes
// that turn out to be none.
func readTree(text []byte, lexed *lexed) (*node, error) {
	for {
		root, err := unmarshal(text, lexed.readable(text))
		if err != nil || root == nil || restoreEscapes(text, lexed, root) {
			return root, err
		}
		lexed.refused = nil // what looked like them was text
	}
}

// unmarshal reads the first document of a text; nil where it has no content. readable is the text as the YAML reader
// takes it, of the same length.
func unmarshal(text, readable []byte) (*node, error) {
	if len(text) > 0 && &text[0] == &readable[0] {
		if root := plainTree(text); root != nil {
			return root, nil
		}
	}
	return unmarshalAny(text, readable)
}

// unmarshalAny is unmarshal by the YAML reader alone.
func unmarshalAny(text, readable []byte) (*node, error) {
	document, err := decode(readable[textStart(text):])
	if err != nil || len(document.Content) == 0 {
		return nil, err
	}
	return locate(text, document.Content[0]), nil
}

// decode guards against panics of the YAML reader: whatever a text holds, the answer is an error.
func decode(text []byte) (document yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the text cannot be read")
		}
	}()
	err = yaml.Unmarshal(text, &document)
	return document, err
}
