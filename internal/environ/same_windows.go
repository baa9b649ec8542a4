package environ

import "strings"

// same reports whether two names denote the same variable; Windows ignores case.
func same(a, b string) bool { return strings.EqualFold(a, b) }
