// Package env has the command line of env: environments of a project.
package env
