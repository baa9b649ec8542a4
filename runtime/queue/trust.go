//go:build !lean

package queue

import (
	"slices"
	"strings"
)

// Allows reports whether a list of sources has a job's: the URL of a repository, one that begins so and goes on behind
// a slash, or the word archive.
func Allows(list []string, s Source) bool {
	for _, entry := range list {
		base := strings.TrimSuffix(entry, "/")
		if s.Archive != "" && entry == "archive" || s.Git != "" && (s.Git == base || strings.HasPrefix(s.Git, base+"/")) {
			return true
		}
	}
	return false
}

// Retry reports whether a command that ended with a code may be run again by itself: it began nothing, or what it
// began has ended. One that left something in flight (10) waits for a person, and a plan that failed (14) for a change.
func Retry(command string, code int) bool {
	return slices.Contains([]int{9, 14, 15, 18, 19}, code) && !(code == 14 && command == "preview")
}
