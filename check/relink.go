package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/parser/ast"
)

// A body that declares the same names in the same order as when it was checked before is linked by places: what a name
// stood for then is where it stood among the declarations.

// recognize finds out whether a body declares what it declared before.
func (c *body) recognize() {
	before := c.remembered
	if before == nil || len(before.all) < len(c.all) || before.named != len(c.all) ||
		!slices.Equal(c.memory.stackKeys, c.opts.StackKeys) {
		return
	}
	for i, n := range c.all {
		was := before.all[i]
		if was.Kind != n.Kind || was.unit() != n.unit() && (was.Name != n.Name ||
			n.Kind == ConfigNode && was.Config.Key != n.Config.Key) {
			return
		}
	}
	c.earlier = before.all[:len(c.all)]
}

// was is the node as it was before, where its declaration is the very same; nil for any other.
func (c *linker) was(n *Node) *Node {
	if n == nil || n.place >= len(c.earlier) {
		return nil
	}
	if was := c.earlier[n.place]; was.record != nil && was.unit() == n.unit() {
		return was
	}
	return nil
}

// relink links a node as it was linked before; false where that does not tell everything.
func (c *linker) relink(n *Node, unit *ast.Unit) bool {
	was := c.was(n)
	if was == nil || len(c.defaults) > 0 {
		return false
	}
	for _, ref := range was.record.refs {
		switch ref.Kind {
		case RefNode, RefEach:
			if ref.Node.place >= len(c.earlier) {
				return false // nothing declares it
			}
		case RefPulumi:
		default:
			return false
		}
	}
	refs := n.record.refs
	for i, ref := range was.record.refs {
		if ref.Node != nil {
			ref.Node = c.all[ref.Node.place]
		}
		refs[i] = ref
		if ref.Kind == RefNode {
			c.uses[ref.Node.place]++
			if n.Needs == nil {
				n.Needs = c.edges.next(len(refs) - i)[:0]
			}
			n.Needs = append(n.Needs, Edge{To: ref.Node, Range: unit.Accesses[i].Root.Range})
		}
	}
	return true
}
