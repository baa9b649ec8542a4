// Package keyservice opens keys of key services by the URLs of the Pulumi CLI (F4.11): awskms://, gcpkms://,
// azurekeyvault:// and hashivault://.
//
// The first three use gocloud.dev; the build tag lean leaves them out because of the size of their libraries
// (docs/state.md has the figures). Vault uses plain HTTP and is always included.
package keyservice
