package environ

import "strings"

// same reports whether two names name the same variable: case does not matter on this system.
func same(a, b string) bool { return strings.EqualFold(a, b) }
