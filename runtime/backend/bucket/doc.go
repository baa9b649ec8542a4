// Package bucket opens the object stores that a backend can live in, by URL, as the Pulumi CLI takes it (F6.1): s3://, gs://
// and azblob://. Store is such a store; it implements backend.Objects.
//
// Each kind of store is behind a build tag, because its library weighs more than the rest of the program: docs/state.md
// has the figures. A URL whose store was left out gives an error that says how to get it.
//
// Opening, reading, listing and deleting go through gocloud.dev. Writing goes through the client that is behind it: only
// that knows conditions on versions and tells the version that was written.
package bucket
