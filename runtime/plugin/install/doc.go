// Package install finds, downloads, verifies, unpacks and removes plugins and policy packs in the folders of the Pulumi
// home directory, which the Pulumi CLI shares (rules F2.25–F2.35). It starts none of them and knows no protocol.
//
// A folder counts as an installation only when it is complete: while it is filled, a file with the ending .partial lies
// beside it, and other processes take the folder for absent. A lock file beside it lets one process install at a time.
// The project's lock file (LockFile) holds the version, checksum and publisher's key that a plugin must have.
package install
