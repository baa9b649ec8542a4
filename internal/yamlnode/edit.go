package yamlnode

import (
	"bytes"
	"strings"

	"gopkg.in/yaml.v3"
)

// Document is a tree with the comments around it. It may be edited, and written again.
type Document struct {
	Root     *Node
	Comments Comments
}

// Encode returns a document as text, indented by two spaces.
func (d *Document) Encode() ([]byte, error) {
	w := writer{}
	return encode(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{w.node(d.Root)},
		HeadComment: d.Comments.Head, LineComment: d.Comments.Line, FootComment: d.Comments.Foot})
}

// Encode returns a tree as text, indented by two spaces.
func Encode(n *Node) ([]byte, error) { return encode(writer{}.node(n)) }

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), encoder.Close()
}

// writer converts nodes to those of the library; it holds the ones that it has made, for aliases.
type writer map[*Node]*yaml.Node

var libraryKinds = map[Kind]yaml.Kind{Scalar: yaml.ScalarNode, Map: yaml.MappingNode, List: yaml.SequenceNode,
	Alias: yaml.AliasNode}

func (w writer) node(n *Node) *yaml.Node {
	if made := w[n]; made != nil {
		return made
	}
	c := n.Notes()
	made := &yaml.Node{Kind: libraryKinds[n.Kind], Style: yaml.Style(n.Style), Tag: n.TagText(), Value: n.Value,
		Anchor: n.Anchor(), HeadComment: c.Head, LineComment: c.Line, FootComment: c.Foot}
	if n.Style&FoldedStyle != 0 && (strings.Contains(n.Value, "\n ") || strings.Contains(n.Value, "\n\n")) {
		made.Style = made.Style&^yaml.FoldedStyle | yaml.LiteralStyle // the library adds lines to such folded texts
	}
	w[n] = made
	if n.Kind == Alias {
		made.Alias = w.node(n.extras.target)
	}
	for _, child := range n.Content {
		part := w.node(child)
		if n.Flow() && part.Value == "" && child.Kind == Scalar && child.Tag == NullTag {
			part.Value = "null" // which the library would write as an empty text in quotes
		}
		made.Content = append(made.Content, part)
	}
	return made
}

// Of returns the node of a scalar: nil, a boolean, a number or a text, which is quoted if necessary.
func Of(v any) *Node {
	made := &yaml.Node{}
	if err := made.Encode(v); err != nil {
		return &Node{Kind: Scalar, Tag: StringTag, Style: DoubleQuotedStyle}
	}
	return ofLibrary(made)
}

// ofLibrary returns the node of a scalar of the library.
func ofLibrary(made *yaml.Node) *Node {
	n := &Node{Kind: Scalar, Style: Style(made.Style), Value: made.Value}
	n.setTag(made.Tag)
	return n
}

// OfText returns the node of a text, as several lines if it has any.
func OfText(text string) *Node {
	made := &yaml.Node{}
	made.SetString(text)
	return ofLibrary(made)
}

// Data returns the value of a scalar by its tag: nil, bool, int, int64, uint64, float64, string or time.Time. The error
// is about a value that does not fit its tag.
func (n *Node) Data() (v any, err error) {
	err = (&yaml.Node{Kind: yaml.ScalarNode, Style: yaml.Style(n.Style), Tag: n.TagText(), Value: n.Value}).Decode(&v)
	return v, err
}
