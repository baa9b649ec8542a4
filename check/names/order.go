package names

import (
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/check/findings"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Order sorts the nodes for evaluation (L9.3): configuration, resources, variables, each after its dependencies. Nodes
// in a cycle follow in source order, so that everything is checked.
//
// A cycle of nodes is a fault only if it is one of the parts of components, too: deferLoops takes the edges away that
// wait for single outputs, and what is cyclic without them is reported.
func (s *Scope) Order() {
	// arrange runs again after deferLoops, whose marks change which edges order the nodes.
	if s.arrange() && (!deferLoops(s.Program, s.all, s.facts) || s.arrange()) {
		s.reportCycles()
	}
}

// arrange sorts the nodes, and reports whether there are cycles.
func (s *Scope) arrange() bool {
	nodes, cyclic := arranged(s.all)
	for i, n := range nodes {
		// Index is the place in the order of evaluation, SourceIndex that in the text.
		n.Index = i
	}
	s.Program.Nodes = nodes
	return cyclic
}

// arranged returns the nodes in the order of evaluation. all is indexed by SourceIndex. cyclic reports whether there
// are cycles. The search keeps a stack of its own: a chain may be as long as the program. Roots are taken by kind, as
// L9.3 says, and in source order, because users read what happens in the order of their text.
func arranged(all []*program.Node) (nodes []*program.Node, cyclic bool) {
	const (
		// A node is open while the search is below it, so that an edge to an open node closes a cycle.
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(all)) // by SourceIndex
	nodes = make([]*program.Node, 0, len(all))
	type frame struct {
		node *program.Node
		next int
	}
	var stack []frame
	roots := make([]*program.Node, 0, len(all))
	for _, kind := range []program.NodeKind{program.ConfigNode, program.ResourceNode, program.VariableNode} {
		for _, n := range all {
			if n.Kind == kind {
				roots = append(roots, n)
			}
		}
	}
	for _, root := range roots {
		if state[root.SourceIndex] != fresh {
			continue
		}
		stack = append(stack[:0], frame{node: root})
		state[root.SourceIndex] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			// All dependencies are in the order, and so it is the turn of the node itself.
			if top.next == len(top.node.Needs) {
				state[top.node.SourceIndex] = done
				nodes = append(nodes, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			edge := top.node.Needs[top.next]
			dst := edge.To
			top.next++
			switch {
			// The node is registered first and gets this value later.
			case edge.Deferred:
			case state[dst.SourceIndex] == fresh:
				state[dst.SourceIndex] = open
				stack = append(stack, frame{node: dst})
			case state[dst.SourceIndex] == open:
				cyclic = true
			}
		}
	}
	return nodes, cyclic
}

// maxCycles bounds the cycles reported for one strongly connected component.
const maxCycles = 10

// reportCycles reports cycles without a common closing edge for every strongly connected component (L9.5).
func (s *Scope) reportCycles() {
	// The edges of a reported cycle are cut in the copy of the graph that t keeps, never in the graph: a reader of the
	// program sees the edges of its text.
	t := tangles{report: s.report, policies: s.Program.Policies, cut: make(edgeSet)}
	for _, loop := range loopsOf(s.all, t.cut) {
		for _, n := range loop {
			s.cyclic[n] = true
		}
		t.untangle(loop, maxCycles)
	}
}

// edgeSet holds edges of each node by their index in Needs.
type edgeSet map[*program.Node]map[int]bool

// tangles reports cycles, and removes one edge of each.
type tangles struct {
	report   *findings.Reporter
	policies []*program.Policy
	cut      edgeSet // the removed edges
}

// untangle reports one cycle, removes its closing edge and continues with the rest. Reporting every cycle would take
// exponential time. Those that remain once the edge is removed have to be broken as well.
func (t *tangles) untangle(loop []*program.Node, budget int) int {
	if budget == 0 {
		return 0
	}
	// loop is strongly connected with the present cuts, so that its first node is in a cycle.
	nodes, edges := shortestCycle(loop, t.cut)
	if nodes == nil {
		return budget
	}
	nodes, edges, rest := t.open(loop, nodes, edges)
	t.reportCycle(nodes, edges)
	budget--
	for _, loop := range rest {
		budget = t.untangle(loop, budget)
	}
	return budget
}

// open removes an edge of a cycle in a loop, and returns the cycle in the order in which that edge closes it, with the
// loops that remain. It prefers an edge that all cycles have: one wrong reference is one fault, however many cycles it
// makes.
func (t *tangles) open(loop, nodes []*program.Node, edges []program.Edge) ([]*program.Node, []program.Edge,
	[][]*program.Node) {
	// Each try costs a search of the whole loop.
	const most = 50 // edges that are tried
	var first [][]*program.Node
	for n := range min(len(nodes), most) {
		// From the last edge on, where a cycle without a better candidate is opened.
		closing := len(nodes) - 1 - n
		t.remove(nodes[closing], nodes[(closing+1)%len(nodes)], true)
		rest := loopsOf(loop, t.cut)
		if len(rest) == 0 {
			split := closing + 1
			return slices.Concat(nodes[split:], nodes[:split]), slices.Concat(edges[split:], edges[:split]), nil
		}
		// Should no edge open all cycles, the last one does, and what then remains has been computed here.
		if n == 0 {
			first = rest
		}
		t.remove(nodes[closing], nodes[(closing+1)%len(nodes)], false)
	}
	t.remove(nodes[len(nodes)-1], nodes[0], true)
	return nodes, edges, first
}

// remove cuts the edges from one node to another, or restores them.
func (t *tangles) remove(from, to *program.Node, cut bool) {
	if t.cut[from] == nil {
		t.cut[from] = make(map[int]bool)
	}
	// All edges between the two: a name may be used several times, and each use would close the cycle again.
	for i, edge := range from.Needs {
		if edge.To == to {
			t.cut[from][i] = cut
		}
	}
}

// reportCycle reports a cycle at its last edge, which closes it. edges[i] leads from nodes[i] to the next one, and the
// last to the first. All edges are related places, since any of them may be the one to remove.
func (t *tangles) reportCycle(nodes []*program.Node, edges []program.Edge) {
	var path strings.Builder
	related := make([]diag.Related, 0, len(nodes))
	for i, n := range nodes {
		path.WriteString(n.Name)
		path.WriteString(" → ")
		message := n.Name + " needs " + edges[i].To.Name + " here"
		if by := edges[i].Transform; by != nil {
			message = "this " + t.kindOf(by) + " matches " + n.Name + ", and needs " + edges[i].To.Name
		}
		related = append(related, diag.Related{Range: edges[i].Range, Message: message})
	}
	path.WriteString(nodes[0].Name)
	closing := edges[len(edges)-1]
	detail := "none of these can be evaluated first; remove one of the references"
	if i := slices.IndexFunc(edges, func(e program.Edge) bool { return e.Transform != nil }); i >= 0 {
		detail = "none of these can be evaluated first; make the `match` of the " + t.kindOf(edges[i].Transform) +
			" narrower, or remove one of the references"
	}
	t.report.Add(diag.Diagnostic{Code: diag.Cycle, Subject: closing.Range, Summary: "cycle: " + path.String(),
		Detail: detail, Related: related})
}

// kindOf returns the word for what adds an edge by a match: a policy has a transform that stands for its match.
func (t *tangles) kindOf(by *ast.Transform) string {
	if slices.ContainsFunc(t.policies, func(p *program.Policy) bool { return p.Matched.Transform == by }) {
		return "policy"
	}
	return "transform"
}

// shortestCycle returns a shortest cycle through the first node of a loop: its nodes in order, and the outgoing edge of
// each. The shortest one is the easiest to read.
func shortestCycle(loop []*program.Node, cut edgeSet) ([]*program.Node, []program.Edge) {
	inside := make(map[*program.Node]bool, len(loop))
	for _, n := range loop {
		inside[n] = true
	}
	start := loop[0]
	type step struct {
		from *program.Node
		edge program.Edge
	}
	reached := make(map[*program.Node]step)
	queue := []*program.Node{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for i, edge := range n.Needs {
			if !inside[edge.To] || cut[n][i] || edge.Deferred {
				continue
			}
			// The search is by breadth, so that the first way back is a shortest one.
			if edge.To == start {
				nodes, edges := []*program.Node{n}, []program.Edge{edge}
				for n != start {
					s := reached[n]
					nodes, edges = append(nodes, s.from), append(edges, s.edge)
					n = s.from
				}
				slices.Reverse(nodes)
				slices.Reverse(edges)
				return nodes, edges
			}
			if _, seen := reached[edge.To]; !seen {
				reached[edge.To] = step{n, edge}
				queue = append(queue, edge.To)
			}
		}
	}
	return nil, nil
}

// loopsOf returns the strongly connected components, each in source order, single nodes only if they depend on
// themselves. It is Tarjan's algorithm with an explicit stack, so that long chains do not overflow the goroutine's.
func loopsOf(nodes []*program.Node, cut edgeSet) [][]*program.Node {
	position := make(map[*program.Node]int, len(nodes))
	for i, n := range nodes {
		position[n] = i
	}
	type mark struct {
		index, low int
		onStack    bool
	}
	marks := make(map[*program.Node]*mark, len(nodes))
	type frame struct {
		node *program.Node
		next int
	}
	var frames []frame
	var stack []*program.Node
	var found [][]*program.Node
	enter := func(n *program.Node) {
		marks[n] = &mark{index: len(marks), low: len(marks), onStack: true}
		stack = append(stack, n)
		frames = append(frames, frame{node: n})
	}
	for _, root := range nodes {
		if marks[root] != nil {
			continue
		}
		enter(root)
		for len(frames) > 0 {
			top := &frames[len(frames)-1]
			m := marks[top.node]
			if top.next < len(top.node.Needs) {
				i := top.next
				edge := top.node.Needs[i]
				dst := edge.To
				top.next++
				// After a cut the search is of a part of the graph, whose edges may lead out of it.
				if _, known := position[dst]; !known || cut[top.node][i] || edge.Deferred {
					continue
				}
				if other := marks[dst]; other == nil {
					enter(dst)
				} else if other.onStack {
					m.low = min(m.low, other.index)
				}
				continue
			}
			n := top.node
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := marks[frames[len(frames)-1].node]
				parent.low = min(parent.low, m.low)
			}
			// Something earlier on the stack can be reached: n is not the first node of its component.
			if m.low != m.index {
				continue
			}
			pos := len(stack) - 1 // searched from the top: the cost is the size of the loop
			for stack[pos] != n {
				pos--
			}
			loop := slices.Clone(stack[pos:])
			stack = stack[:pos]
			for _, member := range loop {
				marks[member].onStack = false
			}
			if len(loop) > 1 || needsItself(n, cut) {
				slices.SortFunc(loop, func(a, b *program.Node) int { return position[a] - position[b] })
				found = append(found, loop)
			}
		}
	}
	slices.SortFunc(found, func(a, b []*program.Node) int { return position[a[0]] - position[b[0]] })
	return found
}

// needsItself reports whether a node has an edge to itself. A single node is strongly connected in any case; only an
// edge makes it a cycle.
func needsItself(n *program.Node, cut edgeSet) bool {
	for i, edge := range n.Needs {
		if edge.To == n && !cut[n][i] && !edge.Deferred {
			return true
		}
	}
	return false
}

// Levels groups the nodes of a body without cycles: each level depends only on earlier ones. Within a level, nodes are
// in the order of evaluation. The levels share one array: a program of one chain has as many levels as nodes.
func Levels(nodes []*program.Node) [][]*program.Node {
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
	all := make([]*program.Node, len(nodes))
	levels := make([][]*program.Node, len(sizes))
	for i, size := range sizes {
		levels[i], all = all[:0:size], all[size:]
	}
	for i, n := range nodes {
		levels[level[i]] = append(levels[level[i]], n)
	}
	return levels
}
