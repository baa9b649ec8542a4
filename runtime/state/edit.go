package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// The functions in this file edit a state. They return a new snapshot and do not modify the old one.

// MissingError is returned when a snapshot has no resource with that URN.
type MissingError struct{ URN urn.URN }

// Error names the resource.
func (e *MissingError) Error() string {
	return fmt.Sprintf("no such resource %q exists in the state", e.URN)
}

// InUseError is returned when a resource cannot be removed from the state because others depend on it.
type InUseError struct {
	URN urn.URN
	By  []urn.URN
}

// Error names the resource and its dependants.
func (e *InUseError) Error() string {
	text := fmt.Sprintf("the resource %s cannot be removed from the state, because others depend on it:", e.URN)
	for _, u := range e.By {
		text += "\n  * " + string(u)
	}
	return text
}

// ProtectedError is returned when a resource is protected.
type ProtectedError struct{ URN urn.URN }

// Error names the resource.
func (e *ProtectedError) Error() string { return fmt.Sprintf("the resource %s is protected", e.URN) }

// RemoveOptions are the options of Without.
type RemoveOptions struct {
	Force      bool // also remove protected resources, and all resources with the same URN
	Dependents bool // also remove dependants
}

// Without returns the snapshot without the named resources, and the URNs that were removed. It does not delete the
// resources themselves. It returns a *MissingError, *InUseError or *ProtectedError if a resource cannot be removed.
func (s *Snapshot) Without(urns []urn.URN, o RemoveOptions) (*Snapshot, []urn.URN, error) {
	named := map[urn.URN]bool{}
	for _, u := range urns {
		entries := 0
		for _, r := range s.Resources {
			if r.URN == u {
				entries++
			}
		}
		switch {
		case entries == 0:
			return nil, nil, &MissingError{u}
		case entries > 1 && !o.Force:
			return nil, nil, fmt.Errorf(
				"the state has %d entries named %s, some of which are pending deletes; --force removes all of them", entries, u)
		}
		named[u] = true
	}
	users := map[urn.URN][]urn.URN{}
	var removed []urn.URN
	next := *s
	next.Resources = nil
	for _, r := range s.Resources {
		gone := named[r.URN]
		if !gone {
			var needs urn.URN
			r.AllDependencies(func(u urn.URN) {
				if named[u] {
					needs = u
				}
			})
			if needs != "" && o.Dependents {
				named[r.URN], gone = true, true
			} else if needs != "" {
				users[needs] = append(users[needs], r.URN)
			}
		}
		switch {
		case !gone:
			next.Resources = append(next.Resources, r)
		case r.Protect && !o.Force:
			return nil, nil, &ProtectedError{r.URN}
		default:
			removed = append(removed, r.URN)
		}
	}
	for _, u := range urns {
		if dependents := users[u]; len(dependents) > 0 {
			return nil, nil, &InUseError{u, dependents}
		}
	}
	return &next, removed, nil
}

// WithEach calls change with a copy of each named resource, or of every resource if urns is nil, and returns a snapshot
// with the copies. It skips resources pending deletion. It returns a *MissingError for a URN without a resource.
func (s *Snapshot) WithEach(urns []urn.URN, change func(*Resource)) (*Snapshot, error) {
	next := *s
	next.Resources = slices.Clone(s.Resources)
	for i, r := range s.Resources {
		if r.Delete || urns != nil && !slices.Contains(urns, r.URN) {
			continue
		}
		c := r.Clone()
		change(c)
		next.Resources[i] = c
	}
	for _, u := range urns {
		if !slices.ContainsFunc(s.Resources, func(r *Resource) bool { return r.URN == u && !r.Delete }) {
			return nil, &MissingError{u}
		}
	}
	return &next, nil
}

// Renamed returns the snapshot with a resource renamed in its URN and in all references to it.
func (s *Snapshot) Renamed(u urn.URN, name string) (*Snapshot, error) {
	found := false
	now := urn.URN(strings.TrimSuffix(string(u), u.Name()) + name)
	for _, r := range s.Resources {
		found = found || r.URN == u
		if r.URN == now {
			return nil, fmt.Errorf("the state has a resource named %s already", now)
		}
	}
	if !found {
		return nil, &MissingError{u}
	}
	return s.rewritten(renames{u: now}.of), nil
}

// OfStack returns the snapshot with every URN moved to another project and stack (F6.14).
func (s *Snapshot) OfStack(project, stack string) *Snapshot {
	return s.rewritten(func(u urn.URN) urn.URN { return movedURN(u, project, stack) })
}

// movedURN returns u with another project and stack. The root stack also gets the new name.
func movedURN(u urn.URN, project, stack string) urn.URN {
	switch {
	case u == "":
		return ""
	case u.QualifiedType() == urn.RootStackType:
		return urn.RootStack(stack, project)
	}
	return urn.URN("urn:pulumi:" + stack + "::" + project + "::" + u.QualifiedType() + "::" + u.Name())
}

// rewritten returns s with every URN replaced by the result of now.
func (s *Snapshot) rewritten(now func(urn.URN) urn.URN) *Snapshot {
	return s.mapped(func(r *Resource) *Resource { return rewritten(r, now) })
}

// mapped returns s with every resource replaced by the result of change.
func (s *Snapshot) mapped(change func(*Resource) *Resource) *Snapshot {
	next := *s
	next.Resources = make([]*Resource, len(s.Resources))
	for i, r := range s.Resources {
		next.Resources[i] = change(r)
	}
	next.Pending = slices.Clone(s.Pending)
	for i := range next.Pending {
		next.Pending[i].Resource = change(next.Pending[i].Resource)
	}
	return &next
}
