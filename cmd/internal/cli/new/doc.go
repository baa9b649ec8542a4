// Package newproject has the command line of new, which makes a project from a template: it gathers what the project is
// to be (gather.go) before it writes anything (new.go). The templates are in cmd/internal/templates.
package newproject
