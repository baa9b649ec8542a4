package state

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// IntegrityError is returned when a snapshot breaks a rule for snapshots (E6.43–E6.49, E6.32).
type IntegrityError struct {
	Rule    string  // E6.43 to E6.49, or E6.32
	URN     urn.URN // the resource at fault; empty for the snapshot as a whole
	Problem string  // message for the user
}

// Error names the resource and describes the problem.
func (e *IntegrityError) Error() string {
	if e.URN == "" {
		return "the state is not sound: " + e.Problem
	}
	return fmt.Sprintf("the state is not sound: resource %s: %s", e.URN, e.Problem)
}

// Verify returns an *IntegrityError for the first broken rule. It takes linear time. It does not check pending
// operations.
func (s *Snapshot) Verify() error {
	for fault := range s.faults() {
		return fault
	}
	return nil
}

// Faults returns all broken rules, at most one per resource.
func (s *Snapshot) Faults() []*IntegrityError { return slices.Collect(s.faults()) }

// faults yields the broken rules, at most one per resource.
func (s *Snapshot) faults() iter.Seq[*IntegrityError] {
	return func(yield func(*IntegrityError) bool) {
		if want := magicOf(s.Manifest.Version); s.Manifest.Magic != want && s.Manifest.Magic+s.Manifest.Version != "" {
			if !yield(&IntegrityError{Rule: "E6.43", Problem: fmt.Sprintf(
				"its manifest names the version %q but its magic is not the one "+
					"of that version; the file was damaged or edited by hand", s.Manifest.Version)}) {
				return
			}
		}
		v := verifier{
			seen:      make(map[urn.URN]bool, len(s.Resources)),
			providers: map[string]bool{},
		}
		for _, r := range s.Resources {
			fault := v.resource(s, r)
			v.seen[r.URN] = v.seen[r.URN] || !r.Delete
			if r.IsProvider() {
				v.providers[urn.Reference{URN: r.URN, ID: r.ID}.String()] = true
			}
			if fault != nil && !yield(fault) {
				return
			}
		}
		if fault := verifySnippets(s.Snippets); fault != nil {
			yield(fault)
		}
	}
}

type verifier struct {
	seen      map[urn.URN]bool // URNs seen so far; true if a resource not pending deletion has the URN
	providers map[string]bool  // references to the providers seen so far
}

func (v *verifier) resource(s *Snapshot, r *Resource) *IntegrityError {
	fault := func(rule, format string, args ...any) *IntegrityError {
		return &IntegrityError{Rule: rule, URN: r.URN, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.URN == "":
		return &IntegrityError{Rule: "E6.44", Problem: fmt.Sprintf("a resource of type %q has no URN", r.Type)}
	case !r.URN.Valid():
		return fault("E6.44", "its URN is malformed: it should look like urn:pulumi:stack::project::type::name")
	case r.Type == "":
		return fault("E6.44", "it has no type")
	case !r.Custom && r.ID != "":
		return fault("E6.45", "it is a component and yet has the ID %q", r.ID)
	}
	if r.Provider != "" && !r.PendingReplacement {
		ref, err := urn.ParseReference(r.Provider)
		if err != nil {
			return fault("E6.46", "its provider %q is not a provider reference", r.Provider)
		}
		if !v.providers[r.Provider] {
			return fault("E6.46", "its provider %s with the ID %q %s", ref.URN, ref.ID, where(s, func(p *Resource) bool {
				return p.URN == ref.URN && p.ID == ref.ID
			}))
		}
	}
	if broken := v.references(s, r, fault); broken != nil {
		return broken
	}
	if v.seen[r.URN] && !r.Delete {
		return fault("E6.48", "it is listed twice, and neither entry is a pending delete")
	}
	return nil
}

// references checks E6.47, in the order in which the fields are written.
func (v *verifier) references(s *Snapshot, r *Resource,
	fault func(rule, format string, args ...any) *IntegrityError) *IntegrityError {
	sound := true
	r.AllDependencies(func(u urn.URN) {
		_, ok := v.seen[u]
		sound = sound && ok
	})
	if sound {
		return nil
	}
	var broken *IntegrityError
	r.MapURNs(func(ref Ref) urn.URN {
		_, ok := v.seen[ref.URN]
		if ok || broken != nil || ref.Kind == RefProvider || ref.Kind == RefViewOf {
			return ref.URN
		}
		what := "its " + string(ref.Kind)
		switch ref.Kind {
		case RefProperty:
			what = fmt.Sprintf("the dependency of its property %q,", ref.Property)
		case RefDeletedWith:
			what = "the resource that it is deleted with,"
		case RefReplaceWith:
			what = "the resource that it is replaced with,"
		}
		if ref.URN == r.URN {
			broken = fault("E6.47", "%s is itself", what)
		} else {
			broken = fault("E6.47", "%s %s %s", what, ref.URN, where(s, func(p *Resource) bool { return p.URN == ref.URN }))
		}
		return ref.URN
	})
	return broken
}

// where describes the position of a referenced resource, for errors: later in the list, or missing.
func where(s *Snapshot, match func(*Resource) bool) string {
	if slices.ContainsFunc(s.Resources, match) {
		return "comes after it in the list, not before"
	}
	return "is not in the state"
}

func verifySnippets(raw json.RawMessage) *IntegrityError {
	if len(raw) == 0 {
		return nil
	}
	var snippets []struct {
		UUID string `json:"uuid"`
	}
	if err := json.Unmarshal(raw, &snippets); err != nil {
		return &IntegrityError{Rule: "E6.49", Problem: "its snippets are not a list of objects"}
	}
	seen := map[string]bool{}
	for _, s := range snippets {
		if seen[s.UUID] {
			return &IntegrityError{Rule: "E6.49", Problem: fmt.Sprintf("two snippets have the identity %q", s.UUID)}
		}
		seen[s.UUID] = true
	}
	return nil
}
