// Package newproject implements the command new, which makes a project from a template. It gathers the project's
// properties (gather.go) before it writes anything (new.go). The templates are in cmd/internal/templates.
package newproject
