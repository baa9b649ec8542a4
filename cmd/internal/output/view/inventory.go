package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/printable"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// InventoryOptions control how WriteInventory shows resources.
type InventoryOptions struct {
	Color     bool
	Width     int  // of the terminal; 0 for no limit
	URNs, IDs bool // on lines of their own
	// Providers shows default providers, too; without it, a line counts them.
	Providers bool
}

// WriteInventory shows the resources of a state as the tree that operations show: children below their parents,
// siblings in the order of the program, with the marks of each.
func WriteInventory(w io.Writer, s *state.Snapshot, o InventoryOptions) {
	var t tree
	list, rows, providers := map[*row]*state.Resource{}, map[urn.URN]*row{}, 0
	for _, r := range s.Resources {
		if r.URN.IsDefaultProvider() && !o.Providers {
			providers++
			continue
		}
		item := &row{urn: r.URN, at: PositionIn(r.SourcePosition)}
		list[item] = r
		t.add(item, rows[r.Parent], r.Parent)
		if !r.Delete { // children belong to the object that stays
			rows[r.URN] = item
		}
	}
	var shown []*state.Resource
	var all []cells
	t.walk(func(item *row, depth int) {
		r := list[item]
		c := cells{name: printable.Text(item.label), typ: printable.Text(item.shortType()), depth: depth}
		c.status, c.color = marksOf(r)
		c.short = c.status
		if c.name == item.label {
			c.from, c.to = item.group.telling(item.label)
		}
		shown, all = append(shown, r), append(all, c)
	})
	columns, p := arrange(all, o.Width), palette{o.Color}
	for i, r := range shown {
		fmt.Fprintln(w, strings.TrimRight(printable.Colored(columns.line(all[i], p)), " "))
		indent := strings.Repeat(" ", columns.lead+signWidth+2*all[i].depth+2)
		if o.URNs {
			fmt.Fprintln(w, p.paint(dim, printable.Text(indent+"URN: "+string(r.URN))))
		}
		if o.IDs && r.ID != "" {
			fmt.Fprintln(w, p.paint(dim, printable.Text(indent+"ID: "+string(r.ID))))
		}
	}
	if providers > 0 {
		fmt.Fprintln(w, p.paint(dim, "     "+diag.Count(providers, "default provider")))
	}
}

// marksOf returns what distinguishes a resource in a state.
func marksOf(r *state.Resource) (string, paint) {
	switch {
	case r.PendingReplacement:
		return "deleted, pending replacement", red
	case r.Delete:
		return "replaced, pending deletion", red
	case len(r.InitErrors) > 0:
		return "not initialized", red
	}
	var marks []string
	for _, mark := range []struct {
		is   bool
		word string
	}{{r.Protect, "protected"}, {r.Taint, "tainted"}, {r.External, "read only"}} {
		if mark.is {
			marks = append(marks, mark.word)
		}
	}
	return strings.Join(marks, ", "), yellow
}

// ProgramOrder returns the positions of resources in the order that views show: the stack, then by their places in the
// program, then default providers.
func ProgramOrder(list []*state.Resource) []int {
	rows := make([]*row, len(list))
	for i, r := range list {
		rows[i] = &row{urn: r.URN, at: PositionIn(r.SourcePosition), seq: i}
	}
	group := func(r *row) int {
		switch {
		case r.isStack():
			return 0
		case r.urn.IsDefaultProvider():
			return 2
		}
		return 1
	}
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Or(cmp.Compare(group(a), group(b)), compareRows(a, b)) })
	order := make([]int, len(rows))
	for i, r := range rows {
		order[i] = r.seq
	}
	return order
}
