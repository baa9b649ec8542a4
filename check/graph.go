package check

// Graph is what needs what, for people and tools to look at.
type Graph struct {
	Nodes []GraphNode `json:"nodes"` // in the order of evaluation, outputs last
	Edges []GraphEdge `json:"edges"` // by From, then in source order; each pair of nodes once
}

// GraphNode is a configuration value, a variable, a resource or an output.
type GraphNode struct {
	ID   string `json:"id"`   // unique: the kind and the name
	Kind string `json:"kind"` // config, variable, resource or output
	Name string `json:"name"`
	Type string `json:"type,omitempty"` // a resource's token
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // 1-based
}

// GraphEdge says that From needs To, and where the text says so first.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Line int    `json:"line,omitempty"` // 1-based
}

var graphKinds = [...]string{ConfigNode: "config", VariableNode: "variable", ResourceNode: "resource"}

func (n *Node) graphID() string { return graphKinds[n.Kind] + ":" + n.Name }

// Graph lists the program's nodes and edges.
func (p *Program) Graph() Graph {
	var g Graph
	edges := func(from string, needs []Edge) {
		seen := make(map[*Node]bool, len(needs))
		for _, edge := range needs {
			if !seen[edge.To] {
				seen[edge.To] = true
				g.Edges = append(g.Edges, GraphEdge{From: from, To: edge.To.graphID(), Line: edge.Range.StartPosition().Line})
			}
		}
	}
	for _, n := range p.Nodes {
		node := GraphNode{ID: n.graphID(), Kind: graphKinds[n.Kind], Name: n.Name, Line: n.Range.StartPosition().Line}
		if n.Range.Source != nil {
			node.File = n.Range.Source.Name()
		}
		if n.Resource != nil {
			node.Type = n.Resource.Token
		}
		g.Nodes = append(g.Nodes, node)
		edges(node.ID, n.Needs)
	}
	for _, o := range p.Outputs {
		node := GraphNode{ID: "output:" + o.Decl.Name.Value, Kind: "output", Name: o.Decl.Name.Value}
		if at := o.Decl.Name.Range; at.Source != nil {
			node.File, node.Line = at.Source.Name(), at.StartPosition().Line
		}
		g.Nodes = append(g.Nodes, node)
		edges(node.ID, o.Needs)
	}
	return g
}
