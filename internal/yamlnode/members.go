package yamlnode

import "iter"

// Entries yields the keys and values of a map, with aliases resolved. Any other node, or nil, has none.
func Entries(n *Node) iter.Seq2[*Node, *Node] {
	return func(yield func(key, value *Node) bool) {
		n := n.Target()
		for i := 0; n != nil && n.Kind == Map && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1].Target()) {
				return
			}
		}
	}
}

// Member returns the node at a path of keys, with aliases resolved; nil if there is none. The last of equal keys wins.
func Member(n *Node, path ...string) *Node {
	n = n.Target()
	for _, key := range path {
		var found *Node
		for k, v := range Entries(n) {
			if k.Value == key {
				found = v
			}
		}
		n = found
	}
	return n
}

// TextAt returns the text of the scalar at a path of keys; empty for null, or if there is no scalar.
func TextAt(n *Node, path ...string) string {
	if n = Member(n, path...); n == nil || n.Kind != Scalar || n.ShortTag() == NullTag {
		return ""
	}
	return n.Value
}

// Index returns the index of a key in the content of a map; the value is at the next index. It returns -1 if there is
// none.
func (n *Node) Index(key string) int {
	if n != nil && n.Kind == Map {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return i
			}
		}
	}
	return -1
}
