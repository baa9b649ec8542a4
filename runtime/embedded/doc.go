// Package embedded holds providers that live in this process (decision D8): command, random, std, time and tls.
//
// Each has the tokens, inputs, outputs, IDs, diffs and state of the public package whose schema it carries, so that a
// stack can move between the two. A Loader returns them by package name. All of them share one schema-driven shell,
// which checks and converts inputs, compares, previews and refuses. A provider is a table of kinds, one per resource
// type, with the type's own behaviour. The caller decides whether an installed plugin is preferred.
package embedded
