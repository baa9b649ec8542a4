// Package keyservice opens keys of key services by URL, as the Pulumi CLI takes them (F4.11): awskms://, gcpkms://,
// azurekeyvault:// and hashivault://. Open gives a secrets.Key.
//
// The first three go through gocloud.dev; the build tag lean leaves them out because of the size of their libraries
// (docs/state.md has the figures). Vault speaks plain HTTP and is always there.
package keyservice
