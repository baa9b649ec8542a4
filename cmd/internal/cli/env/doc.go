// Package env implements the command env, which shows, edits and opens the environments of a project. They are files of
// the project, or documents at the service that keeps its stacks (environments.Options.Hosted).
package env
