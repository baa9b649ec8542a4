// Package install finds, downloads, verifies, unpacks and removes plugins and policy packs in the folders of the Pulumi
// home directory, which the Pulumi CLI shares (rules F2.25–F2.35). It starts none of them and knows no protocol.
//
// An installation is a folder that is complete from one moment to the next: beside a folder that is being filled lies a
// mark, and whoever finds the mark takes the folder for absent. A lock file beside it keeps other processes out. What a
// plugin must be is said by the project's lock file (LockFile): its version, checksum and publisher's key.
package install
