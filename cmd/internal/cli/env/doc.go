// Package env implements the command env, which manages the environments of a project.
package env
