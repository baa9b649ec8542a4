package check

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// remarks are the findings of a check by their subject, so that a check after an edit knows which of them remain.
type remarks struct {
	loose      diag.Diagnostics // about several declarations, or the program as a whole
	types      []typeRemark     // in the order index of the nodes
	undeclared diag.Diagnostics // undeclared names
	outcomes   []remark         // of declarations that were checked, in that order

	missing  []*ast.Unit // declarations that use undeclared names
	volatile []*ast.Unit // declarations whose checks depend on more than their dependencies
}

// remark holds the findings of the check of a declaration.
type remark struct {
	unit  *ast.Unit
	found diag.Diagnostics
}

// typeRemark is a finding of the lookup of a resource's type.
type typeRemark struct {
	place int // index of the node
	found diag.Diagnostics
}

// about records the findings about the type of a node.
func (r *remarks) about(n *Node, found diag.Diagnostics) {
	if len(found) > 0 {
		r.types = append(r.types, typeRemark{n.place, found})
	}
}

// keep records the findings about the declaration of a unit.
func (r *remarks) keep(unit *ast.Unit, v *outcome) {
	if len(v.found) > 0 {
		r.outcomes = append(r.outcomes, remark{unit, v.found})
	}
	if v.volatile {
		r.volatile = append(r.volatile, unit)
	}
}

// misses records that a declaration uses an undeclared name.
func (r *remarks) misses(unit *ast.Unit) {
	if n := len(r.missing); n == 0 || r.missing[n-1] != unit {
		r.missing = append(r.missing, unit)
	}
}

// all returns all findings.
func (r *remarks) all() diag.Diagnostics {
	found := slices.Clone(r.loose)
	for _, t := range r.types {
		found.Add(t.found...)
	}
	found.Add(r.undeclared...)
	for _, o := range r.outcomes {
		found.Add(o.found...)
	}
	return found
}

// without returns the remarks except those about some declarations and nodes, which are checked again.
func (r *remarks) without(units map[*ast.Unit]*record, places []int) remarks {
	gone := func(unit *ast.Unit) bool {
		_, gone := units[unit]
		return gone
	}
	kept := remarks{loose: r.loose}
	kept.types = slices.DeleteFunc(slices.Clone(r.types), func(t typeRemark) bool {
		return slices.Contains(places, t.place)
	})
	kept.outcomes = slices.DeleteFunc(slices.Clone(r.outcomes), func(o remark) bool { return gone(o.unit) })
	kept.volatile = slices.DeleteFunc(slices.Clone(r.volatile), gone)
	if !slices.ContainsFunc(r.missing, gone) {
		kept.missing, kept.undeclared = r.missing, r.undeclared
	}
	return kept
}

// with appends other remarks.
func (r *remarks) with(others remarks) remarks {
	return remarks{
		loose:      slices.Concat(r.loose, others.loose),
		types:      slices.Concat(r.types, others.types),
		undeclared: slices.Concat(r.undeclared, others.undeclared),
		outcomes:   slices.Concat(r.outcomes, others.outcomes),
		missing:    slices.Concat(r.missing, others.missing),
		volatile:   slices.Concat(r.volatile, others.volatile),
	}
}

// mentions reports whether a finding refers to a source.
func mentions(d diag.Diagnostic, src *diag.Source) bool {
	edits := func(f diag.Fix) bool {
		return slices.ContainsFunc(f.Edits, func(e diag.Edit) bool { return e.Range.Source == src })
	}
	return d.Subject.Source == src || slices.ContainsFunc(d.Fixes, edits) ||
		slices.ContainsFunc(d.Related, func(r diag.Related) bool { return r.Range.Source == src })
}
