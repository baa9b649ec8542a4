package projects

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/confine"
)

// Filter is one condition of a selection: path=GLOB, name=GLOB or tag=NAME, tag=NAME:GLOB; an exclamation mark in
// front negates it.
type Filter struct {
	kind, pattern string
	tag           string
	not           bool
}

// ParseFilter reads a condition. Globs have the syntax of path.Match; a final "/**" also matches everything below.
func ParseFilter(text string) (Filter, error) {
	f := Filter{}
	rest, not := strings.CutPrefix(text, "!")
	f.not = not
	kind, pattern, found := strings.Cut(rest, "=")
	if !found || pattern == "" {
		return f, fmt.Errorf("--filter takes path=GLOB, name=GLOB, tag=NAME or tag=NAME:GLOB, not %q", text)
	}
	f.kind, f.pattern = kind, pattern
	switch kind {
	case "path":
		f.pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	case "name":
	case "tag":
		if f.tag, f.pattern, found = strings.Cut(pattern, ":"); !found {
			f.pattern = "*"
		}
	default:
		return f, fmt.Errorf("--filter has no kind %q; the kinds are path, name and tag", kind)
	}
	if _, err := path.Match(f.pattern, ""); err != nil {
		return f, fmt.Errorf("--filter %s: %q is not a pattern: a bracket is not closed", text, f.pattern)
	}
	return f, nil
}

// matches reports whether m satisfies the condition.
func (f Filter) matches(m *Member) bool {
	ok := false
	switch f.kind {
	case "path":
		ok = matchPath(f.pattern, m.Path)
	case "name":
		ok, _ = path.Match(f.pattern, m.Project.Name.Text) // ParseFilter has tried the pattern
	case "tag":
		if value, tagged := m.Tags[f.tag]; tagged {
			ok, _ = path.Match(f.pattern, value)
			ok = ok || f.pattern == "*"
		}
	}
	return ok != f.not
}

func matchPath(pattern, text string) bool {
	if below, all := strings.CutSuffix(pattern, "/**"); all {
		for folder := text; folder != "."; folder = path.Dir(folder) {
			if ok, _ := path.Match(below, folder); ok {
				return true
			}
		}
		return false
	}
	ok, _ := path.Match(pattern, text)
	return ok
}

// Select returns the members that match filters, in ascending order. A member matches if it satisfies at least one
// filter of each kind and every negated filter.
func (g *Graph) Select(filters []Filter) []int {
	var selected []int
	for i, m := range g.Members {
		wanted := map[string]bool{}
		ok := true
		for _, f := range filters {
			if f.not {
				ok = ok && f.matches(m)
			} else {
				wanted[f.kind] = wanted[f.kind] || f.matches(m)
			}
		}
		for _, met := range wanted {
			ok = ok && met
		}
		if ok {
			selected = append(selected, i)
		}
	}
	return selected
}

// Affected returns the members affected by a change of files, in ascending order: the members that own one of the
// files, those that use a package with one of the files, and all members that depend on them. files are absolute paths.
// A file belongs to the innermost project around it.
func (g *Graph) Affected(files []string) []int {
	hit := make([]bool, len(g.Members))
	for _, file := range files {
		if owner, found := g.ownerOf(file, nil); found {
			hit[owner] = true
		}
		for i, m := range g.Members {
			for _, pkg := range m.Packages {
				hit[i] = hit[i] || confine.Within(pkg.Dir, file)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range g.Edges {
			if hit[e.To] && !hit[e.From] {
				hit[e.From], changed = true, true
			}
		}
	}
	var affected []int
	for i := range hit {
		if hit[i] {
			affected = append(affected, i)
		}
	}
	return affected
}

// Only returns the subgraph of the members in keep. A path through omitted members becomes an edge.
func (g *Graph) Only(keep []int) *Graph {
	number := make(map[int]int, len(keep))
	part := &Graph{}
	for _, i := range keep {
		number[i] = len(part.Members)
		part.Members = append(part.Members, g.Members[i])
	}
	edges := make([][]Edge, len(g.Members))
	for _, e := range g.Edges {
		edges[e.From] = append(edges[e.From], e)
	}
	for _, i := range keep {
		linked := map[int]bool{i: true}
		queue := slices.Clone(edges[i])
		first := make(map[int]Edge, len(queue)) // by member: the edge that starts the path from i to it
		for _, e := range queue {
			first[e.To] = e
		}
		for len(queue) > 0 {
			e := queue[0]
			queue = queue[1:]
			if linked[e.To] {
				continue
			}
			linked[e.To] = true
			if dst, kept := number[e.To]; kept {
				begin := first[e.To]
				part.Edges = append(part.Edges, Edge{From: number[i], To: dst, Place: begin.Place,
					Package: begin.Package})
				continue
			}
			for _, next := range edges[e.To] {
				if _, known := first[next.To]; !known {
					first[next.To] = first[e.To]
				}
				queue = append(queue, next)
			}
		}
	}
	return part
}

// Reversed returns the graph with every edge reversed, for operations that destroy stacks.
func (g *Graph) Reversed() *Graph {
	turned := &Graph{Members: g.Members, Edges: make([]Edge, len(g.Edges))}
	for i, e := range g.Edges {
		turned.Edges[i] = Edge{From: e.To, To: e.From, Place: e.Place, Package: e.Package}
	}
	return turned
}
