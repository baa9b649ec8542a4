package state

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
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

// resource returns r under its present name, with all its references; it has no aliases.
func (m renames) resource(r *Resource) *Resource {
	next := rewritten(r, m.of)
	next.Aliases = nil
	if len(r.Aliases) > 0 { // one that was matched through an alias has its current URN already
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
