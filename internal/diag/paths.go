package diag

import "strings"

// Slashed returns a path in a text of the user as every system reads it, with slashes. If it has backslashes, which only
// Windows takes for separators, found is a warning about them.
func Slashed(rng Range, path string) (slashed string, found *Diagnostic) {
	slashed = strings.ReplaceAll(path, `\`, "/")
	if slashed == path {
		return path, nil
	}
	found = &Diagnostic{Severity: Warning, Code: FileAccess, Subject: rng, Summary: Quoted(path) +
		" has backslashes, which separate names on Windows only", Detail: "write `" + slashed + "`"}
	if rng.Text() == path {
		found.Fixes = []Fix{{Label: "Change to " + slashed, Edits: []Edit{{Range: rng, Text: slashed}}}}
	}
	return slashed, found
}
