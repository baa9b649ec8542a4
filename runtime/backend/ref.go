package backend

import (
	"fmt"
	"path"
	"strings"
)

// organization is the only owner that a stack in a folder can have (F6.14).
const organization = "organization"

// Ref names a stack of a project.
type Ref struct{ Project, Stack string }

// QualifiedName returns the full name that state files and workspaces use (F5.1).
func (r Ref) QualifiedName() string { return path.Join(organization, r.Project, r.Stack) }

func (r Ref) String() string { return r.QualifiedName() }

// ParseRef reads stack, organization/stack or organization/project/stack (F6.14). project stands in where the text
// names none.
func ParseRef(text, project string) (Ref, error) {
	parts := strings.Split(text, "/")
	r := Ref{Project: project, Stack: parts[len(parts)-1]}
	switch {
	case len(parts) > 3:
		return Ref{}, fmt.Errorf("%q is not a name of a stack: expected stack, organization/stack or "+
			"organization/project/stack",
			text)
	case len(parts) > 1 && parts[0] != organization:
		return Ref{}, fmt.Errorf(
			"%q is not a name of a stack in this backend: the part before the first slash has to be %q",
			text, organization)
	case len(parts) == 3:
		r.Project = parts[1]
	}
	return r, r.check()
}

// check keeps names to what F6.14 allows, which also keeps them inside of the backend's folder.
func (r Ref) check() error {
	if problem := badName(r.Stack); problem != "" {
		return fmt.Errorf("%q cannot be the name of a stack: %s", r.Stack, problem)
	}
	if problem := badName(r.Project); problem != "" {
		return fmt.Errorf("%q cannot be the name of a project: %s", r.Project, problem)
	}
	return nil
}

// badName says what is wrong with a name; empty for nothing.
func badName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > 100:
		return "it is longer than 100 characters"
	case name == "." || name == "..":
		return "it would name a folder"
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-') {
			return fmt.Sprintf("it may have letters, digits, underscores, dots and hyphens, and not %q", c)
		}
	}
	return ""
}
