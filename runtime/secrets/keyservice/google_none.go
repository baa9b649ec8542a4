//go:build !gcpkms

package keyservice

// googleOpener is nil: the build leaves the service out.
func googleOpener() opener { return nil }
