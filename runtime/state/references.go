package state

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// RefKind is the kind of a reference: the field that holds it, as named in messages.
type RefKind string

// The kinds of references.
const (
	RefProvider    RefKind = "provider"
	RefParent      RefKind = "parent"
	RefDependency  RefKind = "dependency"
	RefProperty    RefKind = "dependency of property"
	RefDeletedWith RefKind = "deletedWith"
	RefReplaceWith RefKind = "replaceWith"
	RefViewOf      RefKind = "viewOf"
)

// Ref is a reference of a resource to another one.
type Ref struct {
	Kind     RefKind
	Property string // for RefProperty: the name of the property
	URN      urn.URN
}

// MapURNs returns r with the URN of each reference replaced by the result of change, which is called in a fixed order.
// An empty result removes the reference; a property without remaining dependencies is removed too (E6.37). The URN and
// the aliases of r are not references. If nothing changes, MapURNs returns r itself.
func (r *Resource) MapURNs(change func(Ref) urn.URN) *Resource {
	changed := false
	one := func(kind RefKind, property string, u urn.URN) urn.URN {
		if u == "" {
			return ""
		}
		now := change(Ref{kind, property, u})
		changed = changed || now != u
		return now
	}
	list := func(kind RefKind, property string, urns []urn.URN) []urn.URN {
		var next []urn.URN // nil until something changes
		for i, u := range urns {
			now := one(kind, property, u)
			if next == nil && now != u {
				next = append(make([]urn.URN, 0, len(urns)), urns[:i]...)
			}
			if next != nil && now != "" {
				next = append(next, now)
			}
		}
		if next == nil {
			return urns
		}
		return next
	}
	c := *r
	if ref, err := urn.ParseReference(r.Provider); err == nil && r.Provider != "" {
		switch now := one(RefProvider, "", ref.URN); now {
		case ref.URN:
		case "":
			c.Provider = ""
		default:
			c.Provider = urn.Reference{URN: now, ID: ref.ID}.String()
		}
	}
	c.Parent = one(RefParent, "", r.Parent)
	c.Dependencies = list(RefDependency, "", r.Dependencies)
	var properties []string
	var lists [][]urn.URN
	for key, was := range r.PropertyDependencies.All() {
		if now := list(RefProperty, key, was); len(now) > 0 || len(was) == 0 {
			properties, lists = append(properties, key), append(lists, now)
		}
	}
	c.DeletedWith = one(RefDeletedWith, "", r.DeletedWith)
	c.ReplaceWith = list(RefReplaceWith, "", r.ReplaceWith)
	c.ViewOf = one(RefViewOf, "", r.ViewOf)
	if !changed {
		return r
	}
	if r.PropertyDependencies.Given() {
		c.PropertyDependencies = urn.NewDependencies(properties, lists)
	}
	return c.Clone()
}

// PropertiesFrom returns the names of the properties of r that depend on the resource u, in ascending order.
func (r *Resource) PropertiesFrom(u urn.URN) (keys []string) {
	for key, urns := range r.PropertyDependencies.All() {
		if slices.Contains(urns, u) {
			keys = append(keys, key)
		}
	}
	return keys
}

// AllDependencies calls fn for the URN of every resource that r depends on (E1.47): its provider, parent, dependencies,
// property dependencies, deletedWith and replaceWith. A URN may be repeated.
func (r *Resource) AllDependencies(fn func(urn.URN)) {
	if r.Provider != "" {
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			fn(ref.URN)
		}
	}
	if r.Parent != "" {
		fn(r.Parent)
	}
	for _, u := range r.Dependencies {
		fn(u)
	}
	for _, urns := range r.PropertyDependencies.All() {
		for _, u := range urns {
			fn(u)
		}
	}
	if r.DeletedWith != "" {
		fn(r.DeletedWith)
	}
	for _, u := range r.ReplaceWith {
		fn(u)
	}
}

// Normalize returns s with every reference through an alias replaced by the current URN, and without aliases (E6.32,
// F5.14). Descendants of a renamed resource get new URNs, even if the operation has not visited them yet. If no
// resource has aliases, Normalize returns s itself. It returns an *IntegrityError if two resources have the same alias.
func (s *Snapshot) Normalize() (*Snapshot, error) {
	renamed, err := s.renames()
	if err != nil {
		return nil, err
	}
	if renamed == nil {
		return s, nil
	}
	return s.mapped(renamed.resource), nil
}

// renames maps old URNs to new ones. It is nil if no resource has aliases.
type renames map[urn.URN]urn.URN

func (s *Snapshot) renames() (renames, error) {
	var m renames
	for _, r := range s.Resources {
		for _, alias := range r.Aliases {
			if m == nil {
				m = renames{}
			}
			if other, taken := m[alias]; taken && other != r.URN {
				return nil, &IntegrityError{Rule: "E6.32", URN: r.URN,
					Problem: fmt.Sprintf("its alias %s is claimed by %s too", alias, other)}
			}
			if alias != r.URN {
				m[alias] = r.URN
			}
		}
	}
	if m == nil {
		return nil, nil
	}
	for _, r := range s.Resources {
		m.follow(r)
	}
	for _, op := range s.Pending {
		m.follow(op.Resource)
	}
	return m, nil
}

// follow adds the new URN of r if its parent was renamed and r itself was not. Parents precede their children, so one
// pass over the resources also finds grandchildren.
func (m renames) follow(r *Resource) {
	parent, renamed := m[r.Parent]
	if !renamed || r.Parent == "" {
		return
	}
	if _, known := m[r.URN]; known {
		return
	}
	if now := urn.New(r.URN.Stack(), r.URN.Project(), parent, r.Type, r.URN.Name()); now != r.URN {
		m[r.URN] = now
	}
}

func (m renames) of(u urn.URN) urn.URN {
	if now, ok := m[u]; ok {
		return now
	}
	return u
}

// resource returns r with its own URN and all references renamed, and without aliases.
func (m renames) resource(r *Resource) *Resource {
	next := rewritten(r, m.of)
	next.Aliases = nil
	if len(r.Aliases) > 0 { // it was matched through an alias, so its URN is already current
		next.URN = r.URN
	}
	return next
}

// rewritten returns a copy of r in which its own URN, its aliases and all references are replaced by the results of
// now.
func rewritten(r *Resource, now func(urn.URN) urn.URN) *Resource {
	next := r.MapURNs(func(ref Ref) urn.URN { return now(ref.URN) }).Clone()
	next.URN, next.Aliases = now(r.URN), slices.Clone(r.Aliases)
	for i, u := range next.Aliases {
		next.Aliases[i] = now(u)
	}
	return next
}
