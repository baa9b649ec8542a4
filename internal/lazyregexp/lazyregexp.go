// Package lazyregexp compiles regular expressions at their first use, so that starting a command does not pay for the
// ones that it never uses.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression, which must be valid. The first call compiles it. The
// function is safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
