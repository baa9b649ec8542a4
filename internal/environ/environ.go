// Package environ looks up variables in an environment that the caller passes. Below cmd, no package reads the
// environment of the process.
package environ

import "strings"

// List is an environment in the format of os.Environ: NAME=text. If a name occurs twice, the later entry counts.
type List []string

// Lookup returns a variable's text and reports whether the variable is set.
func (l List) Lookup(name string) (string, bool) {
	for i := len(l) - 1; i >= 0; i-- {
		if key, text, found := strings.Cut(l[i], "="); found && Same(key, name) {
			return text, true
		}
	}
	return "", false
}

// Home returns the user's home folder, or "" if it is not known. Windows names it USERPROFILE.
func (l List) Home() string {
	if home := l.Get("HOME"); home != "" {
		return home
	}
	return l.Get("USERPROFILE")
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
