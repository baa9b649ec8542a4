package state

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Move describes a move of resources to another stack.
type Move struct {
	URNs           []urn.URN // the resources to move, with their children
	IncludeParents bool      // also move their parents
	Project, Stack string    // the target stack
}

// Moved is the result of a move.
type Moved struct {
	Source, Target *Snapshot
	Resources      []urn.URN // former URNs of the moved resources
	Broken         []string  // messages about removed references between the stacks
}

// Apply moves resources from source to target. It copies their providers unless the target has equal ones, and removes
// references between the stacks. A resource without a parent in its new stack becomes a child of the root stack. Apply
// returns an error for a URN that the target already has, and for a root stack.
func (m Move) Apply(source, target *Snapshot) (*Moved, error) {
	moving, err := m.chosen(source)
	if err != nil {
		return nil, err
	}
	root := urn.RootStack(m.Stack, m.Project)
	out := &Moved{}
	there := map[urn.URN]bool{}
	for _, r := range target.Resources {
		there[r.URN] = true
	}
	next, left := *target, *source
	next.Resources, left.Resources = slices.Clone(target.Resources), nil
	if !there[root] {
		next.Resources = append([]*Resource{{URN: root, Type: urn.RootStackType, Inputs: value.EmptyMap(),
			Outputs: value.EmptyMap()}}, next.Resources...)
	}
	providers := map[string]bool{} // references of the moved resources to their providers
	for _, r := range source.Resources {
		if moving[r.URN] {
			providers[r.Provider] = true
		}
	}
	equal := map[string]string{} // references in the target by references in the source
	for _, r := range source.Resources {
		ref := urn.Reference{URN: r.URN, ID: r.ID}.String()
		if r.IsProvider() && providers[ref] && !moving[r.URN] {
			p, err := m.copyProvider(r, &next, there)
			if err != nil {
				return nil, err
			}
			if p.ID != r.ID {
				equal[ref] = urn.Reference{URN: p.URN, ID: p.ID}.String()
			}
		}
		if !moving[r.URN] {
			left.Resources = append(left.Resources, m.cut(r, func(u urn.URN) bool { return moving[u] }, out))
			continue
		}
		out.Resources = append(out.Resources, r.URN)
		kept := m.cut(r, func(u urn.URN) bool { return !moving[u] }, out)
		now := m.moved(kept)
		if ref := equal[r.Provider]; ref != "" {
			now.Provider = ref
		}
		if kept.Parent == "" || kept.Parent == urn.RootStack(r.URN.Stack(), r.URN.Project()) {
			if !r.IsProvider() || r.Parent != "" {
				now.Parent = root
			}
			now.URN = urn.New(m.Stack, m.Project, now.Parent, r.Type, r.URN.Name())
		}
		if there[now.URN] {
			return nil, fmt.Errorf("the stack %s has a resource named %s already", m.Stack, now.URN)
		}
		there[now.URN] = true
		next.Resources = append(next.Resources, now)
	}
	out.Source, out.Target = &left, &next
	if err := left.Verify(); err != nil {
		return nil, err
	}
	return out, next.Verify()
}

// chosen returns the URNs to move: the named resources, their descendants and, if requested, their ancestors.
func (m Move) chosen(s *Snapshot) (map[urn.URN]bool, error) {
	moving := map[urn.URN]bool{}
	parents := map[urn.URN]urn.URN{}
	for _, r := range s.Resources {
		parents[r.URN] = r.Parent
		if r.Delete && slices.Contains(m.URNs, r.URN) {
			return nil, fmt.Errorf("%s has a pending delete; run `up` first", r.URN)
		}
	}
	for _, u := range m.URNs {
		if _, ok := parents[u]; !ok {
			return nil, &MissingError{u}
		}
		if u.QualifiedType() == urn.RootStackType {
			return nil, fmt.Errorf("the stack itself cannot be moved")
		}
		moving[u] = true
		for p := parents[u]; m.IncludeParents && p != "" && p.QualifiedType() != urn.RootStackType; p = parents[p] {
			moving[p] = true
		}
	}
	below := map[urn.URN]bool{}
	for _, r := range s.Resources { // parents come first
		if below[r.Parent] || slices.Contains(m.URNs, r.URN) {
			below[r.URN], moving[r.URN] = true, true
		}
	}
	return moving, nil
}

// copyProvider copies a provider into the target and returns the copy. If the target already has a provider with the
// new URN, copyProvider returns that one; it is an error if both its ID and its inputs differ.
func (m Move) copyProvider(p *Resource, target *Snapshot, there map[urn.URN]bool) (*Resource, error) {
	now := m.moved(p)
	if p.Parent != "" {
		now.Parent = urn.RootStack(m.Stack, m.Project)
		now.URN = urn.New(m.Stack, m.Project, now.Parent, p.Type, p.URN.Name())
	}
	now.Dependencies, now.PropertyDependencies, now.DeletedWith, now.ReplaceWith = nil, nil, "", nil
	for _, r := range target.Resources {
		if r.URN != now.URN || r.Delete {
			continue
		}
		if r.ID == now.ID || value.Equal(r.Inputs, now.Inputs) {
			return r, nil
		}
		return nil, fmt.Errorf("the stack %s has a provider named %s with other settings; rename one of them first", m.Stack,
			now.URN.Name())
	}
	there[now.URN] = true
	target.Resources = append(target.Resources, now)
	return now, nil
}

// cut returns r without references to resources in the other stack, which far reports. A parent in the other stack is
// replaced by the root stack. The provider reference stays.
func (m Move) cut(r *Resource, far func(urn.URN) bool, out *Moved) *Resource {
	provider, _ := urn.ParseReference(r.Provider)
	return r.MapURNs(func(ref Ref) urn.URN {
		switch {
		case ref.Kind == RefProvider || ref.Kind == RefViewOf || ref.URN == provider.URN || !far(ref.URN):
			return ref.URN
		case ref.Kind == RefParent && ref.URN.QualifiedType() == urn.RootStackType:
			return ref.URN
		case ref.Kind == RefParent:
			return urn.RootStack(r.URN.Stack(), r.URN.Project())
		}
		if text := fmt.Sprintf("%s does not depend on %s any more", r.URN, ref.URN); !slices.Contains(out.Broken, text) {
			out.Broken = append(out.Broken, text)
		}
		return ""
	})
}

// moved returns r with all its URNs moved to the target stack.
func (m Move) moved(r *Resource) *Resource {
	return rewritten(r, func(u urn.URN) urn.URN { return movedURN(u, m.Project, m.Stack) })
}
