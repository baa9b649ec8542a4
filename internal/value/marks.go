package value

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// marks holds the marks of a value. It is immutable and may be shared.
type marks struct {
	secret bool
	deps   []urn.URN // ascending, without duplicates
}

// IsSecret reports whether the value itself is secret; parts inside may be too, see ContainsSecret.
func (v Value) IsSecret() bool { return v.marks != nil && v.marks.secret }

// Deps returns the URNs that the value itself depends on, ascending and without duplicates. The caller must not modify
// them. Parts inside may have more, see AllDeps.
func (v Value) Deps() []urn.URN {
	if v.marks == nil {
		return nil
	}
	return v.marks.deps
}

// Secret returns v marked secret. The mark covers everything inside, so marks inside are removed: a state file would
// contain the plaintext of a secret inside a secret (F4.7).
func (v Value) Secret() Value {
	if v.IsSecret() {
		return v
	}
	v = v.DeepPublic()
	return v.withMarks(marks{secret: true, deps: v.Deps()})
}

// Public returns v without its own secret mark; parts inside keep theirs.
func (v Value) Public() Value {
	if !v.IsSecret() {
		return v
	}
	return v.withMarks(marks{deps: v.Deps()})
}

// DependingOn returns v with additional dependencies.
func (v Value) DependingOn(deps ...urn.URN) Value {
	union := unionURNs(v.Deps(), deps)
	if len(union) == len(v.Deps()) {
		return v
	}
	return v.withMarks(marks{secret: v.IsSecret(), deps: union})
}

// WithoutDeps returns v without its own dependencies; parts inside keep theirs.
func (v Value) WithoutDeps() Value {
	if len(v.Deps()) == 0 {
		return v
	}
	return v.withMarks(marks{secret: v.IsSecret()})
}

// WithMarksOf returns v with the secrecy and dependencies of sources added. It does not make v unknown: a function of
// an unknown value returns an unknown itself.
func (v Value) WithMarksOf(sources ...Value) Value {
	for _, f := range sources {
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

// AllDeps returns the URNs that v or anything inside it depends on, ascending and without duplicates.
func (v Value) AllDeps() []urn.URN {
	var all []urn.URN
	v.Any(func(x Value) bool {
		all = append(all, x.Deps()...)
		return false
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// Bare returns v without secret marks and dependencies, deeply; unknowns stay unknown. The result exposes secrets, so
// call it only where they are meant to be seen.
func (v Value) Bare() Value {
	return v.remarked(func(marks) marks { return marks{} })
}

// DeepPublic returns v without secret marks, deeply; dependencies stay (fn::unsecret, L6.26).
func (v Value) DeepPublic() Value {
	return v.remarked(func(m marks) marks { return marks{deps: m.deps} })
}

// DeepWithoutDeps returns v without dependencies, deeply; secrets and unknowns stay.
func (v Value) DeepWithoutDeps() Value {
	return v.remarked(func(m marks) marks { return marks{secret: m.secret} })
}

// remarked returns v with all marks mapped by fewer. Unchanged parts are shared, not copied.
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
	if !m.secret && len(m.deps) == 0 {
		v.marks = nil
	} else {
		v.marks = &m
	}
	return v
}

// UnknownAs returns an unknown v with another kind, and a known v unchanged.
func (v Value) UnknownAs(kind Kind) Value {
	if !v.IsKnown() {
		v.payload = kind
	}
	return v
}

// UnknownFrom returns an unknown value with the secrecy and dependencies of sources, deeply: the result of a function
// whose arguments are not known yet.
func UnknownFrom(kind Kind, sources ...Value) Value {
	v := Unknown(kind)
	for _, f := range sources {
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
