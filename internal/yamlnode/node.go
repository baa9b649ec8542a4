package yamlnode

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Node is a YAML node with its position in the parsed text. A node belongs to the tree of its text; only who has read a
// tree to edit it may change one. Nodes that are made by hand have no position.
type Node struct {
	Kind   Kind
	Style  Style
	Tag    Tag    // NoTag for an alias, and for a node made by hand that has no explicit one
	indent int32  // for a literal or folded scalar: the column of the collection around it, -1 for none
	Value  string // value of a scalar; for an alias, the name of its anchor

	// Content holds the members of a collection. For a map, keys and values alternate.
	Content []*Node

	Start, End int     // byte offsets in the text
	extras     *extras // nil without any; shared by copies of the node, so it is replaced and not changed
}

// extras has what few nodes have: a large program has a million nodes.
type extras struct {
	tag      string // the text of OtherTag
	anchor   string
	target   *Node // of an alias
	comments Comments
}

// extra returns the extras of a node, which may be empty.
func (n *Node) extra() extras {
	if n == nil || n.extras == nil {
		return extras{}
	}
	return *n.extras
}

func (n *Node) setExtra(e extras) {
	if n.extras = nil; e != (extras{}) {
		n.extras = &e
	}
}

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota + 1
	Map
	List
	Alias
)

// Style is a set of flags that describe the notation of a node.
type Style uint8

// The values are those of the YAML parser.
const (
	TaggedStyle       = Style(yaml.TaggedStyle)
	DoubleQuotedStyle = Style(yaml.DoubleQuotedStyle)
	SingleQuotedStyle = Style(yaml.SingleQuotedStyle)
	LiteralStyle      = Style(yaml.LiteralStyle)
	FoldedStyle       = Style(yaml.FoldedStyle)
	FlowStyle         = Style(yaml.FlowStyle)
)

// Tagged reports whether a node has an explicit tag.
func (n *Node) Tagged() bool { return n.Style&TaggedStyle != 0 }

func (n *Node) doubleQuoted() bool { return n.Style&DoubleQuotedStyle != 0 }
func (n *Node) singleQuoted() bool { return n.Style&SingleQuotedStyle != 0 }

// Quoted reports whether a scalar is in quotes.
func (n *Node) Quoted() bool { return n.Style&(DoubleQuotedStyle|SingleQuotedStyle) != 0 }

// Multiline reports whether a scalar is a literal or folded one: `|` or `>`.
func (n *Node) Multiline() bool { return n.Style&(LiteralStyle|FoldedStyle) != 0 }

// Flow reports whether a collection is written in brackets.
func (n *Node) Flow() bool { return n.Style&FlowStyle != 0 }

// Anchor returns the name that aliases refer to a node by; empty without any.
func (n *Node) Anchor() string {
	if n.extras == nil {
		return ""
	}
	return n.extras.anchor
}

// DropAnchor removes the anchor of a node.
func (n *Node) DropAnchor() {
	e := n.extra()
	e.anchor = ""
	n.setExtra(e)
}

// TagText returns the tag of a node in short form, such as !!str or !Ref; empty for NoTag.
func (n *Node) TagText() string {
	switch {
	case n.Tag != OtherTag:
		return tagTexts[n.Tag]
	case n.extras != nil:
		return n.extras.tag
	}
	return ""
}

// setTag sets the tag of a node to one in short form.
func (n *Node) setTag(text string) {
	e := n.extra()
	e.tag = ""
	if n.Tag = tagOf(text); n.Tag == OtherTag {
		e.tag = text
	}
	n.setExtra(e)
}

// ShortTag returns the tag of a node, also of one that was made by hand without a tag.
func (n *Node) ShortTag() Tag {
	switch {
	case n.Tag != NoTag:
		return n.Tag
	case n.Kind == Map:
		return MapTag
	case n.Kind == List:
		return ListTag
	case n.Kind == Scalar && n.Style&^TaggedStyle != 0:
		return StringTag
	case n.Kind == Scalar && n.Value == "":
		return NullTag
	case n.Kind == Scalar:
		return plainTag(n.Value)
	}
	return NoTag
}

// Target returns the node that an alias refers to, and any other node itself.
func (n *Node) Target() *Node {
	if n != nil && n.Kind == Alias && n.extras != nil && n.extras.target != nil {
		return n.extras.target
	}
	return n
}

// IsNull reports whether a node is null, explicitly or by omission.
func IsNull(n *Node) bool { return n.Kind == Scalar && n.Tag == NullTag }

// Tag is the tag of a node.
type Tag uint8

// The tags of YAML. All others, such as !Ref, are OtherTag; see [Node.TagText].
const (
	NoTag Tag = iota
	NullTag
	BoolTag
	IntTag
	FloatTag
	StringTag
	BinaryTag
	TimestampTag
	MergeTag
	MapTag
	ListTag
	OtherTag
)

var tagTexts = [OtherTag]string{NullTag: "!!null", BoolTag: "!!bool", IntTag: "!!int", FloatTag: "!!float",
	StringTag: "!!str", BinaryTag: "!!binary", TimestampTag: "!!timestamp", MergeTag: "!!merge", MapTag: "!!map",
	ListTag: "!!seq"}

// tagOf returns the tag of a text in short form.
func tagOf(text string) Tag {
	if i := slices.Index(tagTexts[:], text); i >= 0 {
		return Tag(i)
	}
	return OtherTag
}

// KindName returns the kind of a node in the user's terms, with its article.
func KindName(n *Node) string {
	switch n.Kind {
	case Map:
		return "a map"
	case List:
		return "a list"
	case Alias:
		return "an alias"
	}
	switch n.Tag {
	case NullTag:
		return "nothing"
	case BoolTag:
		return "a boolean"
	case IntTag, FloatTag:
		return "a number"
	}
	return "a string"
}

// Comments are the comments of a node: above it, at the end of its line, and below it.
type Comments struct{ Head, Line, Foot string }

// Notes returns the comments of a node. Only a tree that was read with its comments has any.
func (n *Node) Notes() Comments {
	if n == nil || n.extras == nil {
		return Comments{}
	}
	return n.extras.comments
}

// SetNotes replaces the comments of a node.
func (n *Node) SetNotes(c Comments) {
	e := n.extra()
	e.comments = c
	n.setExtra(e)
}

// Head returns the comment above a node.
func (n *Node) Head() string { return n.Notes().Head }

// SetHead replaces the comment above a node.
func (n *Node) SetHead(text string) {
	c := n.Notes()
	c.Head = text
	n.SetNotes(c)
}

// plainTag returns the tag of a plain scalar. If the first character does not determine it, the YAML parser does.
func plainTag(text string) Tag {
	switch c := text[0]; {
	case c >= '1' && c <= '9' && len(text) <= 18 && strings.Trim(text, "0123456789") == "":
		return IntTag
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
	case len(text) > len("false") || strings.IndexByte("yYnNtTfFoO~", c) < 0:
		return StringTag
	}
	return tagOf((&yaml.Node{Kind: yaml.ScalarNode, Value: text}).ShortTag())
}
