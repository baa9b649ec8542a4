package types

import (
	"fmt"

	"github.com/yamlhost/yamlhost/schema"
)

// Assignability of types (L8.C), with the conversions at the boundary to providers (L8.40, L8.41). fit.go checks
// literals entry by entry and uses this file for everything else.

// mismatch describes why a value of one type is not assignable to another. It is a linked list: inner is the deeper
// cause.
type mismatch struct {
	member string // of the wanted type, to which inner applies; "[ ]" for an item; empty in the last element
	reason string // of the last element only
	inner  *mismatch
}

// deepest returns the innermost cause and the path of members to it.
func (m *mismatch) deepest() (path, reason string) {
	for ; m.inner != nil; m = m.inner {
		switch {
		case m.member == itemStep:
			path += m.member
		case path == "":
			path = m.member
		default:
			path += "." + m.member
		}
	}
	return path, m.reason
}

const itemStep = "[*]"

// pair is a comparison in progress. Recursive types lead back to it, where it is assumed to hold.
type pair struct{ to, from *schema.Object }

// assigner decides assignability. It serves one comparison: asking holds the pairs that are assumed to be assignable. A
// new comparison needs a new one: what was assumed in the last is not known to hold.
type assigner struct {
	strict bool // without conversions between text, numbers and booleans
	known  func(schema.Type) schema.Type
	asking map[pair]bool
}

// mismatched returns the mismatch of two types as a whole.
func mismatched(want, got schema.Type) *mismatch {
	return &mismatch{reason: fmt.Sprintf("expected %s, got %s", schema.TypeName(want), schema.TypeName(got))}
}

// assign returns nil if a value of type got is assignable to want. The order matters. Open types accept and suit
// everything, so that one fault has one finding. Null comes before Required takes the option away. A union that is
// given is divided before one that is wanted: each alternative must find a place, not all of them the same one. Only
// then does the wanted type decide.
func (a *assigner) assign(want, got schema.Type) *mismatch {
	if want == schema.Any || want == schema.Invalid || want == schema.JSON || got == schema.Any ||
		got == schema.Invalid {
		return nil
	}
	if got == schema.Null {
		if _, optional := want.(*schema.Optional); optional || want == schema.Null {
			return nil
		}
		return mismatched(want, got)
	}
	// A type of another package is replaced by its definition on both sides, so that equal ones are equal by pointer.
	want, got = a.known(schema.Required(want)), a.known(schema.Required(got))
	if want == got {
		return nil
	}
	switch from := got.(type) {
	case *schema.Union:
		return a.assignUnion(want, from)
	case *schema.Token:
		if t, ok := want.(*schema.Token); ok && t.Token == from.Token {
			return nil
		}
		return a.assign(want, from.Underlying)
	// An enum is its own type or, for anything else, a value of its base.
	case *schema.Enum:
		if t, ok := want.(*schema.Enum); ok && t.Token == from.Token && t.Token != "" {
			return nil
		}
		if _, ok := want.(*schema.Union); !ok {
			return a.assign(want, from.Base)
		}
	}
	switch want := want.(type) {
	case schema.Primitive:
		return a.assignPrimitive(want, got)
	case *schema.Token:
		return a.assign(want.Underlying, got)
	case *schema.Enum:
		// Which value it is cannot be known from a type; fitEnum compares literals.
		if m := a.assign(want.Base, got); m != nil {
			return mismatched(want, got)
		}
		return nil
	case *schema.Union:
		return a.assignAny(want, got)
	case *schema.Array:
		if have, ok := got.(*schema.Array); ok {
			if m := a.assign(want.Item, have.Item); m != nil {
				return &mismatch{member: itemStep, inner: m}
			}
			return nil
		}
	case *schema.Map:
		return a.assignMap(want, got)
	case *schema.Object:
		return a.assignObject(want, got)
	case *schema.ResourceType:
		if from, ok := got.(*schema.ResourceType); got == schema.AnyResource || ok && want.Token == from.Token {
			return nil
		}
	}
	return mismatched(want, got)
}

// assignUnion requires every alternative of the value's type to be assignable. A value that only may be wrong is
// refused, too: the program would fail in some run.
func (a *assigner) assignUnion(want schema.Type, got *schema.Union) *mismatch {
	for _, member := range got.Members {
		if m := a.assign(want, member); m != nil {
			_, reason := m.deepest()
			if m.inner == nil {
				return &mismatch{reason: fmt.Sprintf("%s: it may be %s", mismatched(want, got).reason, typeWithArticle(member))}
			}
			// The path is cut to one step: a message about one alternative of several names only where it begins.
			m.inner.reason = reason
			return m
		}
	}
	return nil
}

// assignAny requires at least one alternative of the wanted type to accept the value. If exactly one has the value's
// shape, its mismatch is returned. A mismatch with an inner part has the right outer shape, such as a list of wrong
// items, and so was probably meant.
func (a *assigner) assignAny(want *schema.Union, got schema.Type) *mismatch {
	var reason *mismatch
	candidates := 0
	for _, member := range want.Members {
		m := a.assign(member, got)
		if m == nil {
			return nil
		}
		if m.inner != nil {
			reason = m
			candidates++
		}
	}
	if candidates == 1 {
		return reason
	}
	return mismatched(want, got)
}

// assignPrimitive decides about a wanted type without parts. Which conversions exist is decided by the provider's side:
// it converts texts, numbers and booleans into each other, and the language itself does not.
func (a *assigner) assignPrimitive(want schema.Primitive, got schema.Type) *mismatch {
	if _, ok := got.(*schema.ResourceType); ok {
		if want == schema.AnyResource || want == schema.String && !a.strict {
			return nil // L8.11: its ID is sent
		}
		return mismatched(want, got)
	}
	p, ok := got.(schema.Primitive)
	if !ok {
		return mismatched(want, got)
	}
	// JSON is a text where a text is taken.
	if p == schema.JSON {
		p = schema.String
	}
	fits := false
	switch want {
	case schema.String:
		fits = p == schema.String ||
			!a.strict && (p == schema.Number || p == schema.Integer || p == schema.Bool || p == schema.AnyResource)
	case schema.Number, schema.Integer:
		fits = p == schema.Number || p == schema.Integer || !a.strict && p == schema.String
	case schema.Bool:
		fits = p == schema.Bool || !a.strict && p == schema.String
	case schema.Asset:
		// An archive can be sent wherever an asset can; an asset is no archive.
		fits = p == schema.Asset || p == schema.Archive
	default:
		fits = p == want
	}
	if fits {
		return nil
	}
	return mismatched(want, got)
}

// assignMap decides about a wanted map. Every member of an object must fit, as any of them can be asked for.
func (a *assigner) assignMap(want *schema.Map, got schema.Type) *mismatch {
	switch from := got.(type) {
	case *schema.Map:
		if m := a.assign(want.Item, from.Item); m != nil {
			return &mismatch{member: itemStep, inner: m}
		}
		return nil
	case *schema.Object:
		if want.Item == schema.Any || want.Item == schema.Invalid {
			return nil
		}
		for _, p := range from.Properties() {
			if p.Type == schema.Null {
				continue // left out (L3.13)
			}
			if m := a.assign(want.Item, p.Type); m != nil {
				return &mismatch{member: p.Name, inner: m}
			}
		}
		return nil
	}
	return mismatched(want, got)
}

// assignObject decides about a wanted object. A map may have any member or none: each must fit if it is there, and none
// is missing for certain. Of an object, unknown members are a fault only where the wanted type is closed, and missing
// ones only where the given type is.
func (a *assigner) assignObject(want *schema.Object, got schema.Type) (fault *mismatch) {
	switch from := got.(type) {
	case *schema.Map:
		for _, p := range want.Properties() {
			if m := a.assign(schema.OptionalOf(p.Type), from.Item); m != nil {
				return &mismatch{member: p.Name, inner: m}
			}
		}
		return nil
	case *schema.Object:
		// Objects with the same token are the same definition, perhaps of two loads of the package.
		if want.Token != "" && want.Token == from.Token {
			return nil
		}
		question := pair{want, from}
		if a.asking[question] {
			return nil
		}
		if a.asking == nil {
			a.asking = make(map[pair]bool)
		}
		// It stays after success, since the same comparison succeeds again.
		a.asking[question] = true
		defer func() {
			if fault != nil {
				delete(a.asking, question) // a failed comparison must not be assumed to hold
			}
		}()
		for _, p := range from.Properties() {
			wantedProperty := want.Property(p.Name)
			if wantedProperty == nil {
				if want.Closed {
					return &mismatch{member: p.Name, inner: &mismatch{reason: "there is no such member"}}
				}
				continue
			}
			if m := a.assign(wantedProperty.Type, p.Type); m != nil {
				return &mismatch{member: p.Name, inner: m}
			}
		}
		for _, p := range want.Properties() {
			// A constant is filled in where the value is sent.
			if p.Required && p.Const == nil && from.Property(p.Name) == nil && from.Closed {
				return &mismatch{member: p.Name, inner: &mismatch{reason: "it is missing"}}
			}
		}
		return nil
	}
	return mismatched(want, got)
}
