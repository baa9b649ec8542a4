package check

import (
	"maps"
	"reflect"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// Most edits change one declaration, and nothing of it that others can see. Then only this declaration is checked
// again. All other nodes are shared with the former program, so that their edges and references may lead to the
// replaced node: code that follows them asks the program for the node at that index. All other edits need a whole
// check.

// patch builds a program from the former one. It is used once, by one goroutine.
type patch struct {
	*body
	before  *Program
	memory  *memory
	was     *remembered
	changes []change              // in the order of evaluation, outputs behind nodes
	gone    map[*ast.Unit]*record // of the changed declarations; nil for their former units
	places  []int                 // of the nodes among the changes
}

// change is one declaration to check again: a node or an output.
type change struct {
	was, now      *ast.Unit
	source        *diag.Source // of the former declaration
	order         int          // position in the order of evaluation
	wasNode, node *Node
	output        *Output
	at            int // of the output
}

// newPatch determines the changes since the former check; nil if a whole check is needed.
func newPatch(r *run, file *ast.File, opts Options) *patch {
	m := r.memory
	if m == nil || len(m.bodies) != 1 || m.bodies[""] == nil {
		return nil
	}
	before, was := opts.Previous, m.bodies[""]
	if before.Deferring || was.defaults || m.entangled || !sound(before.File) || !sound(file) ||
		len(opts.Local) > 0 || len(before.Components)+len(before.Dynamic) > 0 ||
		!slices.Equal(m.stackKeys, opts.StackKeys) || !reflect.DeepEqual(m.described, opts.Packages) {
		return nil
	}
	p := &patch{before: before, memory: m, was: was, gone: make(map[*ast.Unit]*record)}
	if !p.samePackages(r) || !p.findChanges(before.File, file) || !p.findVolatile() {
		return nil
	}
	for _, unit := range m.remarks.missing {
		if _, changes := p.gone[unit]; !changes {
			return nil // findings on undeclared names depend on the whole text
		}
	}
	opts.Previous = nil
	r.packages = &packages{loaded: m.packages, order: m.order, missing: make(map[*loadedPackage][]diag.Range)}
	p.body = r.body(file, opts)
	p.nodes, p.choices = was.nodes, maps.Clone(was.choices)
	p.byKey, p.all, p.uses = maps.Clone(was.byKey), slices.Clone(was.all), slices.Clone(was.uses)
	p.remembered = was
	return p
}

// sound reports whether a program declares only configuration, variables, resources and outputs, without parse errors.
func sound(f *ast.File) bool {
	return len(f.Components)+len(f.Hooks)+len(f.Dynamic)+len(f.Transforms)+len(f.Messages)+
		len(f.Policies) == 0 && !f.Pack &&
		len(f.Lost)+len(f.Slips)+f.Nameless == 0
}

// samePackages reports whether the packages are the same as in the former check.
func (p *patch) samePackages(r *run) bool {
	for _, known := range p.memory.packages {
		if r.schemas == nil {
			continue
		}
		if pkg, err := r.schemas.Load(r.ctx, known.descriptor); err != nil || known.err != nil || pkg != known.pkg {
			return false
		}
	}
	return true
}

// findChanges finds the one changed declaration; false if there are more, or if something else differs.
func (p *patch) findChanges(was, now *ast.File) bool {
	if was.Name != now.Name || was.Description != now.Description || was.Version != now.Version ||
		was.Namespace != now.Namespace || was.RequiredVersion != now.RequiredVersion || was.Unit != now.Unit ||
		!slices.Equal(was.Config, now.Config) {
		return false
	}
	variable, oneVariable := changedAt(was.Variables, now.Variables)
	resource, oneResource := changedAt(was.Resources, now.Resources)
	output, oneOutput := changedAt(was.Outputs, now.Outputs)
	if !oneVariable || !oneResource || !oneOutput {
		return false
	}
	switch {
	case resource >= 0 && variable < 0 && output < 0:
		return p.changeResource(len(was.Config)+resource, now.Resources[resource])
	case variable >= 0 && resource < 0 && output < 0:
		return p.changeVariable(len(was.Config)+len(was.Resources)+variable, now.Variables[variable])
	case output >= 0 && resource < 0 && variable < 0:
		return p.changeOutput(output, now.Outputs[output])
	}
	return resource < 0 && variable < 0 && output < 0
}

// changedAt returns the only index at which two lists differ, -1 for none; ok is false if there are several.
func changedAt[T comparable](a, b []T) (pos int, ok bool) {
	if len(a) != len(b) {
		return -1, false
	}
	pos = -1
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if pos >= 0 {
			return -1, false
		}
		pos = i
	}
	return pos, true
}

// nodeAt returns the node at an index if its name refers to it.
func (p *patch) nodeAt(place int, name string) *Node {
	if place >= p.was.named {
		return nil
	}
	n := p.was.all[place]
	if n.Name != name || p.was.lookup(name) != n {
		return nil
	}
	return n
}

// renewed returns a new node at the index of another.
func renewed(was *Node) *Node {
	return &Node{Index: was.Index, Kind: was.Kind, Name: was.Name, Type: schema.Invalid, place: was.place}
}

// changeResource replaces the resource at an index. Its name, the packages of its type and the parts of its URN must be
// the same.
func (p *patch) changeResource(place int, decl *ast.Resource) bool {
	was := p.nodeAt(place, decl.Name.Value)
	if was == nil || was.Resource == nil || was.Resource.Component != nil || decl.Unit == nil {
		return false
	}
	if old := was.Resource.Decl; old != decl && !looksTheSame(old, decl) {
		return false
	}
	n := renewed(was)
	n.Range, n.Resource = decl.Name.Range, &Resource{Decl: decl, LogicalName: logicalName(decl)}
	return p.replaceNode(was, n)
}

// looksTheSame reports whether two declarations of a resource look the same to other declarations, except for their
// types.
func looksTheSame(a, b *ast.Resource) bool {
	if a.Type == nil || b.Type == nil || a.DefaultProvider != nil || b.DefaultProvider != nil ||
		len(a.Options.Transforms)+len(b.Options.Transforms) > 0 || a.Options.Hooks != nil || b.Options.Hooks != nil {
		return false
	}
	return a.Type.Value == b.Type.Value && logicalName(a) == logicalName(b) && sameUse(resourceUse(a), resourceUse(b)) &&
		(a.ForEach == nil) == (b.ForEach == nil) && (a.If == nil) == (b.If == nil) && (a.Get == nil) == (b.Get == nil) &&
		sameOption(a.Options.Parent, b.Options.Parent) && sameCalls(a.Unit, b.Unit)
}

// sameUse reports whether two uses choose the same packages.
func sameUse(a, b use) bool {
	return a.token.Value == b.token.Value && a.versionText == b.versionText && a.urlText == b.urlText &&
		a.explicit == b.explicit
}

// sameOption reports whether two options certainly mean the same.
func sameOption(a, b *ast.Option) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Value.Range().Text() == b.Value.Range().Text()
}

// sameCalls reports whether two units call functions of the same packages.
func sameCalls(a, b *ast.Unit) bool {
	uses := func(unit *ast.Unit) (uses []use) {
		for call, token := range providerCalls(unit) {
			uses = append(uses, useOf(call, token))
		}
		return uses
	}
	return slices.EqualFunc(uses(a), uses(b), sameUse)
}

// changeVariable replaces the variable at an index. Nothing may use it, since users depend on its value.
func (p *patch) changeVariable(place int, decl *ast.Variable) bool {
	was := p.nodeAt(place, decl.Name.Value)
	if was == nil || was.Variable == nil || decl.Unit == nil {
		return false
	}
	if was.Variable != decl && (p.was.uses[place] > 0 || !sameCalls(was.Variable.Unit, decl.Unit)) {
		return false
	}
	n := renewed(was)
	n.Range, n.Variable = decl.Name.Range, decl
	return p.replaceNode(was, n)
}

func (p *patch) changeOutput(i int, decl *ast.Output) bool {
	was := p.before.Outputs[i]
	if decl.Unit == nil || was.Decl.Name.Value != decl.Name.Value || !sameCalls(was.Decl.Unit, decl.Unit) {
		return false
	}
	return p.add(change{was: was.Decl.Unit, now: decl.Unit, source: was.Decl.Name.Range.Source, order: 1<<30 + i,
		output: &Output{Decl: decl, Type: schema.Invalid}, at: i})
}

func (p *patch) replaceNode(was, n *Node) bool {
	return p.add(change{was: was.unit(), now: n.unit(), source: was.Range.Source, order: was.Index, wasNode: was, node: n})
}

// add adds a change; false if findings elsewhere depend on the former declaration.
func (p *patch) add(c change) bool {
	known := p.before.records.of(c.was)
	if known == nil || known.outcome == nil || len(known.outcome.jsonArguments) > 0 {
		return false
	}
	for _, ref := range known.refs {
		if ref.Node != nil && ref.Node.place >= p.was.named {
			return false // undeclared configuration is declared by its use
		}
	}
	if slices.ContainsFunc(p.memory.remarks.loose, func(d diag.Diagnostic) bool { return mentions(d, c.source) }) {
		return false
	}
	fresh := &record{refs: make([]Ref, len(c.now.Accesses))}
	if c.node != nil {
		c.node.record = fresh
		p.places = append(p.places, c.node.place)
	}
	p.gone[c.was] = nil
	p.gone[c.now] = fresh
	p.changes = append(p.changes, c)
	return true
}

// findVolatile adds the declarations whose checks depend on more than their dependencies.
func (p *patch) findVolatile() bool {
	volatile := make(map[*ast.Unit]bool, len(p.memory.remarks.volatile))
	for _, unit := range p.memory.remarks.volatile {
		if _, changes := p.gone[unit]; !changes {
			volatile[unit] = true
		}
	}
	if len(volatile) == 0 {
		return true
	}
	for place, n := range p.was.all {
		unit := n.unit()
		if unit == nil || !volatile[unit] {
			continue
		}
		delete(volatile, unit)
		switch {
		case n.Kind == ResourceNode && p.changeResource(place, n.Resource.Decl):
		case n.Kind == VariableNode && p.changeVariable(place, n.Variable):
		default:
			return false
		}
	}
	for i, o := range p.before.Outputs {
		if volatile[o.Decl.Unit] {
			delete(volatile, o.Decl.Unit)
			if !p.changeOutput(i, o.Decl) {
				return false
			}
		}
	}
	slices.SortStableFunc(p.changes, func(a, b change) int { return a.order - b.order })
	return len(volatile) == 0
}

// apply builds the program; ok is false if a whole check is needed.
func (p *patch) apply() (program *Program, found diag.Diagnostics, ok bool) {
	if p.ctx.Err() != nil {
		return nil, nil, false
	}
	p.run.records = p.before.records.replacing(p.gone)
	program = p.program
	name := program.Name
	*program = *p.before
	program.File, program.Name, program.records, program.current = p.file, name, p.run.records, p.all
	program.Nodes, program.Outputs = slices.Clone(p.before.Nodes), slices.Clone(p.before.Outputs)
	for _, c := range p.changes {
		if c.node != nil {
			p.all[c.node.place], program.Nodes[c.node.Index] = c.node, c.node
		} else {
			program.Outputs[c.at] = c.output
		}
	}
	if !p.link() || !p.sameOrder() {
		return nil, nil, false
	}
	for _, c := range p.changes {
		if !p.checkAnew(c) {
			return nil, nil, false
		}
	}
	if len(*p.sink) > 0 || len(p.written) > 0 || len(p.packages.missing) > 0 || p.ctx.Err() != nil {
		return nil, nil, false // other findings refer to it
	}
	remarks := p.memory.remarks.without(p.gone, p.places)
	remarks = remarks.with(p.run.remarks)
	found = remarks.all()
	if slices.ContainsFunc(found, mayFollow) && (len(p.file.Faults) > 0 || slices.ContainsFunc(found, eachUndeclared)) {
		return nil, nil, false
	}
	left := *p.memory
	left.environment, left.remarks = environmentOf(p.file, p.opts), remarks
	left.bodies = map[string]*remembered{"": {nodes: p.nodes, choices: p.choices}}
	program.left = &left
	p.forget([]*body{p.body})
	return program, found, true
}

// link resolves the names in the changed declarations.
func (p *patch) link() bool {
	for _, c := range p.changes {
		for _, ref := range p.before.records.of(c.was).refs {
			if ref.Kind == RefNode {
				p.uses[ref.Node.place]--
			}
		}
		switch n := c.node; {
		case n == nil:
			p.linkUnit(nil, &c.output.Needs, c.now)
		case n.Kind == VariableNode:
			p.linkUnit(n, &n.Needs, c.now)
		case n.Resource.Decl.ForEach != nil && p.lookup(eachName) != nil:
			return false
		default:
			p.remarks.about(n, p.attempt(func() { p.resolveResource(n) }))
			p.linkResource(n)
		}
	}
	p.remarks.undeclared = p.attempt(p.reportUndeclared)
	return len(p.all) == len(p.was.all)
}

// sameOrder reports whether the former order of evaluation is still right, without cycles.
func (p *patch) sameOrder() bool {
	samePlace := func(a, b Edge) bool { return a.To.place == b.To.place }
	if !slices.ContainsFunc(p.changes, func(c change) bool {
		return c.node != nil && !slices.EqualFunc(c.wasNode.Needs, c.node.Needs, samePlace)
	}) {
		return true
	}
	nodes, cyclic := arranged(p.all)
	return !cyclic && slices.Equal(nodes, p.program.Nodes)
}

// checkAnew checks a declaration; false if others can see the change.
func (p *patch) checkAnew(c change) bool {
	if c.node == nil {
		p.checkOutput(c.output)
		return true
	}
	n, was := c.node, c.wasNode
	p.checkNode(n)
	if n.stamp == was.stamp {
		return true
	}
	if n.Kind != VariableNode || n.Variable != was.Variable {
		return n.Kind == VariableNode && p.uses[n.place] == 0
	}
	if was.stamp == nil || !sameType(n.Type, was.Type) {
		return false
	}
	n.stamp, n.record.outcome.stamp = was.stamp, was.stamp // same value
	return true
}

// eachUndeclared reports whether a finding is about `each` without forEach.
func eachUndeclared(d diag.Diagnostic) bool {
	return d.Code == diag.Undeclared && d.Subject.Text() == eachName
}
