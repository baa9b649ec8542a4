package diag

import "strings"

// Slashed returns a path in a text of the user as every system reads it, with slashes. If it has backslashes, which
// only Windows takes for separators, found is a warning about them. The range has the path, in quotes or without.
func Slashed(rng Range, path string) (slashed string, found *Diagnostic) {
	slashed = strings.ReplaceAll(path, `\`, "/")
	if slashed == path {
		return path, nil
	}
	found = &Diagnostic{Severity: Warning, Code: FileAccess, Subject: rng, Summary: "`" + Excerpt(path) +
		"` has backslashes, which separate names on Windows only", Detail: "write `" + slashed + "`"}
	for quote, inside := range map[string]string{"": path, "'": path, `"`: strings.ReplaceAll(path, `\`, `\\`)} {
		if rng.Text() == quote+inside+quote && !strings.ContainsAny(path, "'\"") {
			found.Fixes = []Fix{{Label: "Change to " + slashed, Edits: []Edit{{Range: rng, Text: quote + slashed + quote}}}}
		}
	}
	return slashed, found
}
