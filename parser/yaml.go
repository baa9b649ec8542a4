package parser

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
)

// node is a YAML node. Once locate has run, Line and Column hold the byte offsets at which the node begins and ends.
type node = yaml.Node

// load reads the YAML tree, whose root is a map. A text with a syntax error is read by blocks where it can be. Both
// answers are nil when there is nothing to read, and the parser has reported why.
func (p *parser) load() (*node, *blockSet) {
	var document node
	read := func() error { return p.unmarshal(&document) }
	if err := read(); err != nil {
		if blocks := p.byBlocks(); blocks != nil {
			return nil, blocks
		}
		if p.reread(err, read) != nil {
			return nil, nil
		}
	}
	if len(p.repairs) > 0 && (len(document.Content) == 0 || p.deref(document.Content[0]).Kind != yaml.MappingNode) {
		return nil, nil // what is left is no program, and need not be one
	}
	if document.Kind == 0 || len(document.Content) == 0 || empty(document.Content[0]) {
		p.warn(diag.NoProgram, p.at(0, 0),
			"a program has sections such as `resources` and `outputs`; `{}` is the shortest one",
			"the file is empty")
		return nil, nil
	}
	p.noteEscapes()
	if second := p.lexed.secondDocument; second >= 0 {
		p.warn(diag.Ignored, p.at(second, second+3),
			"a program is one document; remove what follows or move it to a file of its own",
			"only the first document of the file is read")
	}
	root := p.deref(document.Content[0])
	if root.Kind != yaml.MappingNode {
		p.fail(diag.WrongKind, p.span(root), "a program is a map with sections such as `resources` and `outputs`",
			"a program must be a map, found %s", kindName(root))
		return nil, nil
	}
	p.yamlRoot = root
	return root, nil
}

func empty(n *node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == nullTag }

// unmarshal guards against panics of the YAML reader: whatever a text holds, the answer is an error.
func unmarshal(text []byte, into *node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: the text cannot be read")
		}
	}()
	return yaml.Unmarshal(text, into)
}

const mappingNode = yaml.MappingNode

// The tags of YAML that this package tells apart.
const (
	nullTag      = "!!null"
	boolTag      = "!!bool"
	intTag       = "!!int"
	floatTag     = "!!float"
	stringTag    = "!!str"
	binaryTag    = "!!binary"
	timestampTag = "!!timestamp"
	mergeTag     = "!!merge"
)

// kindName is a node's kind as a user would say it, with its article.
func kindName(n *node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case nullTag:
		return "nothing"
	case boolTag:
		return "a boolean"
	case intTag, floatTag:
		return "a number"
	}
	return "a string"
}
