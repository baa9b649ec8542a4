//go:build !windows

package environ

// same reports whether two names denote the same variable.
func same(a, b string) bool { return a == b }
