package environ

import "strings"

// Same reports whether two names denote the same variable; Windows ignores case.
func Same(a, b string) bool { return strings.EqualFold(a, b) }
