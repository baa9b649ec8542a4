package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// Repair is one change that Repaired has made.
type Repair struct {
	URN  urn.URN // empty for the snapshot as a whole
	What string  // description for the user
}

// InOrder returns a snapshot for an operation to start with: s itself if it is valid, or s with its resources sorted if
// that makes it valid. moved holds the resources that changed position. InOrder returns an *IntegrityError if sorting
// is not enough.
func (s *Snapshot) InOrder() (sound *Snapshot, moved []urn.URN, err error) {
	fault := s.Verify()
	if fault == nil {
		return s, nil, nil
	}
	sorted, moved, err := s.Sorted()
	if err != nil {
		broken, _ := errors.AsType[*IntegrityError](fault) // Verify returns no other errors
		return nil, nil, &IntegrityError{Rule: broken.Rule, URN: broken.URN,
			Problem: broken.Problem + "; no order is possible: " + err.Error()}
	}
	if sorted.Verify() != nil {
		return nil, nil, fault
	}
	return sorted, moved, nil
}

// Sorted returns the snapshot with each resource after its dependencies, and the resources that were moved. Resources
// that are already in order keep their positions. Sorted ignores references to missing resources and returns an error
// only for a cycle.
func (s *Snapshot) Sorted() (*Snapshot, []urn.URN, error) {
	o := orderer{byURN: map[urn.URN][]int{}, resources: s.Resources, state: make([]visit, len(s.Resources)),
		emitted: map[urn.URN]bool{}}
	for i, r := range s.Resources {
		o.byURN[r.URN] = append(o.byURN[r.URN], i)
	}
	for i := range s.Resources {
		if err := o.visit(i); err != nil {
			return nil, nil, err
		}
	}
	next := *s
	next.Resources = make([]*Resource, len(o.order))
	for pos, i := range o.order {
		next.Resources[pos] = s.Resources[i]
	}
	return &next, o.moved, nil
}

type visit uint8

const (
	unseen visit = iota
	entered
	left
)

type orderer struct {
	resources []*Resource
	byURN     map[urn.URN][]int
	state     []visit
	emitted   map[urn.URN]bool
	path      []int
	order     []int
	moved     []urn.URN
}

func (o *orderer) visit(i int) error {
	switch o.state[i] {
	case left:
		return nil
	case entered:
		return o.cycle(i)
	}
	o.state[i] = entered
	o.path = append(o.path, i)
	r := o.resources[i]
	if r.Provider != "" && !r.PendingReplacement {
		if ref, err := urn.ParseReference(r.Provider); err == nil {
			for _, p := range o.byURN[ref.URN] {
				if o.resources[p].ID == ref.ID {
					if err := o.before(p, i); err != nil {
						return err
					}
				}
			}
		}
	}
	var failed error
	r.AllDependencies(func(u urn.URN) {
		if failed != nil || o.emitted[u] || len(o.byURN[u]) == 0 {
			return
		}
		best := o.byURN[u][0]
		for _, c := range o.byURN[u] { // prefer a resource that is not pending deletion
			if !o.resources[c].Delete {
				best = c
				break
			}
		}
		failed = o.before(best, i)
	})
	if failed != nil {
		return failed
	}
	o.path = o.path[:len(o.path)-1]
	o.state[i] = left
	o.order = append(o.order, i)
	o.emitted[r.URN] = true
	return nil
}

// before visits p, a dependency of i, and records p as moved if it follows i.
func (o *orderer) before(p, i int) error {
	if o.state[p] == left {
		return nil
	}
	if p > i {
		o.moved = append(o.moved, o.resources[p].URN)
	}
	return o.visit(p)
}

func (o *orderer) cycle(i int) error {
	var names []string
	for _, pos := range o.path[slices.Index(o.path, i):] {
		names = append(names, string(o.resources[pos].URN))
	}
	return &IntegrityError{Rule: "E6.47", URN: o.resources[i].URN,
		Problem: "it depends on itself, by way of " + strings.Join(append(names, string(o.resources[i].URN)), " -> ")}
}

// Repaired returns the snapshot with all faults repaired that can be repaired without losing track of an existing
// object (E6.50): the order, references to missing resources, a provider's ID, duplicate resources, a wrong magic. done
// lists the repairs; left lists the remaining faults, which a user has to decide.
func (s *Snapshot) Repaired() (next *Snapshot, done []Repair, left []*IntegrityError) {
	n := *s
	next = &n
	if want := magicOf(n.Manifest.Version); n.Manifest.Magic != want && n.Manifest.Magic+n.Manifest.Version != "" {
		n.Manifest.Magic = want
		done = append(done, Repair{What: "the manifest's magic is set to that of its version"})
	}
	var more []Repair
	n.Resources, more = withoutTwins(n.Resources)
	done = append(done, more...)
	present := map[urn.URN]bool{}
	providers := map[urn.URN][]string{}
	for _, r := range n.Resources {
		present[r.URN] = true
		if r.IsProvider() {
			providers[r.URN] = append(providers[r.URN], r.ID)
		}
	}
	for i, r := range n.Resources {
		mended, what := mend(r, present, providers)
		n.Resources[i] = mended
		for _, text := range what {
			done = append(done, Repair{r.URN, text})
		}
	}
	sorted, moved, err := n.Sorted()
	if err == nil {
		next = sorted
		for _, u := range moved {
			done = append(done, Repair{u, "moved before its dependants"})
		}
	}
	return next, done, next.Faults()
}

// withoutTwins removes duplicate entries for the same object.
func withoutTwins(resources []*Resource) (kept []*Resource, done []Repair) {
	type object struct {
		urn            urn.URN
		id             string
		delete, custom bool
	}
	seen := map[object]bool{}
	for _, r := range resources {
		o := object{r.URN, r.ID, r.Delete, r.Custom}
		if seen[o] && r.URN != "" {
			done = append(done, Repair{r.URN, fmt.Sprintf("the second entry with the same ID %q is removed", r.ID)})
			continue
		}
		seen[o] = true
		kept = append(kept, r)
	}
	return kept, done
}

// mend returns r with the faults repaired that do not concern other resources, and descriptions of the repairs.
func mend(r *Resource, present map[urn.URN]bool, providers map[urn.URN][]string) (*Resource, []string) {
	var what []string
	n := r.Clone()
	if n.URN != "" && n.Type == "" {
		n.Type = n.URN.Type()
		what = append(what, fmt.Sprintf("its type is %q, as its URN says", n.Type))
	}
	if !n.Custom && n.ID != "" {
		if n.Provider != "" { // forgetting the ID would lose an object
			n.Custom = true
			what = append(what, "it is not a component: it has a provider and an ID")
		} else {
			what = append(what, fmt.Sprintf("the ID %q is removed, because it is a component", n.ID))
			n.ID = ""
		}
	}
	if ref, err := urn.ParseReference(n.Provider); err == nil && n.Provider != "" {
		if ids := providers[ref.URN]; len(ids) == 1 && ids[0] != ref.ID {
			n.Provider = urn.Reference{URN: ref.URN, ID: ids[0]}.String()
			what = append(what, fmt.Sprintf("its provider is the one with the ID %q", ids[0]))
		}
	}
	n = n.MapURNs(func(ref Ref) urn.URN {
		if ref.Kind == RefProvider || ref.Kind == RefViewOf || present[ref.URN] {
			return ref.URN
		}
		name := string(ref.Kind)
		if ref.Kind == RefProperty {
			name = fmt.Sprintf("the dependency of property %q", ref.Property)
		}
		what = append(what, fmt.Sprintf("%s %s is not in the state and is removed", name, ref.URN))
		return ""
	})
	if len(what) == 0 {
		return r, nil
	}
	return n, what
}
