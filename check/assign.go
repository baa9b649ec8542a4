package check

import (
	"fmt"

	"github.com/yamlhost/yamlhost/schema"
)

// Assignability of types (L8.C), the conversions at the boundary to providers included (L8.40, L8.41). How literals
// fit, entry by entry, is in fit.go, which falls back to this.

// mismatch says why a value of one type cannot stand where another is wanted. It is a chain: inner is the deeper cause.
type mismatch struct {
	member string // of to, in which inner is the cause; "[ ]" for an item; empty at the end of the chain
	reason string // at the end of the chain
	inner  *mismatch
}

// deepest is the last cause of the chain and the path of members that leads to it.
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

// pair is a question that is being asked further up: types may refer to themselves, and what holds everywhere else
// holds there too.
type pair struct{ to, from *schema.Object }

// assigner answers questions of assignability.
type assigner struct {
	strict bool // without conversions between text, numbers and booleans
	known  func(schema.Type) schema.Type
	asking map[pair]bool
}

func wanted(to, from schema.Type) *mismatch {
	return &mismatch{reason: fmt.Sprintf("expected %s, got %s", schema.TypeName(to), schema.TypeName(from))}
}

// assign answers nil when a value of type from may stand where to is wanted.
func (a *assigner) assign(to, from schema.Type) *mismatch {
	if to == schema.Any || to == schema.Invalid || to == schema.JSON || from == schema.Any || from == schema.Invalid {
		return nil
	}
	if from == schema.Null {
		if _, optional := to.(*schema.Optional); optional || to == schema.Null {
			return nil
		}
		return wanted(to, from)
	}
	to, from = a.known(schema.Required(to)), a.known(schema.Required(from))
	if to == from {
		return nil
	}
	switch from := from.(type) {
	case *schema.Union:
		return a.assignUnion(to, from)
	case *schema.Token:
		if t, ok := to.(*schema.Token); ok && t.Token == from.Token {
			return nil
		}
		return a.assign(to, from.Underlying)
	case *schema.Enum:
		if t, ok := to.(*schema.Enum); ok && t.Token == from.Token && t.Token != "" {
			return nil
		}
		if _, ok := to.(*schema.Union); !ok {
			return a.assign(to, from.Base)
		}
	}
	switch to := to.(type) {
	case schema.Primitive:
		return a.assignPrimitive(to, from)
	case *schema.Token:
		return a.assign(to.Underlying, from)
	case *schema.Enum:
		if m := a.assign(to.Base, from); m != nil {
			return wanted(to, from)
		}
		return nil
	case *schema.Union:
		return a.assignAny(to, from)
	case *schema.Array:
		if from, ok := from.(*schema.Array); ok {
			if m := a.assign(to.Item, from.Item); m != nil {
				return &mismatch{member: itemStep, inner: m}
			}
			return nil
		}
	case *schema.Map:
		return a.assignMap(to, from)
	case *schema.Object:
		return a.assignObject(to, from)
	case *schema.ResourceType:
		switch from := from.(type) {
		case *schema.ResourceType:
			if to.Token == from.Token {
				return nil
			}
		case schema.Primitive:
			if from == schema.AnyResource {
				return nil
			}
		}
	}
	return wanted(to, from)
}

// assignUnion wants every alternative of the value's type to fit.
func (a *assigner) assignUnion(to schema.Type, from *schema.Union) *mismatch {
	for _, member := range from.Members {
		if m := a.assign(to, member); m != nil {
			_, reason := m.deepest()
			if m.inner == nil {
				return &mismatch{reason: fmt.Sprintf("%s: it may be %s", wanted(to, from).reason, typeWithArticle(member))}
			}
			m.inner.reason = reason
			return m
		}
	}
	return nil
}

// assignAny wants at least one alternative of the wanted type to take the value. When only one of them is of the
// value's shape, its reason is the one to tell.
func (a *assigner) assignAny(to *schema.Union, from schema.Type) *mismatch {
	var reason *mismatch
	candidates := 0
	for _, member := range to.Members {
		m := a.assign(member, from)
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
	return wanted(to, from)
}

func (a *assigner) assignPrimitive(to schema.Primitive, from schema.Type) *mismatch {
	if _, ok := from.(*schema.ResourceType); ok {
		if to == schema.AnyResource || to == schema.String && !a.strict {
			return nil // L8.11: its ID is sent
		}
		return wanted(to, from)
	}
	p, ok := from.(schema.Primitive)
	if !ok {
		return wanted(to, from)
	}
	if p == schema.JSON {
		p = schema.String
	}
	fits := false
	switch to {
	case schema.String:
		fits = p == schema.String ||
			!a.strict && (p == schema.Number || p == schema.Integer || p == schema.Bool || p == schema.AnyResource)
	case schema.Number, schema.Integer:
		fits = p == schema.Number || p == schema.Integer || !a.strict && p == schema.String
	case schema.Bool:
		fits = p == schema.Bool || !a.strict && p == schema.String
	case schema.Asset:
		fits = p == schema.Asset || p == schema.Archive
	default:
		fits = p == to
	}
	if fits {
		return nil
	}
	return wanted(to, from)
}

func (a *assigner) assignMap(to *schema.Map, from schema.Type) *mismatch {
	switch from := from.(type) {
	case *schema.Map:
		if m := a.assign(to.Item, from.Item); m != nil {
			return &mismatch{member: itemStep, inner: m}
		}
		return nil
	case *schema.Object:
		if to.Item == schema.Any || to.Item == schema.Invalid {
			return nil
		}
		for _, p := range from.Properties() {
			if p.Type == schema.Null {
				continue // left out (L3.13)
			}
			if m := a.assign(to.Item, p.Type); m != nil {
				return &mismatch{member: p.Name, inner: m}
			}
		}
		return nil
	}
	return wanted(to, from)
}

func (a *assigner) assignObject(to *schema.Object, from schema.Type) (fault *mismatch) {
	switch from := from.(type) {
	case *schema.Map:
		for _, p := range to.Properties() {
			if m := a.assign(schema.OptionalOf(p.Type), from.Item); m != nil {
				return &mismatch{member: p.Name, inner: m}
			}
		}
		return nil
	case *schema.Object:
		if to.Token != "" && to.Token == from.Token {
			return nil
		}
		question := pair{to, from}
		if a.asking[question] {
			return nil
		}
		if a.asking == nil {
			a.asking = make(map[pair]bool)
		}
		a.asking[question] = true
		defer func() {
			if fault != nil {
				delete(a.asking, question) // what did not hold must not count as assumed
			}
		}()
		for _, p := range from.Properties() {
			wantedProperty := to.Property(p.Name)
			if wantedProperty == nil {
				if to.Closed {
					return &mismatch{member: p.Name, inner: &mismatch{reason: "there is no such member"}}
				}
				continue
			}
			if m := a.assign(wantedProperty.Type, p.Type); m != nil {
				return &mismatch{member: p.Name, inner: m}
			}
		}
		for _, p := range to.Properties() {
			if p.Required && p.Const == nil && from.Property(p.Name) == nil && from.Closed {
				return &mismatch{member: p.Name, inner: &mismatch{reason: "it is missing"}}
			}
		}
		return nil
	}
	return wanted(to, from)
}
