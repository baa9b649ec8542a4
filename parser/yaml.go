package parser

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// yamlText is a text that is parsed as YAML: its tokens and tree, the repairs to it, and the findings about its syntax.
type yamlText struct {
	passage
	findings
	lexed   *lexed // nil before screen
	repairs repairs
	root    *node // nil if the text cannot be parsed
}

func newText(src *diag.Source) *yamlText {
	return &yamlText{passage: passage{src: src, text: src.Text()}}
}

// load parses a program, whose root must be a map. If the text has a syntax error, it is parsed in blocks if possible.
// Both results are nil if there is nothing to read, which has been reported.
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
		return nil, nil // the rest is not a program, but only because of the error
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

// readTree parses the first document of a text. It returns nil if the document is empty. It clears lexed.refused if
// these turn out not to be escapes.
func readTree(text []byte, lexed *lexed) (*node, error) {
	for {
		root, err := unmarshal(text, lexed.readable(text))
		if err != nil || root == nil || restoreEscapes(text, lexed, root) {
			return root, err
		}
		lexed.refused = nil // they were ordinary text
	}
}

// unmarshal parses the first document of a text. It returns nil if the document is empty. readable is the text of the
// same length that is passed to the YAML parser.
func unmarshal(text, readable []byte) (*node, error) {
	if len(text) > 0 && &text[0] == &readable[0] {
		if root := plainTree(text); root != nil {
			return root, nil
		}
	}
	return unmarshalAny(text, readable)
}

// unmarshalAny is like unmarshal but always uses the YAML parser.
func unmarshalAny(text, readable []byte) (*node, error) {
	document, err := decode(readable[textStart(text):])
	if err != nil || len(document.Content) == 0 {
		return nil, err
	}
	return locate(text, document.Content[0]), nil
}

// decode calls the YAML parser and converts its panics to errors.
func decode(text []byte) (document yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the text cannot be read")
		}
	}()
	err = yaml.Unmarshal(text, &document)
	return document, err
}
