// Package embedded contains providers in this process (decision D8): command, random, std, time and tls.
//
// Each has the tokens, inputs, outputs, IDs, diffs and state of the public package whose schema it carries, so that a
// stack can move between the two. A Loader returns them by package name. All share one implementation driven by the
// schema, which checks and converts inputs, compares and previews. A provider is a table of kinds, one per resource
// type, with the type's own behaviour. The caller decides whether an installed plugin is preferred.
package embedded
