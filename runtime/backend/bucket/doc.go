// Package bucket opens object stores for backends by the URLs of the Pulumi CLI (F6.1): s3://, gs:// and azblob://.
//
// The libraries weigh more than the rest of the program (docs/state.md has the figures), so the build tag lean leaves
// them out. A URL of a store then gives an error that names the edition which has it.
//
// S3 and Azure are opened, read, listed and deleted from through gocloud.dev. Writing goes through the underlying
// client of the store, because only that client supports conditions on versions and returns the version that was
// written. Google Cloud Storage has a client of its own; see gsStore.
package bucket
