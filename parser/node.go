package parser

import "gopkg.in/yaml.v3"

// node is a YAML node with its place in the text that was read. It belongs to the tree of that text, which nobody
// changes once it has been read; readers that need another one copy it.
type node struct {
	kind   nodeKind
	style  nodeStyle
	tag    string // in its short form, such as !!str; empty for an alias
	value  string // of a scalar; of an alias the name of its anchor
	anchor string
	alias  *node // what an alias stands for

	// content are the members: of a map, keys and values in turn.
	content []*node

	start, end int // byte offsets in the text
	indent     int // of a literal or folded text: the column of the collection around it, -1 for none
}

// nodeKind describes what a node is.
type nodeKind uint8

const (
	scalarNode nodeKind = iota + 1
	mapNode
	listNode
	aliasNode
)

// nodeStyle is a set of marks of how a node is written.
type nodeStyle uint8

// They are the YAML reader's own.
const (
	taggedStyle       = nodeStyle(yaml.TaggedStyle)
	doubleQuotedStyle = nodeStyle(yaml.DoubleQuotedStyle)
	singleQuotedStyle = nodeStyle(yaml.SingleQuotedStyle)
	literalStyle      = nodeStyle(yaml.LiteralStyle)
	foldedStyle       = nodeStyle(yaml.FoldedStyle)
	flowStyle         = nodeStyle(yaml.FlowStyle)
)

func (n *node) tagged() bool       { return n.style&taggedStyle != 0 }
func (n *node) doubleQuoted() bool { return n.style&doubleQuotedStyle != 0 }
func (n *node) singleQuoted() bool { return n.style&singleQuotedStyle != 0 }
func (n *node) quoted() bool       { return n.style&(doubleQuotedStyle|singleQuotedStyle) != 0 }

// multiline reports whether a scalar is a literal or folded text: `|` or `>`.
func (n *node) multiline() bool { return n.style&(literalStyle|foldedStyle) != 0 }

// flow reports whether a collection is written in brackets.
func (n *node) flow() bool { return n.style&flowStyle != 0 }

// target follows an alias.
func (n *node) target() *node {
	if n.kind == aliasNode && n.alias != nil {
		return n.alias
	}
	return n
}

// empty reports whether a node is null, written out or not.
func empty(n *node) bool { return n.kind == scalarNode && n.tag == nullTag }

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
	mapTag       = "!!map"
	listTag      = "!!seq"
)

// kindName returns a node's kind as a user would say it, with its article.
func kindName(n *node) string {
	switch n.kind {
	case mapNode:
		return "a map"
	case listNode:
		return "a list"
	case aliasNode:
		return "an alias"
	}
	switch n.tag {
	case nullTag:
		return "nothing"
	case boolTag:
		return "a boolean"
	case intTag, floatTag:
		return "a number"
	}
	return "a string"
}
