package check

import (
	"cmp"
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// A finding about the use of a faulty declaration usually follows from that fault. The checker leaves it out; if it
// remains once the declaration is correct, the next check reports it.

// followUps are the codes of findings that may follow from a faulty declaration: those about its type. Undeclared names
// are none of them, since a faulty declaration still has its name.
var followUps = []diag.Code{diag.NoMember, diag.NotIndexable, diag.IndexOutOfRange, diag.NotAssignable,
	diag.NotPrintable, diag.UnknownProperty, diag.RequiredMissing}

// usage is a place that uses a declaration: the declaration of a node, or the component or dynamic type of a
// resource.
type usage struct {
	at   diag.Range // in the whole text
	node *Node
	kind diag.Range // the declaration of the resource's component or dynamic type
}

// cause determines which declarations of a file are faulty. All places in it are those in the whole text: a declaration
// that an edit left alone is in a block with positions of its own.
type cause struct {
	run    *run
	file   *ast.File
	starts []diag.Range // of the entries of the program, in order
	faults []diag.Range // in order
	known  map[diag.Range]bool
	nodes  map[*Node]bool
}

// withoutFollowUps leaves out findings about uses of declarations with a fault found by the parser, and of declarations
// that depend on them.
func (r *run) withoutFollowUps(file *ast.File, found diag.Diagnostics) diag.Diagnostics {
	// The usual case: without such findings nothing has to be sorted.
	if !slices.ContainsFunc(found, mayFollow) {
		return found
	}
	f := &cause{run: r, file: file, known: make(map[diag.Range]bool), nodes: make(map[*Node]bool)}
	for _, rng := range file.Faults {
		f.faults = append(f.faults, f.file.Origins.Place(rng))
	}
	for _, d := range found { // forEach is missing
		if d.Code == diag.Undeclared && d.Subject.Text() == "each" {
			f.faults = append(f.faults, f.file.Origins.Place(d.Subject))
		}
	}
	// Without a fault of the parser every finding is one of its own.
	if len(f.faults) == 0 {
		return found
	}
	slices.SortStableFunc(f.faults, comparePlaces)
	var uses []usage
	uses, f.starts = f.usages(r.bodies)
	longest := int32(0)
	for _, u := range uses {
		longest = max(longest, u.at.End-u.at.Start)
	}
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		return mayFollow(d) && slices.ContainsFunc(around(uses, longest, f.file.Origins.Place(d.Subject)), f.causes)
	})
}

// holds reports whether a place lies inside of another.
func holds(outer, inner diag.Range) bool {
	return outer.Source == inner.Source && outer.Start <= inner.Start && inner.End <= outer.End
}

func mayFollow(d diag.Diagnostic) bool {
	return d.Severity == diag.Error && slices.Contains(followUps, d.Code)
}

// causes reports whether the used declaration has a fault.
func (f *cause) causes(u usage) bool {
	return u.node == nil && f.within(u.kind) || u.node != nil && f.faulty(u.node)
}

// faulty reports whether a node has a fault, or gets its type from one that has.
func (f *cause) faulty(n *Node) bool {
	known, asked := f.nodes[n]
	if asked {
		return known
	}
	f.nodes[n] = false // for a node that depends on itself
	if rng := n.Declared(); !rng.IsZero() {
		known = f.within(rng)
	}
	if kind := kindOf(n); !kind.IsZero() {
		known = known || f.within(kind)
	}
	// The type of a resource is that of its schema, whatever its inputs are; only forEach makes it depend on others.
	if n.Resource == nil || n.Resource.Decl.ForEach != nil {
		known = known || slices.ContainsFunc(n.Needs, func(e Edge) bool { return f.faulty(e.To) })
	}
	f.nodes[n] = known
	return known
}

// within reports whether there is a fault between the beginning of an entry and that of the next: the unreadable part
// of an entry follows its readable part.
func (f *cause) within(entry diag.Range) bool {
	s := f.file.Origins.Place(entry)
	known, asked := f.known[s]
	if asked {
		return known
	}
	whole := s
	end := diag.Range{Source: s.Source, Start: s.End, End: s.End}
	if i, _ := slices.BinarySearchFunc(f.starts, end, comparePlaces); i < len(f.starts) &&
		f.starts[i].Source == s.Source {
		// Without a next entry, the end of the range is that of what could be read.
		whole.End = f.starts[i].Start - 1
	}
	start := diag.Range{Source: s.Source, Start: s.Start, End: s.Start}
	i, _ := slices.BinarySearchFunc(f.faults, start, comparePlaces)
	known = i < len(f.faults) && whole.Source == f.faults[i].Source && f.faults[i].Start <= whole.End
	f.known[s] = known
	return known
}

// comparePlaces orders ranges by source, start and end.
func comparePlaces(a, b diag.Range) int {
	if a.Source != b.Source {
		return cmp.Compare(a.Source.Name(), b.Source.Name())
	}
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}

// usages returns the uses of all declarations and their starts, both in the order of the text. A use within its own
// declaration is none: a fault there is the declaration's own.
func (f *cause) usages(bodies []*body) (uses []usage, starts []diag.Range) {
	for unit, r := range f.run.shared.Facts {
		for i, access := range unit.Accesses {
			if r.Refs[i].Kind != RefNode {
				continue
			}
			// A finding may be about the whole expression that continues an access, as in ${a.b}[c].
			whole, found := f.run.extents[access]
			if !found {
				whole = access.Range()
			}
			use, node := f.file.Origins.Place(whole), r.Refs[i].Node
			if rng := node.Declared(); !rng.IsZero() && !holds(f.file.Origins.Place(rng), use) {
				uses = append(uses, usage{at: use, node: node})
			}
		}
	}
	for _, b := range bodies {
		for _, n := range b.scope.All() {
			if rng := n.Declared(); !rng.IsZero() {
				starts = append(starts, f.file.Origins.Place(rng))
			}
			if kind := kindOf(n); !kind.IsZero() {
				uses = append(uses, usage{at: f.file.Origins.Place(n.Resource.Decl.Range), kind: kind})
			}
		}
		for _, o := range b.file.Outputs {
			starts = append(starts, f.file.Origins.Place(o.Range))
		}
	}
	for _, component := range f.file.Components {
		starts = append(starts, f.file.Origins.Place(component.Range))
	}
	for _, d := range f.file.Dynamic {
		starts = append(starts, f.file.Origins.Place(d.Range))
	}
	slices.SortStableFunc(uses, func(a, b usage) int { return comparePlaces(a.at, b.at) })
	slices.SortStableFunc(starts, comparePlaces)
	return uses, starts
}

// around returns the uses that overlap a range. uses is in the order of the text, and none is longer than longest.
// Without the bound it would have to look at all uses before the range, since uses lie within each other.
func around(uses []usage, longest int32, at diag.Range) []usage {
	var found []usage
	behind := diag.Range{Source: at.Source, Start: max(at.End, at.Start+1)}
	end, _ := slices.BinarySearchFunc(uses, behind,
		func(u usage, rng diag.Range) int { return comparePlaces(u.at, rng) })
	for i := end - 1; i >= 0 && uses[i].at.Source == at.Source && uses[i].at.Start+longest > at.Start; i-- {
		if at.Start < uses[i].at.End {
			found = append(found, uses[i])
		}
	}
	return found
}

// kindOf returns the range of the component or dynamic type of a node; zero for a resource of a provider.
func kindOf(n *Node) (kind diag.Range) {
	switch {
	case n.Resource == nil:
	case n.Resource.Component != nil && !n.Resource.Component.Packaged:
		kind = n.Resource.Component.Decl.Range
	case n.Resource.Dynamic != nil && n.Resource.Dynamic.Decl != nil && n.Resource.Dynamic.Package == "":
		kind = n.Resource.Dynamic.Decl.Range
	}
	return kind
}
