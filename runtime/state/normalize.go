package state

import (
	"fmt"
	"maps"

	"github.com/yamlhost/yamlhost/value/urn"
)

// Normalize is s with every reference through an alias replaced by the current URN and the aliases dropped (E6.32,
// F5.14): the URNs of children whose parent was renamed are made anew, also of those that were not visited yet. s
// itself is not modified, and is returned when there is nothing to do. Two resources that claim one alias are an
// *IntegrityError.
func (s *Snapshot) Normalize() (*Snapshot, error) {
	renamed, err := s.renames()
	if err != nil {
		return nil, err
	}
	if renamed == nil {
		return s, nil
	}
	next := *s
	next.Resources = make([]*Resource, len(s.Resources))
	for i, r := range s.Resources {
		next.Resources[i] = renamed.resource(r)
	}
	next.Pending = make([]Operation, len(s.Pending))
	for i, op := range s.Pending {
		op.Resource = renamed.resource(op.Resource)
		next.Pending[i] = op
	}
	return &next, nil
}

// renames maps old URNs to new ones; it is nil when no resource has aliases.
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

// follow adds the new URN of a resource whose parent was renamed and which was not matched itself. Parents precede
// their children, so that one pass in order finds grandchildren too.
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

func (m renames) list(urns []urn.URN) []urn.URN {
	for i, u := range urns {
		if _, ok := m[u]; ok {
			next := append([]urn.URN(nil), urns...)
			for j := i; j < len(next); j++ {
				next[j] = m.of(next[j])
			}
			return next
		}
	}
	return urns
}

func (m renames) resource(r *Resource) *Resource {
	next := r.Clone()
	next.Aliases = nil
	if len(r.Aliases) == 0 { // one that was matched through an alias has its current URN already
		next.URN = m.of(r.URN)
	}
	next.Parent = m.of(r.Parent)
	next.DeletedWith = m.of(r.DeletedWith)
	next.ViewOf = m.of(r.ViewOf)
	next.Dependencies = m.list(r.Dependencies)
	next.ReplaceWith = m.list(r.ReplaceWith)
	if ref, err := urn.ParseReference(r.Provider); err == nil {
		if now := m.of(ref.URN); now != ref.URN {
			next.Provider = urn.Reference{URN: now, ID: ref.ID}.String()
		}
	}
	next.PropertyDependencies = m.properties(r.PropertyDependencies)
	return next
}

func (m renames) properties(deps map[string][]urn.URN) map[string][]urn.URN {
	next, copied := deps, false
	for key, urns := range deps {
		now := m.list(urns)
		if len(urns) == 0 || &now[0] == &urns[0] {
			continue
		}
		if !copied {
			next, copied = maps.Clone(deps), true
		}
		next[key] = now
	}
	return next
}
