// Package newproject has the command line of new, which makes a project from a template: it gathers the project's
// properties (gather.go) before it writes anything (new.go). The templates are in cmd/internal/templates.
package newproject
