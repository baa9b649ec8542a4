// Package urn builds and takes apart the names of resources.
//
// A URN reads urn:pulumi:<stack>::<project>::<qualified type>::<name> (rules E1.1–E1.6, F1.28). The qualified type is
// the chain of parent types joined by "$"; the type of the root stack never takes part in it. The package knows names
// only: nothing of values, state or providers.
package urn

import (
	"fmt"
	"strings"
)

// URN is the full name of a resource. The zero value means "none".
type URN string

const (
	prefix         = "urn:pulumi:"
	delimiter      = "::"
	typeDelimiter  = "$"
	providerPrefix = "pulumi:providers:"
	// RootStackType is the type of the resource at the root of every stack (E1.6).
	RootStackType = "pulumi:pulumi:Stack"
)

// New builds a URN. parent is the parent's URN or empty; a root stack parent adds nothing to the type chain (E1.3).
func New(stack, project string, parent URN, typ, name string) URN {
	ancestors, separator := parent.QualifiedType(), typeDelimiter
	if ancestors == RootStackType || parent == "" {
		ancestors, separator = "", ""
	}
	return URN(prefix + stack + delimiter + project + delimiter + ancestors + separator + typ + delimiter + name)
}

// RootStack is the URN of the stack's own resource.
func RootStack(stack, project string) URN {
	return New(stack, project, "", RootStackType, project+"-"+stack)
}

// Parse checks that s has the shape of a URN (E1.1).
func Parse(s string) (URN, error) {
	if !strings.HasPrefix(s, prefix) {
		return "", fmt.Errorf("%q is not a URN: it does not start with %q", s, prefix)
	}
	if strings.Count(s, delimiter) < 3 {
		return "", fmt.Errorf("%q is not a URN: it needs a stack, a project, a type and a name, separated by %q", s,
			delimiter)
	}
	return URN(s), nil
}

// Valid reports whether u has the shape of a URN.
func (u URN) Valid() bool {
	_, err := Parse(string(u))
	return err == nil
}

// part returns everything from the i-th of stack, project, qualified type and name on; only the first three delimiters
// split (E1.5).
func (u URN) part(i int) string {
	rest := strings.TrimPrefix(string(u), prefix)
	for ; i > 0; i-- {
		var found bool
		if _, rest, found = strings.Cut(rest, delimiter); !found {
			return ""
		}
	}
	return rest
}

func (u URN) field(i int) string {
	rest := u.part(i)
	if i < 3 {
		rest, _, _ = strings.Cut(rest, delimiter)
	}
	return rest
}

// Stack is the bare stack name (E1.2).
func (u URN) Stack() string { return u.field(0) }

// Project is the project name.
func (u URN) Project() string { return u.field(1) }

// QualifiedType is the type chain, ancestors first, joined by "$".
func (u URN) QualifiedType() string { return u.field(2) }

// Type is the resource's own type token: what follows the last "$" of the qualified type.
func (u URN) Type() string {
	q := u.QualifiedType()
	return q[strings.LastIndex(q, typeDelimiter)+1:]
}

// Name is everything after the third delimiter; it may hold "::" itself.
func (u URN) Name() string { return u.field(3) }

// Package is the first part of the type token, or for a provider resource the package that it provides.
func (u URN) Package() string { return PackageOf(u.Type()) }

// PackageOf is the package that implements a type token: "random" for "random:index/randomPet:RandomPet" and for
// "pulumi:providers:random".
func PackageOf(token string) string {
	if pkg, ok := strings.CutPrefix(token, providerPrefix); ok {
		return pkg
	}
	pkg, _, _ := strings.Cut(token, ":")
	return pkg
}

// IsProviderType reports whether token names a provider resource, pulumi:providers:<package>.
func IsProviderType(token string) bool { return strings.HasPrefix(token, providerPrefix) }

// ProviderType is the type token of the provider resource of a package.
func ProviderType(pkg string) string { return providerPrefix + pkg }

// IsDefaultProvider reports whether it names a provider that an engine makes by itself, of the stack's configuration.
func (u URN) IsDefaultProvider() bool {
	return IsProviderType(u.Type()) && strings.HasPrefix(u.Name(), "default")
}

// Reference is a provider reference: the provider resource's URN and ID (E1.13, F1.30). The zero value means "none".
type Reference struct {
	URN URN
	ID  string
}

// String is the form kept in state and sent on the wire: <urn>::<id>. It is empty for the zero value.
func (r Reference) String() string {
	if r.URN == "" {
		return ""
	}
	return string(r.URN) + delimiter + r.ID
}

// ParseReference reads the text form, which splits at its last "::".
func ParseReference(s string) (Reference, error) {
	i := strings.LastIndex(s, delimiter)
	if i < 0 {
		return Reference{}, fmt.Errorf("%q is not a provider reference: expected <urn>::<id>", s)
	}
	u, err := Parse(s[:i])
	if err != nil {
		return Reference{}, fmt.Errorf("%q is not a provider reference: %w", s, err)
	}
	if !IsProviderType(u.Type()) {
		return Reference{}, fmt.Errorf("%q is not a provider reference: its type is %q, not %s<package>", s, u.Type(),
			providerPrefix)
	}
	return Reference{URN: u, ID: s[i+len(delimiter):]}, nil
}
