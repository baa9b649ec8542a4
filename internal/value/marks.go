package value

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// marks are the secrecy and dependencies of a value. It is immutable and may be shared.
type marks struct {
	unknown bool
	secret  bool
	deps    []urn.URN // ascending, each once
}

// IsSecret reports whether the value itself is secret; parts inside may be too, see ContainsSecret.
func (v Value) IsSecret() bool { return v.marks != nil && v.marks.secret }

// Deps are the URNs that the value itself came from, ascending, each once. The caller must not modify them. Parts
// inside may have more, see AllDeps.
func (v Value) Deps() []urn.URN {
	if v.marks == nil {
		return nil
	}
	return v.marks.deps
}

// Secret returns v marked secret. The mark covers everything inside, so the parts lose marks of their own: a secret
// inside a secret would be written into a state file as a plain text below the key of a ciphertext (F4.7).
func (v Value) Secret() Value {
	if v.IsSecret() {
		return v
	}
	v = v.DeepPublic()
	return v.withMarks(marks{unknown: !v.IsKnown(), secret: true, deps: v.Deps()})
}

// Public is v without its own secret mark; parts inside keep theirs.
func (v Value) Public() Value {
	if !v.IsSecret() {
		return v
	}
	return v.withMarks(marks{unknown: !v.IsKnown(), deps: v.Deps()})
}

// DependingOn is v with more dependencies.
func (v Value) DependingOn(deps ...urn.URN) Value {
	union := unionURNs(v.Deps(), deps)
	if len(union) == len(v.Deps()) {
		return v
	}
	return v.withMarks(marks{unknown: !v.IsKnown(), secret: v.IsSecret(), deps: union})
}

// WithoutDeps is v without its own dependencies; parts inside keep theirs.
func (v Value) WithoutDeps() Value {
	if len(v.Deps()) == 0 {
		return v
	}
	return v.withMarks(marks{unknown: !v.IsKnown(), secret: v.IsSecret()})
}

// WithMarksOf is v with the secrecy and dependencies of each of from added. Being unknown is not passed on: a function
// of an unknown value records that itself.
func (v Value) WithMarksOf(from ...Value) Value {
	for _, f := range from {
		if f.marks == nil {
			continue
		}
		if f.marks.secret {
			v = v.Secret()
		}
		v = v.DependingOn(f.marks.deps...)
	}
	return v
}

// ContainsUnknown reports whether v or anything inside it is unknown.
func (v Value) ContainsUnknown() bool {
	return v.Any(func(x Value) bool { return !x.IsKnown() })
}

// ContainsSecret reports whether v or anything inside it is secret.
func (v Value) ContainsSecret() bool { return v.Any(Value.IsSecret) }

// AllDeps are the URNs that v or anything inside it came from, ascending, each once.
func (v Value) AllDeps() []urn.URN {
	var all []urn.URN
	v.Any(func(x Value) bool {
		all = append(all, x.Deps()...)
		return false
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// Bare is v with every secret mark and dependency removed, deeply; unknowns stay unknown. It is how plain text leaves
// the safe path, so call it only where secrets are meant to be seen.
func (v Value) Bare() Value {
	return v.remarked(func(m marks) marks { return marks{unknown: m.unknown} })
}

// DeepPublic is v with every secret mark removed, deeply; dependencies stay (fn::unsecret, L6.26).
func (v Value) DeepPublic() Value {
	return v.remarked(func(m marks) marks { return marks{unknown: m.unknown, deps: m.deps} })
}

// DeepWithoutDeps is v without dependencies, deeply; secrets and unknowns stay.
func (v Value) DeepWithoutDeps() Value {
	return v.remarked(func(m marks) marks { return marks{unknown: m.unknown, secret: m.secret} })
}

// remarked returns v with fewer marks, deeply. Parts that lose none are shared and not copied.
func (v Value) remarked(fewer func(marks) marks) Value {
	next, _ := v.rebuild(func(x Value) (Value, bool) {
		if x.marks != nil {
			if m := fewer(*x.marks); m.secret != x.marks.secret || len(m.deps) != len(x.marks.deps) {
				return x.withMarks(m), true
			}
		}
		return x, false
	})
	return next
}

func (v Value) withMarks(m marks) Value {
	if !m.unknown && !m.secret && len(m.deps) == 0 {
		v.marks = nil
	} else {
		v.marks = &m
	}
	return v
}

// UnknownAs returns v, which must be unknown, as one of another kind; a known v is returned as it is.
func (v Value) UnknownAs(kind Kind) Value {
	if !v.IsKnown() {
		v.kind = kind
	}
	return v
}

// UnknownFrom is an unknown value with the secrecy and dependencies of everything in from, deeply: what a function of
// those values is before they are known.
func UnknownFrom(kind Kind, from ...Value) Value {
	v := Unknown(kind)
	for _, f := range from {
		if f.ContainsSecret() {
			v = v.Secret()
		}
		v = v.DependingOn(f.AllDeps()...)
	}
	return v
}

func unionURNs(sorted, more []urn.URN) []urn.URN {
	missing := func(u urn.URN) bool {
		_, found := slices.BinarySearch(sorted, u)
		return !found
	}
	if !slices.ContainsFunc(more, missing) {
		return sorted
	}
	union := slices.Concat(sorted, more)
	slices.Sort(union)
	return slices.Compact(union)
}
