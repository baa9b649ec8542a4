// Package embedded implements providers that run in this process (decision D8): command, random, std, time and tls.
//
// Each provider has the tokens, inputs, outputs, IDs, diffs, state and schema of the public package, so that a stack
// can switch between the two. NewLoader returns a loader that finds them by package name. All share one implementation,
// shell, which uses the schema to check and convert inputs, to compare and to preview. A provider is a table of kinds,
// one per resource type, with the behaviour of that type. The caller decides whether an installed plugin is preferred.
package embedded
