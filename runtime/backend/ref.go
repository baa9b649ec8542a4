package backend

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/yamlhost/yamlhost/internal/osfile"
)

// organization is the only owner that a stack in a folder can have (F6.14).
const organization = "organization"

// Ref names a stack of a project.
type Ref struct {
	Project, Stack string
	// Owner is the organization whose stack it is in a service; empty elsewhere.
	Owner string
	// legacy is a stack of the layout without projects (F6.5).
	legacy bool
}

// Organization returns the owner as programs and files know it (F6.14).
func (r Ref) Organization() string { return cmp.Or(r.Owner, organization) }

// QualifiedName returns the full name that state files and workspaces use (F5.1).
func (r Ref) QualifiedName() string {
	if r.legacy {
		return r.Stack
	}
	return path.Join(r.Organization(), r.Project, r.Stack)
}

func (r Ref) String() string { return r.QualifiedName() }

// ParseRef reads the name of a stack: stack, organization/stack or organization/project/stack (F6.14). project is used
// if the text names none, and in a service the user's default organization, which the service may have to be asked for.
// Other backends have only one organization.
func (b *Backend) ParseRef(text, project string) (Ref, error) {
	r, err := ParseName(text, project)
	switch {
	case err != nil:
		return Ref{}, err
	case b.service == nil && r.Owner != "":
		return Ref{}, fmt.Errorf(
			"%q is not a name of a stack in this backend: the part before the first slash has to be %q",
			text, organization)
	case b.service != nil && r.Owner == "":
		r.Owner, err = b.service.Organization(context.Background())
	}
	return r, err
}

// ParseName is ParseRef for no backend in particular: the owner is empty if it is the usual one.
func ParseName(text, project string) (Ref, error) {
	parts := strings.Split(text, "/")
	r := Ref{Project: project, Stack: parts[len(parts)-1]}
	switch {
	case len(parts) > 3:
		return Ref{}, fmt.Errorf("%q is not a name of a stack: expected stack, organization/stack or "+
			"organization/project/stack",
			text)
	case len(parts) > 1 && parts[0] == "":
		return Ref{}, fmt.Errorf("%q is not a name of a stack: nothing stands before the first slash", text)
	case len(parts) == 3:
		r.Project = parts[1]
	}
	if len(parts) > 1 && parts[0] != organization {
		r.Owner = parts[0]
	}
	return r, r.check()
}

// check returns an error for names that F6.14 does not allow. Allowed names also stay inside of the backend's folder.
func (r Ref) check() error {
	if problem := badName(r.Stack); problem != "" {
		return fmt.Errorf("%q cannot be the name of a stack: %s", r.Stack, problem)
	}
	if problem := badName(r.Project); problem != "" && !r.legacy {
		return fmt.Errorf("%q cannot be the name of a project: %s", r.Project, problem)
	}
	if problem := badName(r.Organization()); problem != "" {
		return fmt.Errorf("%q cannot be the name of an organization: %s", r.Owner, problem)
	}
	return nil
}

// CheckNew returns an error for a name that may be read but not be given to a stack, because a backend may be shared
// with Windows. Commands that write anything before they make a stack call it first.
func (r Ref) CheckNew() error {
	if problem := osfile.Reserved(r.Stack); problem != "" {
		return fmt.Errorf("%q cannot be the name of a stack: %s", r.Stack, problem)
	}
	if problem := osfile.Reserved(r.Project); problem != "" {
		return fmt.Errorf("%q cannot be the name of a project with stacks: %s", r.Project, problem)
	}
	return nil
}

// badName describes the fault of a name; empty if there is none.
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
