// Package environments evaluates environments, the documents of Pulumi ESC: configuration, environment variables and
// files that stacks share. Options opens those that are files of a project and those in settings files of stacks, with
// the evaluator of Pulumi ESC. It neither reads the process's environment nor starts anything by itself.
package environments
