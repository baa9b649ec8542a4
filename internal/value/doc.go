// Package value holds the one type that program values have everywhere in yamlhost.
//
// A Value is immutable and total: no method panics, whatever the kind. It is null, a bool, a number (an IEEE double), a
// string (bytes kept exactly), a list, a map with string keys, an asset, an archive or a reference to a resource. Each
// value, and each value inside it, may be unknown, may be secret, and carries the URNs of the resources it came from.
//
// The package knows nothing of wires, files or schemas. Value, Asset, Archive and ResourceRef are its central types.
package value
