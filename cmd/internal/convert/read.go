package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/yamltree"
)

// maxNodes limits the nodes of a document after its aliases are expanded.
const maxNodes = 2_000_000

// documents reads all documents of a YAML or JSON text, with aliases and merge keys expanded.
func documents(src *diag.Source) ([]*yaml.Node, diag.Diagnostics) {
	content := bytes.TrimPrefix(src.Text(), []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimLeft(content, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		content = bytes.ReplaceAll(content, []byte("\t"), []byte(" ")) // JSON allows tabs between tokens only
	}
	var docs []*yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var root yaml.Node
		err := d.Decode(&root)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err == nil && len(root.Content) > 0 {
			left := maxNodes
			var node *yaml.Node
			if node, err = plain(root.Content[0], &left, 0); err == nil {
				node.HeadComment = strings.TrimLeft(root.HeadComment+"\n\n"+node.HeadComment, "\n")
				docs = append(docs, node)
			}
		}
		if err != nil {
			line, message := yamltree.SyntaxError(err)
			return nil, fault(src, line, "is the file whole, and is it not a template of another tool?",
				"the text is not YAML or JSON: %s", message)
		}
	}
}

// fault returns a finding about a line of the input.
func fault(src *diag.Source, line int, detail, format string, args ...any) diag.Diagnostics {
	line = max(1, min(line, src.Lines()))
	start := src.Offset(diag.Position{Line: line, Column: 1})
	end := start + len(bytes.TrimRight(src.Line(line), "\r\n"))
	return diag.Diagnostics{{Code: diag.Syntax, Subject: diag.NewRange(src, start, end), Detail: detail,
		Summary: fmt.Sprintf(format, args...)}}
}

// plain copies a tree with aliases and merge keys expanded, and without anchors.
func plain(node *yaml.Node, left *int, depth int) (*yaml.Node, error) {
	if *left--; *left < 0 || depth > 500 {
		return nil, errors.New("the document is too large or too deep")
	}
	if node.Kind == yaml.AliasNode {
		return plain(node.Alias, left, depth+1)
	}
	out := *node
	out.Anchor, out.Content = "", nil
	seen := map[string]int{}
	for i := 0; i < len(node.Content); i++ {
		child, err := plain(node.Content[i], left, depth+1)
		if err != nil {
			return nil, err
		}
		if node.Kind != yaml.MappingNode {
			out.Content = append(out.Content, child)
			continue
		}
		value, err := plain(node.Content[i+1], left, depth+1)
		if err != nil {
			return nil, err
		}
		i++
		if child.Tag == "!!merge" {
			sources := []*yaml.Node{value}
			if value.Kind == yaml.SequenceNode {
				sources = value.Content
			}
			for _, source := range sources {
				each(source, func(k, v *yaml.Node) {
					if _, has := seen[k.Value]; !has && yamltree.Member(node, k.Value) == nil {
						seen[k.Value] = len(out.Content)
						out.Content = append(out.Content, k, v)
					}
				})
			}
			continue
		}
		if pos, has := seen[child.Value]; has { // the last of equal keys wins
			out.Content[pos], out.Content[pos+1] = child, value
			continue
		}
		seen[child.Value] = len(out.Content)
		out.Content = append(out.Content, child, value)
	}
	return &out, nil
}

// data copies a tree as literal data of a program: interpolations are escaped and scalars keep their meaning. With
// words, the boolean words of YAML 1.1 become booleans.
func data(node *yaml.Node, words bool) *yaml.Node {
	out := *node
	out.Content = nil
	for i, child := range node.Content {
		copied := data(child, words)
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			copied.Tag, copied.Value = "!!str", escaped(child.Value)
		}
		out.Content = append(out.Content, copied)
	}
	if node.Kind != yaml.ScalarNode {
		return &out
	}
	return scalar(&out, words)
}

// scalar converts a scalar of the input, in place, to one of a program.
func scalar(n *yaml.Node, words bool) *yaml.Node {
	truth := yaml11[strings.ToLower(n.Value)]
	switch short := n.ShortTag(); {
	case short == "!!int":
		var v int64
		if n.Decode(&v) == nil {
			n.Value = strconv.FormatInt(v, 10)
		}
		if n.Tag = short; v > 1<<53 || v < -1<<53 {
			n.Tag = "!!str"
		}
	case short == "!!float" || short == "!!bool" || short == "!!null":
		n.Tag = short
	case words && n.Style == 0 && truth != "":
		n.Tag, n.Value = "!!bool", truth
	default:
		n.Tag, n.Value = "!!str", escaped(n.Value)
	}
	return n
}

var yaml11 = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}
