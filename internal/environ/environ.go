// Package environ looks up variables in an environment that the caller passes. Below cmd, no package reads the
// environment of the process.
package environ

import "strings"

// List is an environment in the format of os.Environ: NAME=text. If a name occurs twice, the later entry counts.
type List []string

// Lookup returns a variable's text and reports whether the variable is set.
func (l List) Lookup(name string) (string, bool) {
	for i := len(l) - 1; i >= 0; i-- {
		if text, found := strings.CutPrefix(l[i], name); found && strings.HasPrefix(text, "=") {
			return text[1:], true
		}
	}
	return "", false
}

// Get returns a variable's text, or "" if the variable is not set.
func (l List) Get(name string) string {
	text, _ := l.Lookup(name)
	return text
}

// True reports whether a boolean variable is on (F7.15).
func (l List) True(name string) bool {
	text := l.Get(name)
	return text == "1" || text == "true"
}
