// Package embedded holds providers that live in this process (decision D8): command, random, std, time and tls.
//
// Each has the tokens, inputs, outputs, IDs, diffs and state of the public package whose schema it carries, so that a
// stack can move between the two. A Loader gives them out by package name. What is the same for all of them is one
// schema-driven shell: it checks and converts inputs, compares, previews and refuses; a provider is a table of kinds,
// one per resource type, that say what is special. Whether an installed plugin is preferred is not decided here.
package embedded
