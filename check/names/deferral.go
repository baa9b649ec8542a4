package names

import (
	"slices"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// Components may use each other's outputs, as long as no output depends on itself (L10.C21): then the nodes form a
// cycle, but the parts of the components do not. The instances are registered first, and their inputs follow once they
// are known.

// deferLoops removes edges of the body's cycles that are no cycles between parts of components. It reports whether it
// removed any. A loop with a cycle of parts is left as it is, whole, so that it is reported like any other cycle.
func deferLoops(p *program.Program, all []*program.Node, facts program.Facts) bool {
	found := false
	// Strongly connected components share no node, so that cutting one changes none of the others.
	for _, loop := range loopsOf(all, nil) {
		k := newLoop(p, loop)
		if k != nil && !k.cyclic() {
			k.cut(facts)
			p.Deferring, found = true, true
		}
	}
	return found
}

// nodeUse is one output of a component, or a whole node, that an expression uses.
type nodeUse struct {
	of     *program.Node
	output string // empty for the node as a whole
}

// loop is a set of nodes that depend on each other. The parts of nodes are computed from the expressions again, instead
// of being recorded while they are linked, since most programs have no loops. It lives for one call of deferLoops; what
// remains of it is Node.Deferral and the marks on edges and references.
type loop struct {
	program *program.Program
	nodes   []*program.Node
	members map[*program.Node]bool
	// inputs holds, for each component, the uses of each of its properties; other holds all other uses of a node.
	inputs map[*program.Node]map[string][]nodeUse
	other  map[*program.Node][]nodeUse
	behind map[*program.Component]map[string][]string // the inputs on which each output depends
}

// newLoop collects what the nodes use of each other; nil if none of them is a component.
func newLoop(p *program.Program, nodes []*program.Node) *loop {
	k := &loop{program: p, nodes: nodes, members: make(map[*program.Node]bool, len(nodes)),
		inputs: map[*program.Node]map[string][]nodeUse{}, other: map[*program.Node][]nodeUse{},
		behind: map[*program.Component]map[string][]string{}}
	for _, n := range nodes {
		k.members[n] = true
		if opens(n) {
			// The entry, if only an empty one, tells later that the parts of the node are known.
			k.inputs[n] = map[string][]nodeUse{}
		}
	}
	if len(k.inputs) == 0 {
		return nil
	}
	for _, n := range nodes {
		k.collectUses(n)
	}
	return k
}

// opens reports whether a node is an instance of a component whose body is known. A component whose properties are one
// expression, or whose version has to be checked first, is used as a whole: which input an output waits for cannot be
// told.
func opens(n *program.Node) bool {
	return n.Kind == program.ResourceNode && n.Resource.Component != nil && n.Resource.Decl.PropertiesExpr == nil &&
		n.Resource.Component.Decl.RequiredVersion == nil
}

// collectUses collects the nodes that n uses. An implicit use, such as that of a default provider, is a use of the
// whole node.
func (k *loop) collectUses(n *program.Node) {
	written := map[int32]bool{} // positions of names in expressions
	gather := func(e ast.Expr) (found []nodeUse) {
		k.eachUse(e, func(a *ast.Access, outputs []string) {
			// Positions are compared, since an edge has the range of its name and no expression.
			written[a.Root.Range.Start] = true
			n := k.program.Ref(a).Node
			if outputs == nil {
				found = append(found, nodeUse{of: n})
			}
			for _, name := range outputs {
				found = append(found, nodeUse{of: n, output: name})
			}
		})
		return found
	}
	waiting, property := k.inputs[n], map[ast.Expr]string{}
	if waiting != nil {
		for _, p := range n.Resource.Decl.Properties {
			property[p.Value] = p.Name.Value
		}
	}
	for _, e := range exprsOf(n) {
		if name, ok := property[e]; ok {
			waiting[name] = append(waiting[name], gather(e)...)
		} else {
			k.other[n] = append(k.other[n], gather(e)...)
		}
	}
	for _, edge := range n.Needs {
		if !written[edge.Range.Start] || edge.Transform != nil || edge.DefaultFor != nil {
			k.other[n] = append(k.other[n], nodeUse{of: edge.To})
		}
	}
}

// eachUse calls fn for every name in an expression that stands for a node. outputs are the outputs used, if the node
// is a component and the expression uses nothing else of it; else nil.
func (k *loop) eachUse(e ast.Expr, fn func(a *ast.Access, outputs []string)) {
	ast.Walk(e, func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Access:
			if ref := k.program.Ref(e); ref.Kind == program.RefNode && ref.Node != nil {
				fn(e, outputsOf(ref.Node, e.Steps))
			}
		case *ast.Member: // many[key].output
			index, ok := e.Object.(*ast.Index)
			if !ok {
				break
			}
			if a := k.instancesIn(index.Collection); a != nil {
				fn(a, []string{e.Name.Value})
				k.eachUse(index.Key, fn)
				return false
			}
		case *ast.For:
			a := k.instancesIn(e.Collection)
			if a == nil {
				break
			}
			outputs, single := membersOf(e.ValueName, e.Key, e.Value, e.Condition)
			if !single {
				break
			}
			fn(a, outputs)
			for _, inside := range []ast.Expr{e.Key, e.Value, e.Condition} {
				k.eachUse(inside, fn)
			}
			return false
		case *ast.Splat:
			if a := k.instancesIn(e.Source); a != nil {
				if outputs, single := membersOf(e.Item, e.Each); single {
					fn(a, outputs)
					k.eachUse(e.Each, fn)
					return false
				}
			}
		}
		return true
	})
}

// outputsOf returns the output to which the steps into a component lead; nil for more than one.
func outputsOf(n *program.Node, steps []ast.Step) []string {
	if !opens(n) {
		return nil
	}
	i := 0
	// The first step then chooses the instance, and the output is the second.
	if n.Resource.Decl.ForEach != nil {
		i = 1
		if len(steps) == 0 || !steps[0].IsIndex && !steps[0].Quoted {
			return nil // with a boolean forEach it may be the output of the only instance
		}
	}
	if len(steps) <= i || steps[i].IsIndex {
		return nil
	}
	return []string{steps[i].Name}
}

// instancesIn returns the access to the instances of a component; nil for any other expression.
func (k *loop) instancesIn(e ast.Expr) *ast.Access {
	a, ok := e.(*ast.Access)
	if !ok || len(a.Steps) > 0 {
		return nil
	}
	ref := k.program.Ref(a)
	if ref.Kind != program.RefNode || ref.Node == nil || !opens(ref.Node) || ref.Node.Resource.Decl.ForEach == nil {
		return nil
	}
	return a
}

// membersOf returns the members of a local name that expressions use. single is false if they use the name in any other
// way.
func membersOf(local *ast.Local, exprs ...ast.Expr) (names []string, single bool) {
	single, names = true, []string{}
	for _, e := range exprs {
		ast.Walk(e, func(e ast.Expr) bool {
			switch e := e.(type) {
			case *ast.Member:
				if ref, ok := e.Object.(*ast.LocalRef); ok && ref.Local == local {
					names = append(names, e.Name.Value)
					return false
				}
			case *ast.LocalRef:
				single = single && e.Local != local
			}
			return true
		})
	}
	return names, single
}

// part is a part of a node: its registration, an input, an output, or all of it.
type part struct {
	of   *program.Node
	kind partKind
	name string // of an input or an output
}

type partKind uint8

const (
	wholePart partKind = iota
	registrationPart
	inputPart
	outputPart
)

// next returns the parts that p depends on. An output needs the registration, because the body runs only then, and the
// inputs behind it; it does not need the other inputs.
func (k *loop) next(p part) []part {
	var needs []part
	add := func(uses []nodeUse) {
		for _, u := range uses {
			switch {
			case !k.members[u.of]:
			// Of a node that is no component there is only the whole.
			case u.output == "" || k.inputs[u.of] == nil:
				needs = append(needs, part{of: u.of})
			// The URN is known as soon as the instance is registered, before any part of its body.
			case u.output == "urn":
				needs = append(needs, part{of: u.of, kind: registrationPart})
			default:
				needs = append(needs, part{of: u.of, kind: outputPart, name: u.output})
			}
		}
	}
	waiting := k.inputs[p.of]
	switch {
	case p.kind == inputPart:
		add(waiting[p.name])
	case p.kind == outputPart:
		needs = append(needs, part{of: p.of, kind: registrationPart})
		for _, name := range k.behindOutput(p.of.Resource.Component, p.name) {
			needs = append(needs, part{of: p.of, kind: inputPart, name: name})
		}
	default:
		add(k.other[p.of])
		if p.kind == wholePart {
			for name := range waiting {
				needs = append(needs, part{of: p.of, kind: inputPart, name: name})
			}
		}
	}
	return needs
}

// behindOutput returns the inputs of a component on which an output depends. A component inside of it counts as a
// whole. The body is linked by now, but perhaps not checked: only edges are read.
func (k *loop) behindOutput(component *program.Component, output string) []string {
	if known := k.behind[component]; known != nil {
		return known[output]
	}
	behind := map[string][]string{}
	for _, o := range component.Body.Outputs {
		seen := map[*program.Node]bool{}
		for _, edge := range o.Needs {
			program.Reach(edge.To, seen, false)
		}
		for n := range seen {
			if n.Kind == program.ConfigNode {
				behind[o.Decl.Name.Value] = append(behind[o.Decl.Name.Value], n.Name)
			}
		}
	}
	k.behind[component] = behind
	return behind[output]
}

// cyclic reports whether some part of the loop depends on itself.
func (k *loop) cyclic() bool {
	const (
		open = iota + 1
		done
	)
	state := map[part]uint8{}
	var visit func(p part) bool
	visit = func(p part) bool {
		if state[p] != 0 {
			return state[p] == open
		}
		state[p] = open
		if slices.ContainsFunc(k.next(p), visit) {
			return true
		}
		state[p] = done
		return false
	}
	return slices.ContainsFunc(k.nodes, func(n *program.Node) bool { return visit(part{of: n}) })
}

// cut marks the nodes that wait for single outputs only. Their edges no longer order the nodes. A name that is used as
// a whole elsewhere in the node keeps its edge there: each use is an edge of its own.
func (k *loop) cut(facts program.Facts) {
	for _, n := range k.nodes {
		if uses := k.inputs[n]; uses != nil {
			n.Deferral = k.deferral(n, uses)
		}
		deferred := map[int32]bool{} // positions of the names
		for _, e := range exprsOf(n) {
			if n.Kind == program.ConfigNode {
				break // a default uses the whole node
			}
			k.eachUse(e, func(a *ast.Access, outputs []string) {
				unit, i := a.Unit()
				if ref := &facts[unit].Refs[i]; outputs != nil && k.inputs[ref.Node] != nil {
					ref.Deferred, deferred[a.Root.Range.Start] = true, true
				}
			})
		}
		for i := range n.Needs {
			edge := &n.Needs[i]
			edge.Deferred = deferred[edge.Range.Start] && edge.Transform == nil && edge.DefaultFor == nil
		}
	}
}

// deferral returns how a component waits. Inputs are those that come after the registration, because something in the
// loop gives them; Register are the nodes that the registration waits for. A node outside of the loop is complete by
// then, and so its uses are no inputs that come later.
func (k *loop) deferral(n *program.Node, waiting map[string][]nodeUse) *program.Deferral {
	d := &program.Deferral{Inputs: map[string]bool{}}
	for name, uses := range waiting {
		for _, u := range uses {
			if k.members[u.of] {
				d.Inputs[name] = true
			} else if !slices.Contains(d.Register, u.of) {
				d.Register = append(d.Register, u.of)
			}
		}
	}
	for _, u := range k.other[n] {
		if (u.output == "" || k.inputs[u.of] == nil) && !slices.Contains(d.Register, u.of) {
			d.Register = append(d.Register, u.of)
		}
	}
	return d
}

// exprsOf returns the expressions of a node.
func exprsOf(n *program.Node) (all []ast.Expr) {
	switch {
	case n.Variable != nil:
		return []ast.Expr{n.Variable.Value}
	case n.Resource != nil:
		n.Resource.Decl.Exprs(func(e ast.Expr) { all = append(all, e) })
	case n.Config.Decl != nil:
		return []ast.Expr{n.Config.Decl.Default}
	}
	return all
}
