package plan

import (
	"cmp"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// Lineage has the facts of an operation for the search for a resource's former names.
type Lineage struct {
	Stack, Project string
	// Former gives the URN that a resource of this operation had before, empty when it was found under its own.
	Former func(urn.URN) urn.URN
}

// Candidates returns the URNs under which a resource may be known from before, its own first, each once (E4.13).
func (l Lineage) Candidates(own urn.URN, parent urn.URN, aliases []monitor.Alias) []urn.URN {
	name, typ := own.Name(), own.Type()
	found := []urn.URN{own}
	seen := map[urn.URN]bool{own: true}
	add := func(u urn.URN) {
		if !seen[u] {
			seen[u] = true
			found = append(found, u)
		}
	}
	for _, a := range aliases {
		add(l.expand(a, parent, name, typ))
	}
	if parent == "" {
		return found
	}
	oldParent := l.Former(parent)
	if oldParent == "" {
		return found
	}
	// A child of a renamed parent had a URN below the parent's former one. That holds for its own name and for each
	// alias.
	inherit := func(name, typ string) {
		add(urn.New(l.Stack, l.Project, oldParent, typ, inheritedName(name, parent.Name(), oldParent.Name())))
	}
	inherit(name, typ)
	for _, a := range aliases {
		if a.URN != "" {
			inherit(a.URN.Name(), a.URN.Type())
			continue
		}
		inherit(cmp.Or(a.Name, name), cmp.Or(a.Type, typ))
	}
	return found
}

// expand returns the URN that an alias stands for.
func (l Lineage) expand(a monitor.Alias, parent urn.URN, name, typ string) urn.URN {
	if a.URN != "" {
		return a.URN
	}
	switch {
	case a.NoParent:
		parent = ""
	case a.Parent != "":
		parent = a.Parent
		if before := l.Former(parent); before != "" {
			parent = before
		}
	}
	return urn.New(cmp.Or(a.Stack, l.Stack), cmp.Or(a.Project, l.Project), parent, cmp.Or(a.Type, typ),
		cmp.Or(a.Name, name))
}

// inheritedName returns the name a child had when its parent had another: a child's name that begins with its parent's
// is taken to follow it (E4.14).
func inheritedName(name, parent, oldParent string) string {
	if rest, ok := strings.CutPrefix(name, parent); ok {
		return oldParent + rest
	}
	return name
}
