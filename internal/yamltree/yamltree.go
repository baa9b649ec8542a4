// Package yamltree reads and writes the node trees of the YAML library, for the readers of project files and of
// Kubernetes' definitions and for the converters of other tools. It does not know what the nodes mean.
package yamltree

import (
	"bytes"
	"iter"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/internal/lazyregexp"
)

// Resolve returns the node that an alias stands for, and any other node unchanged.
func Resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Entries yields the keys and values of a map, with aliases resolved. Any other node, or nil, has none.
func Entries(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		n := Resolve(n)
		for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], Resolve(n.Content[i+1])) {
				return
			}
		}
	}
}

// Member returns the node at a path of keys, with aliases resolved; nil if there is none. The last of equal keys wins.
func Member(n *yaml.Node, path ...string) *yaml.Node {
	n = Resolve(n)
	for _, key := range path {
		var found *yaml.Node
		for k, v := range Entries(n) {
			if k.Value == key {
				found = v
			}
		}
		n = found
	}
	return n
}

// Text returns the text of the scalar at a path of keys; empty for null, or if there is no scalar.
func Text(n *yaml.Node, path ...string) string {
	if n = Member(n, path...); n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

// Encode returns a tree as text, indented by two spaces.
func Encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), encoder.Close()
}

var syntaxError = lazyregexp.New(`^yaml: (?:unmarshal errors:\s*)?(?:line (\d+): )?`)

// SyntaxError splits an error of the YAML library into a line and a message. The line is 1 if the error has none.
func SyntaxError(err error) (line int, message string) {
	message = err.Error()
	if m := syntaxError().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	return max(line, 1), message
}
