package parser

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/diag"
)

// node is a YAML node. Once locate has run, Line and Column hold the byte offsets at which the node begins and ends.
type node = yaml.Node

// load reads the YAML tree. It answers nil, and has reported why, when there is none; the root is a map.
func (p *parser) load() *node {
	var document node
	read := func() error { return p.unmarshal(&document) }
	if err := read(); err != nil && p.reread(err, read) != nil {
		return nil
	}
	if len(p.repairs) > 0 && (len(document.Content) == 0 || p.deref(document.Content[0]).Kind != yaml.MappingNode) {
		return nil // what is left is no program, and need not be one
	}
	if document.Kind == 0 || len(document.Content) == 0 || empty(document.Content[0]) {
		p.warn(diag.NoProgram, p.at(0, 0), "a program has sections such as `resources` and `outputs`; `{}` is the shortest one",
			"the file is empty")
		return nil
	}
	p.noteEscapes()
	if second := p.lexed.secondDocument; second >= 0 {
		p.warn(diag.Ignored, p.at(second, second+3), "a program is one document; remove what follows or move it to a file of its own",
			"only the first document of the file is read")
	}
	root := p.deref(document.Content[0])
	if root.Kind != yaml.MappingNode {
		p.fail(diag.WrongKind, p.span(root), "a program is a map with sections such as `resources` and `outputs`",
			"a program must be a map, found %s", kindName(root))
		return nil
	}
	p.yamlRoot = root
	return root
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
