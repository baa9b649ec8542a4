//go:build !windows

package environ

// same reports whether two names are those of one variable.
func same(a, b string) bool { return a == b }
