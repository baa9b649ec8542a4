//go:build !azblob

package bucket

// azureOpener is nil: the build leaves these stores out.
func azureOpener() opener { return nil }
