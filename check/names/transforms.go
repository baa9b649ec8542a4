package names

import (
	"github.com/yamlhost/yamlhost/check/packages"
	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// linkTransforms resolves the names in the transforms of the stack.
func (l *linker) linkTransforms() {
	for _, decl := range l.scope.file.Transforms {
		t := &program.Transform{Decl: decl}
		l.linkUnit(nil, &t.Needs, decl.Unit, surroundings{args: program.ArgsOf(decl)})
		l.scope.Program.Transforms = append(l.scope.Program.Transforms, t)
	}
}

// linkMatched adds the dependencies of a transform of the stack to every node that it can match. If only a run can
// decide the match, the transform's own dependencies are excepted. What certainly matches is linked first, for all
// transforms, since the second round asks what the nodes that a transform needs depend on, and these may be matched by
// others. Where only a run can tell, as for the names of instances, the edge is a precaution, and a precaution must not
// make a cycle.
func (l *linker) linkMatched() {
	chances := make([][]program.Likelihood, len(l.scope.Program.Transforms))
	for i, t := range l.scope.Program.Transforms {
		chances[i] = make([]program.Likelihood, len(l.scope.all))
		for j, n := range l.scope.all {
			chances[i][j] = chance(t.Decl, n)
			if chances[i][j] != program.Never && n.Kind == program.ResourceNode && !t.Decl.Arguments {
				n.Transforms = append(n.Transforms, t.Decl)
			}
			if chances[i][j] == program.Always {
				needTransform(n, t)
			}
		}
	}
	for i, t := range l.scope.Program.Transforms {
		var needed map[*program.Node]bool
		for j, n := range l.scope.all {
			if chances[i][j] != program.Maybe || len(t.Needs) == 0 {
				continue
			}
			if needed == nil {
				needed = make(map[*program.Node]bool)
				for _, edge := range t.Needs {
					program.Reach(edge.To, needed, false)
				}
			}
			if !needed[n] {
				needTransform(n, t)
			}
		}
	}
}

// linkGuarded adds the dependencies of a policy to every node that it matches: a policy may read other nodes than the
// one that it guards, and these have to be evaluated first, whatever the answer. A node that depends on one that it
// guards makes a cycle, which is reported as one of the program.
func (l *linker) linkGuarded() {
	if l.scope.file.Pack {
		return
	}
	for _, p := range l.scope.Program.Policies {
		if p.Decl.OfStack() || len(p.Needs) == 0 {
			continue
		}
		t := &program.Transform{Decl: p.Matched.Transform, Needs: p.Needs}
		for _, n := range l.scope.all {
			if chance(t.Decl, n) != program.Never {
				needTransform(n, t)
			}
		}
	}
}

// needTransform makes a node depend on what a transform needs. The range is the key of the transform, since no name in
// the node causes the edge.
func needTransform(n *program.Node, t *program.Transform) {
	for _, edge := range t.Needs {
		n.Needs = append(n.Needs, program.Edge{To: edge.To, Range: t.Decl.Key, Transform: t.Decl})
	}
}

// chance reports whether a transform changes a registration or call of a node of the program, also inside of
// components. A component in another process may register anything, so that it may always match.
func chance(t *ast.Transform, n *program.Node) program.Likelihood {
	best := program.Never
	program.EachRegistered(n, false, func(n *program.Node, inside bool) {
		switch {
		case t.Arguments:
			for _, token := range packages.Calls(n.Unit()) {
				if program.MatchesFunction(t, token.Value) {
					best = program.Always
				}
			}
		case n.Kind != program.ResourceNode || n.Resource.Token == "" || n.Resource.Decl.Get != nil:
		case n.IsRemote():
			best = max(best, program.Maybe)
			fallthrough
		default:
			best = max(best, program.ChanceOf(t, n, inside))
		}
	})
	return best
}

// Below returns a function that gives a node and its descendants by the option parent. Its first call lists the
// children of all nodes.
func (s *Scope) Below() func(n *program.Node) []*program.Node {
	var children map[*program.Node][]*program.Node
	return func(n *program.Node) []*program.Node {
		if children == nil {
			children = make(map[*program.Node][]*program.Node)
			for _, other := range s.all {
				if other.Kind != program.ResourceNode {
					continue
				}
				if parent := parentOf(s.Program, other); parent != nil {
					children[parent] = append(children[parent], other)
				}
			}
		}
		// The list is its own queue: children of children are appended while it is read.
		all := []*program.Node{n}
		for i := 0; i < len(all); i++ {
			for _, child := range children[all[i]] {
				if child != n { // a cycle, which has an error of its own; it leads back to n, as each has one parent
					all = append(all, child)
				}
			}
		}
		return all
	}
}

// parentOf returns the node that the option parent names; nil without one. A computed parent is not followed: its node
// is known in a run only.
func parentOf(p *program.Program, n *program.Node) *program.Node {
	if parent := n.Resource.Decl.Options.Parent; parent != nil {
		if access, ok := parent.Value.(*ast.Access); ok {
			return p.Ref(access).Node
		}
	}
	return nil
}
