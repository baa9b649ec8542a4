package check

// ahead checks the nodes of a body whose loops are cut. Where components use single outputs of each other, the nodes
// have no order in which each comes after all that it needs. What they need of each other is the type, and the type of
// a component is known from its interface; only that of a collection of instances has to be found first, from its
// forEach.
type ahead struct {
	body           *body
	checked, typed map[*Node]bool
}

// inOrder checks a node after its dependencies. It ends, since the edges that are not deferred form no cycle, and since
// a node is marked before its dependencies are visited.
func (c *ahead) inOrder(n *Node) {
	if c.checked[n] {
		return
	}
	c.checked[n] = true
	c.typeAhead(n)
	for _, edge := range n.Needs {
		if edge.Deferred {
			c.typeAhead(edge.To)
		} else {
			c.inOrder(edge.To)
		}
	}
	c.body.recordNode(n, c.body.checkNode(n))
}

// typeAhead finds the type of instances in a loop before they are checked, so that the others can use it.
func (c *ahead) typeAhead(n *Node) {
	if n.Deferral == nil || n.Resource.Decl.ForEach == nil || c.typed[n] {
		return
	}
	c.typed[n] = true
	for _, needed := range n.Deferral.Register {
		c.inOrder(needed)
	}
	c.body.refreshComponent(n)
	n.Type = c.body.types.Instances(c.body.run.ctx, n)
}
