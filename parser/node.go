package parser

import "gopkg.in/yaml.v3"

// node is a YAML node with its position in the parsed text. It belongs to the tree of that text and is immutable once
// the text has been parsed; a reader that needs a different node copies it.
type node struct {
	kind   nodeKind
	style  nodeStyle
	tag    string // in short form, such as !!str; empty for an alias
	value  string // value of a scalar; for an alias, the name of its anchor
	anchor string
	alias  *node // the node that an alias refers to

	// content holds the members of a collection. For a map, keys and values alternate.
	content []*node

	start, end int // byte offsets in the text
	indent     int // for a literal or folded scalar: the column of the collection around it, -1 for none
}

// nodeKind is the kind of a node.
type nodeKind uint8

const (
	scalarNode nodeKind = iota + 1
	mapNode
	listNode
	aliasNode
)

// nodeStyle is a set of flags that describe the notation of a node.
type nodeStyle uint8

// The values are those of the YAML parser.
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

// multiline reports whether a scalar is a literal or folded one: `|` or `>`.
func (n *node) multiline() bool { return n.style&(literalStyle|foldedStyle) != 0 }

// flow reports whether a collection is written in brackets.
func (n *node) flow() bool { return n.style&flowStyle != 0 }

// target returns the node that an alias refers to, and any other node itself.
func (n *node) target() *node {
	if n.kind == aliasNode && n.alias != nil {
		return n.alias
	}
	return n
}

// empty reports whether a node is null, explicitly or by omission.
func empty(n *node) bool { return n.kind == scalarNode && n.tag == nullTag }

// The YAML tags that this package distinguishes.
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

// kindName returns the kind of a node in the user's terms, with its article.
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
