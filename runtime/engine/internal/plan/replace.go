package plan

import (
	"fmt"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/runtime/state"
)

// replacement returns the steps that replace a resource (E4.54–E4.56). If the new object is created first, the old one
// is deleted at the end of the operation, when nothing refers to it any more. If the old one is deleted first, its
// dependants that must be replaced too are deleted before it; each is created again when the program registers it.
func (s *Situation) replacement() []Step {
	newStep := func(op Op) Step {
		step := NewStep(op, s.Old, s.Goal)
		step.Keys, step.Diffs, step.Detailed, step.Reason = s.Diff.Keys, s.Diff.Diffs, s.Diff.Detailed, s.Diff.Reason
		if s.Old.PendingReplacement && step.Reason == "" && len(step.Keys) == 0 {
			step.Reason = "an earlier replacement was not finished"
		}
		return step
	}
	if !s.DeleteFirst {
		return []Step{newStep(OpCreateReplacement), newStep(OpReplace)}
	}
	var steps []Step
	for _, d := range s.Dependents {
		op := OpDeleteReplaced
		if d.Resource.Delete { // E4.62
			op = OpDelete
		}
		step := NewStep(op, d.Resource, nil)
		step.Keys, step.Reason = d.Keys, d.Reason
		steps = append(steps, step)
	}
	if !s.Old.PendingReplacement { // otherwise an interrupted operation has deleted it already
		gone := newStep(OpDeleteReplaced)
		gone.New = nil
		steps = append(steps, gone)
	}
	return append(steps, newStep(OpReplace), newStep(OpCreateReplacement))
}

// protectedText returns the error for a protected resource that is to be replaced (E4.73).
func protectedText(u urn.URN) string {
	return fmt.Sprintf("unable to replace resource %q\nas it is protected. To allow it, set the option protect of the "+
		"resource to false and run again, or use `state unprotect '%s'`", u, u)
}

// describeKeys lists the properties that force a replacement with their old and new values, and hides secrets.
func (s *Situation) describeKeys() string {
	text := ""
	for _, key := range s.Diff.Keys {
		before, inOld := s.Old.Inputs.Lookup(key)
		after, inGoal := s.Goal.Inputs.Lookup(key)
		if !inOld && !inGoal { // as for a tainted resource
			continue
		}
		text += fmt.Sprintf("\n  %s: %s => %s", key, before, after)
	}
	return text
}

// Dependent is a resource that must be deleted before one of its dependencies.
type Dependent struct {
	Resource *state.Resource
	Keys     []string // its properties that force the replacement
	Reason   string
}

// ProtectedError is returned when a replacement would delete a protected resource (E4.61).
type ProtectedError struct{ Dependent, Root urn.URN }

// Error names both resources and the remedy.
func (e *ProtectedError) Error() string {
	return fmt.Sprintf("unable to replace resource %q as part of replacing %q: it is protected.\n"+
		"To allow it, remove the option protect from the resource and run again, or use `state unprotect '%s'`.",
		e.Dependent, e.Root, e.Dependent)
}

// Candidate is a resource of the state that may have to be deleted before another one.
type Candidate struct {
	Resource *state.Resource
	// Forced is the reason to replace the resource independently of its provider, as far as the state determines it;
	// Replace is false if there is none (E4.38–E4.42).
	Forced Diff
}

// Cascade finds the dependants that must be deleted before a resource (E4.58–E4.62). It runs through the state once in
// order: dependants come after their dependencies, so all causes for a candidate are known when it is its turn. A
// dependant is not always deleted: while the root is missing, the outputs that it uses are unknown, and its provider
// decides whether unknown inputs require a replacement; see Ask.
type Cascade struct {
	root        *state.Resource
	rest        []Candidate // remaining candidates, in the order of the state
	unprotected bool

	going      map[urn.URN]bool // resources that are deleted
	references map[string]bool  // references of the providers in going
	found      []Dependent
	err        error
}

// Question asks a resource's provider to compare its recorded inputs with Inputs, some of which are unknown (E4.58c).
type Question struct {
	Resource *state.Resource
	Inputs   value.Value
}

// NewCascade returns the cascade of root. candidates are the resources behind it in the state, in order, except those
// that had a step in this operation. unprotected disables protection.
func NewCascade(root *state.Resource, candidates []Candidate, unprotected bool) *Cascade {
	c := &Cascade{root: root, rest: candidates, unprotected: unprotected, going: map[urn.URN]bool{root.URN: true},
		references: map[string]bool{}}
	c.refer(root)
	return c
}

// refer records the reference of a provider that is deleted.
func (c *Cascade) refer(r *state.Resource) {
	if r.IsProvider() {
		c.references[urn.Reference{URN: r.URN, ID: r.ID}.String()] = true
	}
}

// Ask puts all questions of the cascade to compare. It returns the dependants in order of deletion, dependants first.
// compare returns the provider's answer, or nil if the resource had a step in the meantime. The error is its own
// or a *ProtectedError.
func (c *Cascade) Ask(compare func(*Question) (*provider.DiffResponse, error)) ([]Dependent, error) {
	for q := c.Next(); q != nil; q = c.Next() {
		switch answer, err := compare(q); {
		case err != nil:
			return nil, err
		case answer == nil:
			c.Skip()
		default:
			c.Answer(q, *answer)
		}
	}
	return c.Dependents()
}

// Next returns the next question, or nil at the end. Each question must be followed by Answer or Skip.
func (c *Cascade) Next() *Question {
	for len(c.rest) > 0 && c.err == nil {
		r := c.rest[0].Resource
		properties := changedBy(r, c.going)
		switch {
		case !r.Custom || r.External:
		case c.references[r.Provider]:
			c.add(r, []string{"provider"}, "its provider is replaced")
		case r.DeletedWith != "" && c.going[r.DeletedWith]:
			c.add(r, []string{"deletedWith"}, "it is deleted along with "+r.DeletedWith.Name())
		case slices.Contains(r.ReplaceWith, c.root.URN): // E4.59
			c.add(r, []string{"replaceWith"}, "it is replaced along with "+c.root.URN.Name())
		case len(properties) == 0:
		case c.rest[0].Forced.Replace:
			c.add(r, c.rest[0].Forced.Keys, c.rest[0].Forced.Reason)
		case r.PendingReplacement:
			// Its object is gone, and perhaps its provider too. When the program registers it, it is created anew and
			// its own dependants are examined.
		default:
			return &Question{Resource: r, Inputs: unknownInputs(r, properties)}
		}
		c.rest = c.rest[1:]
	}
	return nil
}

// unknownInputs returns a resource's recorded inputs with some properties unknown, except for those of ignoreChanges.
func unknownInputs(r *state.Resource, properties []string) value.Value {
	inputs := r.Inputs
	for _, key := range properties {
		inputs = inputs.With(key, value.Unknown(value.KindAny))
	}
	inputs, _ = Ignoring(r.IgnoreChanges, r.Inputs, inputs)
	return inputs
}

// Answer takes the provider's answer to the last question.
func (c *Cascade) Answer(q *Question, answer provider.DiffResponse) {
	r := q.Resource
	if d := ProviderDiff(answer, r.Inputs, q.Inputs, r.IgnoreChanges).ReplaceOn(r.ReplaceOnChanges, false); d.Replace {
		c.add(r, d.Keys, "it depends on "+c.root.URN.Name()+", which is replaced")
	}
	c.rest = c.rest[1:]
}

// Skip drops the resource of the last question, because it had a step in the meantime.
func (c *Cascade) Skip() { c.rest = c.rest[1:] }

// add adds a dependant to the cascade, with the properties by which it depends and the reason for display. A protected
// dependant makes the cascade fail.
func (c *Cascade) add(r *state.Resource, keys []string, reason string) {
	if r.Protect && !c.unprotected {
		c.err = &ProtectedError{r.URN, c.root.URN}
		return
	}
	c.going[r.URN] = true
	c.refer(r)
	if !r.PendingReplacement { // else deleted by an earlier operation
		c.found = append(c.found, Dependent{r, keys, reason})
	}
}

// Dependents returns the result in order of deletion, dependants first. Its error is a *ProtectedError.
func (c *Cascade) Dependents() ([]Dependent, error) {
	slices.Reverse(c.found)
	return c.found, c.err
}

// changedBy returns the properties of r that depend on a resource in going, in ascending order.
func changedBy(r *state.Resource, going map[urn.URN]bool) []string {
	var properties []string
	for key, deps := range r.PropertyDependencies.All() {
		if slices.ContainsFunc(deps, func(u urn.URN) bool { return going[u] }) {
			properties = append(properties, key)
		}
	}
	return properties
}
