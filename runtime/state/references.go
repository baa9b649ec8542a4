package state

import (
	"maps"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// RefKind is the field of a resource that refers to another one, as messages name it.
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
	Property string // of RefProperty
	URN      urn.URN
}

// MapURNs returns r with the URN of each reference replaced by the result of change, which is called in a fixed order;
// an empty result removes the reference, and a property without dependencies that are left (E6.37). The URN and the
// aliases of r itself are no references. It returns r itself, not a copy, if nothing changes.
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
	properties := make(map[string][]urn.URN, len(r.PropertyDependencies))
	for _, key := range slices.Sorted(maps.Keys(r.PropertyDependencies)) {
		was := r.PropertyDependencies[key]
		if now := list(RefProperty, key, was); len(now) > 0 || len(was) == 0 {
			properties[key] = now
		}
	}
	c.DeletedWith = one(RefDeletedWith, "", r.DeletedWith)
	c.ReplaceWith = list(RefReplaceWith, "", r.ReplaceWith)
	c.ViewOf = one(RefViewOf, "", r.ViewOf)
	if !changed {
		return r
	}
	if r.PropertyDependencies != nil {
		c.PropertyDependencies = properties
	}
	return c.Clone()
}

// AllDependencies calls fn for the URN of everything that r depends on in any way (E1.47): its provider, parent,
// dependencies, property dependencies, deletedWith and replaceWith. A URN may be repeated.
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
	for _, urns := range r.PropertyDependencies {
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
