package environ

import "strings"

// same reports whether two names are those of one variable: their case does not matter on this system.
func same(a, b string) bool { return strings.EqualFold(a, b) }
