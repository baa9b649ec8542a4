package engine

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/value/urn"
)

// replacement is the chain of steps that replaces a resource (E4.54–E4.56).
func replacement(s situation) []Step {
	with := func(op Op) Step {
		step := newStep(op, s.old, s.goal)
		step.Keys, step.Diffs, step.Detailed, step.Reason = s.verdict.keys, s.verdict.diffs, s.verdict.detailed, s.verdict.reason
		if s.old.PendingReplacement && step.Reason == "" && len(step.Keys) == 0 {
			step.Reason = "an earlier replacement was not finished"
		}
		return step
	}
	if !s.before {
		return []Step{with(OpCreateReplacement), with(OpReplace)}
	}
	var chain []Step
	for _, d := range s.dependents {
		op := OpDeleteReplaced
		if d.resource.Delete { // E4.62
			op = OpDelete
		}
		step := newStep(op, d.resource, nil)
		step.Keys, step.Reason = d.keys, d.reason
		chain = append(chain, step)
	}
	if !s.old.PendingReplacement {
		gone := with(OpDeleteReplaced)
		gone.New = nil
		chain = append(chain, gone)
	}
	return append(chain, with(OpReplace), with(OpCreateReplacement))
}

// dependent is a resource that has to be deleted before something it depends on is.
type dependent struct {
	resource *state.Resource
	keys     []string // its properties that force the replacement
	reason   string
}

// protectedError says that a replacement would take a protected resource with it (E4.61).
type protectedError struct{ dependent, root urn.URN }

// Error names both and the way out.
func (e *protectedError) Error() string {
	return fmt.Sprintf("unable to replace resource %q as part of replacing %q: it is protected.\n"+
		"To allow it, remove the option protect from the resource and run again, or use `state unprotect '%s'`.",
		e.dependent, e.root, e.dependent)
}

// cascade finds what has to be deleted before root is, in the order of deletion: dependents first (E4.58–E4.62). rest are the
// entries behind root, in their order. settled says which of them had a step in this operation and are left out;
// unprotected that protection does not count.
// fated finds what makes an entry be replaced in this operation anyway: it goes first if it uses something that goes.
// forces asks whether an unknown value of some of an entry's properties makes it need a replacement, and by which keys.
func cascade(root *state.Resource, rest []*state.Resource, settled func(*state.Resource) bool, unprotected bool,
	fated func(*state.Resource) (verdict, bool),
	forces func(r *state.Resource, properties []string) (bool, []string, error)) ([]dependent, error) {
	going := map[urn.URN]bool{root.URN: true}
	references := map[string]bool{}
	if root.IsProvider() {
		references[urn.Reference{URN: root.URN, ID: root.ID}.String()] = true
	}
	var found []dependent
	for _, r := range rest {
		if !r.Custom || r.External || settled(r) {
			continue
		}
		d := dependent{resource: r}
		switch properties := changedBy(r, going); {
		case references[r.Provider]:
			d.keys, d.reason = []string{"provider"}, "its provider is replaced"
		case r.DeletedWith != "" && going[r.DeletedWith]:
			d.keys, d.reason = []string{"deletedWith"}, "it is deleted along with "+r.DeletedWith.Name()
		case slices.Contains(r.ReplaceWith, root.URN): // E4.59
			d.keys, d.reason = []string{"replaceWith"}, "it is replaced along with "+root.URN.Name()
		case len(properties) > 0:
			if v, ok := fated(r); ok {
				d.keys, d.reason = v.keys, v.reason
				break
			}
			replaces, keys, err := forces(r, properties)
			if err != nil {
				return nil, err
			}
			if !replaces {
				continue
			}
			d.keys, d.reason = keys, "it depends on "+root.URN.Name()+", which is replaced"
		default:
			continue
		}
		if r.Protect && !unprotected {
			return nil, &protectedError{r.URN, root.URN}
		}
		going[r.URN] = true
		if r.IsProvider() {
			references[urn.Reference{URN: r.URN, ID: r.ID}.String()] = true
		}
		if !r.PendingReplacement { // what was deleted by an earlier operation is not deleted again
			found = append(found, d)
		}
	}
	slices.Reverse(found)
	return found, nil
}

// changedBy are the properties of r that depend on one of the resources, ascending.
func changedBy(r *state.Resource, going map[urn.URN]bool) []string {
	var properties []string
	for key, deps := range r.PropertyDependencies {
		if slices.ContainsFunc(deps, func(u urn.URN) bool { return going[u] }) {
			properties = append(properties, key)
		}
	}
	slices.Sort(properties)
	return properties
}
