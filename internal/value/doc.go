// Package value defines Value, the type of all program values in yamlhost.
//
// A Value is immutable and total: no method panics, whatever the kind. It is null, a bool, a number (an IEEE double), a
// string (of arbitrary bytes), a list, a map with string keys, an asset, an archive or a reference to a resource. Each
// value, and each value inside it, may be unknown or secret, and carries the URNs of the resources that it depends on.
//
// The package is independent of wire formats, files and schemas. Its central types are Value, Asset, Archive and
// ResourceRef.
package value
