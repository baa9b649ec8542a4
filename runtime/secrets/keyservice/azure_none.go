//go:build !azurekeyvault

package keyservice

// azureOpener is nil: the build leaves the service out.
func azureOpener() opener { return nil }
