// Package urn builds and parses the URNs of resources.
//
// A URN has the form urn:pulumi:<stack>::<project>::<qualified type>::<name> (rules E1.1–E1.6, F1.28). The qualified
// type consists of the types of the ancestors and the resource, joined by "$"; it never contains the type of the root
// stack. The package is independent of values, state and providers.
package urn

import (
	"fmt"
	"strings"
)

// URN is the unique name of a resource. The zero value means "none".
type URN string

const (
	prefix         = "urn:pulumi:"
	delimiter      = "::"
	typeDelimiter  = "$"
	providerPrefix = "pulumi:providers:"
	// RootStackType is the type of the resource at the root of every stack (E1.6).
	RootStackType = "pulumi:pulumi:Stack"
)

// New returns a URN. parent is the parent's URN or empty; a root stack adds nothing to the qualified type (E1.3).
func New(stack, project string, parent URN, typ, name string) URN {
	ancestors, separator := parent.QualifiedType(), typeDelimiter
	if ancestors == RootStackType || parent == "" {
		ancestors, separator = "", ""
	}
	return URN(prefix + stack + delimiter + project + delimiter + ancestors + separator + typ + delimiter + name)
}

// RootStack returns the URN of the stack's own resource.
func RootStack(stack, project string) URN {
	return New(stack, project, "", RootStackType, project+"-"+stack)
}

// Parse returns s as a URN, or an error if it does not have the form of one (E1.1).
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

// Valid reports whether u has the form of a URN.
func (u URN) Valid() bool {
	_, err := Parse(string(u))
	return err == nil
}

// part returns the rest of the URN from its i-th component on: stack, project, qualified type, name. Only the first
// three delimiters separate components (E1.5).
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

// Stack returns the stack name, without organization and project (E1.2).
func (u URN) Stack() string { return u.field(0) }

// Project returns the project name.
func (u URN) Project() string { return u.field(1) }

// QualifiedType returns the types of the ancestors and the resource, joined by "$".
func (u URN) QualifiedType() string { return u.field(2) }

// Type returns the resource's own type token: the part of the qualified type after the last "$".
func (u URN) Type() string {
	q := u.QualifiedType()
	return q[strings.LastIndex(q, typeDelimiter)+1:]
}

// Name returns everything after the third delimiter; it may contain "::".
func (u URN) Name() string { return u.field(3) }

// Package returns the package of the type token, or for a provider resource the package that it provides.
func (u URN) Package() string { return PackageOf(u.Type()) }

// PackageOf returns the package that implements a type token: "random" for both "random:index/randomPet:RandomPet" and
// "pulumi:providers:random".
func PackageOf(token string) string {
	if pkg, ok := strings.CutPrefix(token, providerPrefix); ok {
		return pkg
	}
	pkg, _, _ := strings.Cut(token, ":")
	return pkg
}

// IsProviderType reports whether token is the type of a provider resource, pulumi:providers:<package>.
func IsProviderType(token string) bool { return strings.HasPrefix(token, providerPrefix) }

// ProviderType returns the type token of a package's provider resource.
func ProviderType(pkg string) string { return providerPrefix + pkg }

// IsDefaultProvider reports whether u names a default provider, which the engine creates from the configuration.
func (u URN) IsDefaultProvider() bool {
	return IsProviderType(u.Type()) && strings.HasPrefix(u.Name(), "default")
}

// Reference is a provider reference: the provider resource's URN and ID (E1.13, F1.30). The zero value means "none".
type Reference struct {
	URN URN
	ID  string
}

// String returns the text form in states and messages, <urn>::<id>, and "" for the zero value.
func (r Reference) String() string {
	if r.URN == "" {
		return ""
	}
	return string(r.URN) + delimiter + r.ID
}

// ParseReference parses the text form, which is split at its last "::".
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
