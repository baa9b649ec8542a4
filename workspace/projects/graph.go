package projects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// Edge orders one member after another.
type Edge struct {
	From, To int        // indices of members: From needs To
	Place    diag.Range // where a file of From refers to To
	Package  string     // the package in the folder of To; empty for a stack reference
}

// Graph holds members and the edges that order them. It is immutable.
type Graph struct {
	Members []*Member
	Edges   []Edge // at most one for each pair of members: the first in the text
}

// Link finds the edges between members. It reports members that make the same stack (Y502) and cycles of members
// (Y500). A member's reference to its own stack makes no edge.
func Link(members []*Member) (*Graph, diag.Diagnostics) {
	g := &Graph{Members: members}
	var diags diag.Diagnostics
	byKey := make(map[string]int, len(members))
	for i, m := range members {
		if other, twice := byKey[m.Key()]; twice && m.Project.Name.Text != "" {
			first := members[other]
			diags.Add(diag.Diagnostic{Code: diag.SameStack, Subject: m.Project.Name.Range,
				Summary: fmt.Sprintf("the projects in %s and %s make the same stack %s", first.Path, m.Path, m.Key()),
				Detail:  "each would delete the resources of the other: give one of them another name",
				Related: []diag.Related{{Range: first.Project.Name.Range, Message: "the other one"}}})
			continue
		}
		byKey[m.Key()] = i
	}
	for i, m := range members {
		linked := map[int]bool{i: true}
		for _, ref := range m.References {
			if dst, found := byKey[ref.Key()]; found && !linked[dst] {
				linked[dst] = true
				g.Edges = append(g.Edges, Edge{From: i, To: dst, Place: ref.Place})
			}
		}
		for _, pkg := range m.Packages {
			if dst, found := g.ownerOf(pkg.Dir, m); found && !linked[dst] {
				linked[dst] = true
				g.Edges = append(g.Edges, Edge{From: i, To: dst, Place: pkg.Place, Package: pkg.Name})
			}
		}
	}
	return g, append(diags, g.cycles()...)
}

// ownerOf returns the innermost member whose folder contains path. A member whose folder also contains user, such as a
// project at the root of a repository, does not count; user may be nil.
func (g *Graph) ownerOf(path string, user *Member) (int, bool) {
	best := -1
	for i, m := range g.Members {
		if confine.Within(m.Dir, path) && (user == nil || !confine.Within(m.Dir, user.Dir)) &&
			(best < 0 || len(m.Dir) > len(g.Members[best].Dir)) {
			best = i
		}
	}
	return best, best >= 0
}

// Needs returns the members that member i depends on, in ascending order.
func (g *Graph) Needs(i int) []int {
	var needs []int
	for _, e := range g.Edges {
		if e.From == i {
			needs = append(needs, e.To)
		}
	}
	slices.Sort(needs)
	return needs
}

// Order returns the members in topological order: each after its dependencies, with the lowest index first among those
// that are ready. Members of a cycle, and the members that depend on them, are left out.
func (g *Graph) Order() []int {
	missing := make([]int, len(g.Members))
	users := make([][]int, len(g.Members))
	for _, e := range g.Edges {
		missing[e.From]++
		users[e.To] = append(users[e.To], e.From)
	}
	var ready, order []int
	for i, n := range missing {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := slices.Min(ready)
		ready = slices.DeleteFunc(ready, func(k int) bool { return k == i })
		order = append(order, i)
		for _, user := range users[i] {
			if missing[user]--; missing[user] == 0 {
				ready = append(ready, user)
			}
		}
	}
	return order
}

// cycles reports each group of members that depend on each other once, with the places of all edges of the cycle.
func (g *Graph) cycles() (diags diag.Diagnostics) {
	told := make([]bool, len(g.Members))
	for i := range g.Members {
		if told[i] {
			continue
		}
		path := g.cycleFrom(i)
		if path == nil {
			continue
		}
		for _, e := range path {
			told[e.From] = true
		}
		names := []string{g.Members[path[0].From].Project.Name.Text}
		d := diag.Diagnostic{Code: diag.ProjectCycle, Subject: path[0].Place,
			Detail: "no order satisfies both: remove one of the references, or move what it reads into a project of its own"}
		for k, e := range path {
			names = append(names, g.Members[e.To].Project.Name.Text)
			if k > 0 {
				d.Related = append(d.Related, diag.Related{Range: e.Place,
					Message: fmt.Sprintf("%s needs %s here", g.Members[e.From].Project.Name.Text, g.Members[e.To].Project.Name.Text)})
			}
		}
		d.Summary = "projects need each other: " + strings.Join(names, " → ")
		diags.Add(d)
	}
	return diags
}

// cycleFrom returns a shortest cycle through the member start, or nil if there is none.
func (g *Graph) cycleFrom(start int) []Edge {
	came := map[int]Edge{}
	queue := []int{start}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, e := range g.Edges {
			if e.From != i {
				continue
			}
			if e.To == start {
				path := []Edge{e}
				for i != start {
					e = came[i]
					path = append([]Edge{e}, path...)
					i = e.From
				}
				return path
			}
			if _, seen := came[e.To]; !seen {
				came[e.To] = e
				queue = append(queue, e.To)
			}
		}
	}
	return nil
}

// Lost returns the findings about references to stacks that no member in keep makes (Y501). exists reports whether the
// backend already has a stack; it is nil if that cannot be determined, and then the findings are warnings.
func (g *Graph) Lost(keep []int, exists func(Reference) (bool, error)) (diag.Diagnostics, error) {
	var diags diag.Diagnostics
	made, byName := map[string]int{}, map[string]*Member{}
	for i, m := range g.Members {
		made[m.Key()] = i
		if byName[m.Project.Name.Text] == nil {
			byName[m.Project.Name.Text] = m
		}
	}
	for _, i := range keep {
		for _, ref := range g.Members[i].References {
			maker, here := made[ref.Key()]
			if here && (exists == nil || slices.Contains(keep, maker)) {
				continue
			}
			if exists != nil {
				if there, err := exists(ref); err != nil {
					return nil, err
				} else if there {
					continue
				}
			}
			diags.Add(g.lost(ref, here, byName[ref.Project], exists != nil))
		}
	}
	return diags, nil
}

// lost returns the finding about a reference. leftOut reports whether the stack belongs to a project that is left out;
// other is a project of the referenced name, or nil; sure reports whether the backend was asked.
func (g *Graph) lost(ref Reference, leftOut bool, other *Member, sure bool) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.NoSuchStack, Subject: ref.Place,
		Summary: fmt.Sprintf("no project here makes the stack %s", ref.Key()),
		Detail:  "the backend does not have it either"}
	if !sure {
		d.Severity, d.Detail = diag.Warning, "it has to be in the backend when this stack is run"
	}
	switch {
	case leftOut:
		d.Summary = fmt.Sprintf("the stack %s does not exist yet, and its project %s is not included "+
			"here", ref.Key(), other.Path)
		d.Detail = "include the project, or run it first"
	case other != nil:
		d.Summary += fmt.Sprintf(": of %s, it is the stack %s that is taken", ref.Project, other.Stack)
		d.Related = []diag.Related{{Range: other.Project.Name.Range, Message: "the project"}}
	default:
		if near := diag.Suggest(ref.Project, projectNames(g.Members)); len(near) > 0 {
			d.Detail += "; did you mean the project " + near[0] + "?"
		}
	}
	return d
}

func projectNames(members []*Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Project.Name.Text)
	}
	return names
}

// Unordered returns notes about dependencies that the order cannot take into account: references with names known only
// during a run, and programs that a compiler prints.
func (g *Graph) Unordered() (diags diag.Diagnostics) {
	for _, m := range g.Members {
		for _, rng := range m.Unread {
			diags.Add(diag.Diagnostic{Severity: diag.Info, Subject: rng,
				Summary: "only a run knows which stack this reads, so it does not affect the order",
				Detail:  "name the stack by text, configuration, pulumi.project, pulumi.stack and pulumi.organization"})
		}
		if m.Compiled {
			diags.Add(diag.Diagnostic{Severity: diag.Info, Subject: m.Project.Name.Range,
				Summary: "the program of " + m.Path + " is the output of a command, so its references do not affect the order"})
		}
	}
	return diags
}
