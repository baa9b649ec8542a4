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
// references between the stacks. A parent that does not move, or would move only because of IncludeParents, is the
// resource of the same name in the target if there is one; otherwise the resource becomes a child of the root stack.
// Apply returns an error for a URN that the target already has, and for a root stack.
func (m Move) Apply(source, target *Snapshot) (*Moved, error) {
	root := urn.RootStack(m.Stack, m.Project)
	out := &Moved{}
	there := map[urn.URN]bool{}
	for _, r := range target.Resources {
		there[r.URN] = there[r.URN] || !r.Delete
	}
	moving, err := m.chosen(source, there)
	if err != nil {
		return nil, err
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
	at := places{m, map[urn.URN]urn.URN{}}
	for _, r := range source.Resources {
		ref := urn.Reference{URN: r.URN, ID: r.ID}.String()
		if r.IsProvider() && providers[ref] && !moving[r.URN] {
			p, err := m.copyProvider(r, &next, at, there, out)
			if err != nil {
				return nil, err
			}
			if p.ID != r.ID {
				equal[ref] = urn.Reference{URN: p.URN, ID: p.ID}.String()
			}
		}
		if p, _ := urn.ParseReference(r.Provider); !moving[r.URN] && moving[p.URN] {
			return nil, fmt.Errorf("%s stays and needs the provider %s: leave that out, as providers are copied with what "+
				"needs them", r.URN, p.URN)
		}
		if !moving[r.URN] {
			left.Resources = append(left.Resources, m.cut(r, func(u urn.URN) bool { return moving[u] }, out))
			continue
		}
		out.Resources = append(out.Resources, r.URN)
		now := rewritten(m.cut(r, func(u urn.URN) bool { return !moving[u] }, out), at.of)
		switch parent := at.of(r.Parent); {
		case r.Parent == "" && r.IsProvider():
		case moving[r.Parent], there[parent]:
			now.Parent = parent
		default:
			now.Parent = root
		}
		now.URN = urn.New(m.Stack, m.Project, now.Parent, r.Type, r.URN.Name())
		at.now[r.URN] = now.URN
		if ref := equal[r.Provider]; ref != "" {
			now.Provider = ref
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
// An ancestor that the target has, by its new URN, stays.
func (m Move) chosen(s *Snapshot, there map[urn.URN]bool) (map[urn.URN]bool, error) {
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
			if there[movedURN(p, m.Project, m.Stack)] {
				break
			}
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

// copyProvider copies a provider into the target and returns the copy, without references to what the target lacks. If
// the target already has a provider with the new URN, copyProvider returns that one; it is an error if both its ID and
// its inputs differ.
func (m Move) copyProvider(p *Resource, target *Snapshot, at places, there map[urn.URN]bool,
	out *Moved) (*Resource, error) {
	now := rewritten(p.MapURNs(func(ref Ref) urn.URN {
		if ref.Kind == RefParent || ref.Kind == RefProvider || there[at.of(ref.URN)] {
			return ref.URN
		}
		out.broken("the copy of %s in the stack %s does not depend on %s", p.URN, m.Stack, ref.URN)
		return ""
	}), at.of)
	if p.Parent != "" {
		now.Parent = urn.RootStack(m.Stack, m.Project)
		now.URN = urn.New(m.Stack, m.Project, now.Parent, p.Type, p.URN.Name())
	}
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
		out.broken("%s does not depend on %s any more", r.URN, ref.URN)
		return ""
	})
}

// broken adds a message about a removed reference, once.
func (m *Moved) broken(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(m.Broken, text) {
		m.Broken = append(m.Broken, text)
	}
}

// places knows the URNs that the resources of the source have in the target.
type places struct {
	move Move
	now  map[urn.URN]urn.URN // of the moved resources, by their former URNs
}

// of returns the URN that a resource has or would have in the target.
func (p places) of(u urn.URN) urn.URN {
	if now, ok := p.now[u]; ok {
		return now
	}
	return movedURN(u, p.move.Project, p.move.Stack)
}
