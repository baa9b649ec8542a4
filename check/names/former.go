package names

import (
	"slices"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// A body that declares the same names in the same order as in an earlier check is linked by index: a name refers to the
// node at the same index as before.

// Snapshot holds the nodes of a scope for the next check. It is immutable. It does not hold the Scope itself, which
// would keep the snapshots of all checks before it alive. Its nodes are those of an earlier check and are never put
// into a new program. Of the facts, only the references are read here (relink).
type Snapshot struct {
	nodes     []*program.Node // in source order
	facts     []*program.Fact // of the nodes
	named     int             // how many of the nodes are declared
	byName    map[string]*program.Node
	stackKeys []string
}

// Snapshot returns what the next check may use of the scope.
func (s *Scope) Snapshot() *Snapshot {
	return &Snapshot{nodes: s.all, facts: s.nodeFacts, named: s.named, byName: s.declared,
		stackKeys: s.options.StackKeys}
}

// Lookup returns the former node with a name; nil if there was none.
func (s *Snapshot) Lookup(name string) *program.Node { return s.byName[name] }

// recognize determines whether the body declares the same names as before. Equal units mean equal text, and so an equal
// name; a declaration whose text has changed still counts if its name, and the key of configuration, have not.
func (s *Scope) recognize() {
	before := s.was
	if before == nil || len(before.nodes) < len(s.all) || before.named != len(s.all) ||
		!slices.Equal(before.stackKeys, s.options.StackKeys) {
		return
	}
	for i, n := range s.all {
		was := before.nodes[i]
		if was.Kind != n.Kind || was.Unit() != n.Unit() && (was.Name != n.Name ||
			n.Kind == program.ConfigNode && was.Config.Key != n.Config.Key) {
			return
		}
	}
	// Only the declared: nodes of undeclared configuration are made anew, in the order of their first uses.
	s.former = before.nodes[:len(s.all)]
}

// Former returns the node of the earlier check if its declaration is identical; else nil.
func (s *Scope) Former(n *program.Node) *program.Node {
	if n == nil || n.SourceIndex >= len(s.former) {
		return nil
	}
	if was := s.former[n.SourceIndex]; s.was.facts[n.SourceIndex] != nil && was.Unit() == n.Unit() {
		return was
	}
	return nil
}

// relink links a node as before; false if that is not sufficient. References to undeclared configuration are resolved
// anew, since its nodes exist only once a reference has been resolved, and so is everything in a body with default
// providers, which add dependencies of calls. It makes the same references and edges as linkUnit, in the same order,
// without looking up a name. Policies, transforms and hooks have no nodes and are linked anew.
func (l *linker) relink(n *program.Node, unit *ast.Unit) bool {
	was := l.scope.Former(n)
	if was == nil || len(l.scope.defaults) > 0 {
		return false
	}
	before := l.scope.was.facts[was.SourceIndex].Refs
	for _, ref := range before {
		switch ref.Kind {
		case program.RefNode, program.RefEach:
			if ref.Node.SourceIndex >= len(l.scope.former) {
				return false // undeclared
			}
		case program.RefPulumi:
		default:
			return false
		}
	}
	// The references are copied, as they hold nodes, and those of the earlier check must not come into the new program.
	refs := l.scope.nodeFacts[n.SourceIndex].Refs
	for i, ref := range before {
		if ref.Node != nil {
			ref.Node = l.scope.all[ref.Node.SourceIndex]
		}
		refs[i] = ref
		if ref.Kind == program.RefNode {
			l.scope.refCounts[ref.Node.SourceIndex]++
			if n.Needs == nil {
				n.Needs = l.edges.next(len(refs) - i)[:0]
			}
			n.Needs = append(n.Needs, program.Edge{To: ref.Node, Range: unit.Accesses[i].Root.Range})
		}
	}
	return true
}
