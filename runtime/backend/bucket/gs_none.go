//go:build !gs

package bucket

// gsOpener is nil: the build leaves these stores out.
func gsOpener() opener { return nil }
