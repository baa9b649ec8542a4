package check

import "github.com/yamlhost/yamlhost/internal/parallel"

// usualBatch is how many nodes one goroutine checks at least: fewer cost less than handing them over.
const usualBatch = 32

// levels groups the nodes of a body, in which none needs itself: each level needs nothing but those before it. In a
// level, nodes are in the order of evaluation.
func (c *body) levels() [][]*Node {
	nodes := c.program.Nodes
	level := make([]int32, len(nodes)) // by index
	var sizes []int
	for i, n := range nodes {
		for _, edge := range n.Needs {
			level[i] = max(level[i], level[edge.To.Index]+1)
		}
		if int(level[i]) == len(sizes) {
			sizes = append(sizes, 0)
		}
		sizes[level[i]]++
	}
	all := make([]*Node, len(nodes))
	levels := make([][]*Node, len(sizes))
	for i, size := range sizes {
		levels[i], all = all[:0:size], all[size:]
	}
	for i, n := range nodes {
		levels[level[i]] = append(levels[level[i]], n)
	}
	return levels
}

// checkLevels gives every node of a body without cycles its type. It checks the nodes of a level concurrently.
func (c *body) checkLevels() {
	analyses := make([]analysis, len(c.program.Nodes))
	for _, level := range c.levels() {
		parallel.Each(len(level), c.batch, func(i int) {
			if n := level[i]; c.ctx.Err() == nil { // else anyone who asked for it wants no answer any more
				analyses[n.Index] = c.analyzeNode(n)
			}
		})
	}
	for i, n := range c.program.Nodes {
		if analyses[i].outcome == nil {
			return // it was cancelled
		}
		c.recordNode(n, analyses[i])
	}
}
