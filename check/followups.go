package check

import (
	"cmp"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// A finding about the use of a faulty declaration mostly follows from that fault. The checker leaves it out; if it
// remains after the declaration is mended, the next check reports it.

// followUps are the codes of findings that may follow from a fault in what is used.
var followUps = []diag.Code{diag.NoMember, diag.NotIndexable, diag.IndexOutOfRange, diag.NotAssignable,
	diag.NotPrintable, diag.UnknownProperty, diag.RequiredMissing}

// stretch is a part of a text.
type stretch struct {
	source     *diag.Source
	start, end int32
}

func (s stretch) holds(o stretch) bool {
	return s.source == o.source && s.start <= o.start && o.end <= s.end
}

// usage is a place that uses a declaration: the declaration of a node, or the component or dynamic type of a
// resource.
type usage struct {
	at   stretch
	node *Node
	kind diag.Range // the declaration of what the resource is an instance of
}

// cause finds out which declarations of a file have a fault.
type cause struct {
	*run
	file   *ast.File
	starts []stretch // of the entries of the program, in order
	faults []stretch // in order
	known  map[stretch]bool
	nodes  map[*Node]bool
}

// stretchOf returns the part of the whole text that a place is.
func (f *cause) stretchOf(rng diag.Range) stretch {
	rng = f.file.Origins.Place(rng)
	return stretch{rng.Source, rng.Start, rng.End}
}

// withoutFollowUps leaves out findings about uses of declarations in which the parser has found a fault, and of
// declarations that depend on such a one.
func (r *run) withoutFollowUps(file *ast.File, bodies []*body, found diag.Diagnostics) diag.Diagnostics {
	if !slices.ContainsFunc(found, mayFollow) {
		return found
	}
	f := &cause{run: r, file: file, known: make(map[stretch]bool), nodes: make(map[*Node]bool)}
	for _, rng := range file.Faults {
		f.faults = append(f.faults, f.stretchOf(rng))
	}
	for _, d := range found { // forEach is missing
		if eachUndeclared(d) {
			f.faults = append(f.faults, f.stretchOf(d.Subject))
		}
	}
	if len(f.faults) == 0 {
		return found
	}
	slices.SortStableFunc(f.faults, compareStretches)
	var uses []usage
	uses, f.starts = f.usages(bodies)
	longest := int32(0)
	for _, u := range uses {
		longest = max(longest, u.at.end-u.at.start)
	}
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		return mayFollow(d) && slices.ContainsFunc(around(uses, longest, f.stretchOf(d.Subject)), f.causes)
	})
}

func mayFollow(d diag.Diagnostic) bool {
	return d.Severity == diag.Error && slices.Contains(followUps, d.Code)
}

// causes reports whether what is used has a fault.
func (f *cause) causes(u usage) bool {
	if u.node == nil {
		return f.within(u.kind)
	}
	return f.faulty(u.node)
}

// faulty reports whether a node has a fault, or its type comes of one that has.
func (f *cause) faulty(n *Node) bool {
	known, asked := f.nodes[n]
	if asked {
		return known
	}
	f.nodes[n] = false // for one that needs itself
	if rng, ok := declaration(n); ok {
		known = f.within(rng)
	}
	if kind, ok := kindOf(n); ok {
		known = known || f.within(kind)
	}
	if n.Resource == nil || n.Resource.Decl.ForEach != nil {
		known = known || slices.ContainsFunc(n.Needs, func(e Edge) bool { return f.faulty(e.To) })
	}
	f.nodes[n] = known
	return known
}

// within reports whether there is a fault in an entry, up to the beginning of the next: what could not be read of an
// entry stands behind the rest.
func (f *cause) within(entry diag.Range) bool {
	s := f.stretchOf(entry)
	known, asked := f.known[s]
	if asked {
		return known
	}
	whole := s
	if i, _ := slices.BinarySearchFunc(f.starts, stretch{s.source, s.end, s.end},
		compareStretches); i < len(f.starts) && f.starts[i].source == s.source {
		whole.end = f.starts[i].start - 1
	}
	i, _ := slices.BinarySearchFunc(f.faults, stretch{s.source, s.start, s.start}, compareStretches)
	known = i < len(f.faults) && whole.source == f.faults[i].source && f.faults[i].start <= whole.end
	f.known[s] = known
	return known
}

// compareStretches orders by source, by where stretches begin, and by where they end.
func compareStretches(a, b stretch) int {
	if a.source != b.source {
		return cmp.Compare(a.source.Name(), b.source.Name())
	}
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
}

// usages are the uses of all declarations and the beginnings of those, both in the order of the text.
func (f *cause) usages(bodies []*body) (uses []usage, starts []stretch) {
	for unit, r := range f.records.each() {
		for i, access := range unit.Accesses {
			if r.refs[i].Kind != RefNode {
				continue
			}
			whole, found := f.extents[access]
			if !found {
				whole = access.Range()
			}
			use, node := f.stretchOf(whole), r.refs[i].Node
			if rng, ok := declaration(node); ok && !f.stretchOf(rng).holds(use) {
				uses = append(uses, usage{at: use, node: node})
			}
		}
	}
	for _, b := range bodies {
		for _, n := range b.all {
			if rng, ok := declaration(n); ok {
				starts = append(starts, f.stretchOf(rng))
			}
			if kind, ok := kindOf(n); ok {
				uses = append(uses, usage{at: f.stretchOf(n.Resource.Decl.Range), kind: kind})
			}
		}
		for _, o := range b.file.Outputs {
			starts = append(starts, f.stretchOf(o.Range))
		}
	}
	for _, component := range f.file.Components {
		starts = append(starts, f.stretchOf(component.Range))
	}
	for _, d := range f.file.Dynamic {
		starts = append(starts, f.stretchOf(d.Range))
	}
	slices.SortStableFunc(uses, func(a, b usage) int { return compareStretches(a.at, b.at) })
	slices.SortStableFunc(starts, compareStretches)
	return uses, starts
}

// lead is the place of an expression that leads on from an access.
type lead struct {
	from *ast.Access
	to   diag.Range
}

// leadsOn notes that an expression goes into what another, which may begin with an access, is.
func (c *typer) leadsOn(from, to ast.Expr) {
	for {
		switch e := from.(type) {
		case *ast.Access:
			c.leads = append(c.leads, lead{from: e, to: to.Range()})
			return
		case *ast.Index:
			from = e.Collection
		case *ast.Splat:
			from = e.Source
		default:
			return
		}
	}
}

// around returns the uses that overlap a place. uses are in the order of the text, and none is longer than longest.
func around(uses []usage, longest int32, st stretch) []usage {
	var found []usage
	end, _ := slices.BinarySearchFunc(uses, stretch{st.source, max(st.end, st.start+1), 0},
		func(u usage, s stretch) int { return compareStretches(u.at, s) })
	for i := end - 1; i >= 0 && uses[i].at.source == st.source && uses[i].at.start+longest > st.start; i-- {
		if st.start < uses[i].at.end {
			found = append(found, uses[i])
		}
	}
	return found
}

// kindOf is where the program declares what a node is an instance of; ok is false for one of a provider.
func kindOf(n *Node) (rng diag.Range, ok bool) {
	switch {
	case n.Resource == nil:
	case n.Resource.Component != nil && !n.Resource.Component.Packaged:
		return n.Resource.Component.Decl.Range, true
	case n.Resource.Dynamic != nil && n.Resource.Dynamic.Decl != nil && n.Resource.Dynamic.Package == "":
		return n.Resource.Dynamic.Decl.Range, true
	}
	return diag.Range{}, false
}

// declaration is the whole entry that declares a node; ok is false for one that the text does not declare.
func declaration(n *Node) (rng diag.Range, ok bool) {
	switch {
	case n.Resource != nil:
		return n.Resource.Decl.Range, true
	case n.Variable != nil:
		return n.Variable.Range, true
	case n.Config != nil && n.Config.Decl != nil:
		return n.Config.Decl.Range, true
	}
	return diag.Range{}, false
}
