// Package bucket opens the object stores that a backend can live in, by URL, as the Pulumi CLI takes it (F6.1): s3://,
// gs:// and azblob://. Store is such a store; it implements backend.Objects.
//
// The libraries weigh more than the rest of the program (docs/state.md has the figures), so the build tag lean leaves
// them out. A URL of a store then gives an error that names the edition which has it.
//
// Opening, reading, listing and deleting go through gocloud.dev. Writing goes through the underlying client of the
// store, because only that client supports conditions on versions and returns the version that was written.
package bucket
