package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Advice describes in one line what to do about errors: how many of the findings `check --fix` corrects, and which
// codes `explain` tells more of. It is empty where no finding is an error or can be fixed.
func Advice(ds Diagnostics) string {
	var codes []string
	fixable := 0
	for _, d := range ds {
		if len(d.Fixes) > 0 {
			fixable++
		}
		if d.Severity == Error && d.Code != "" && !slices.Contains(codes, string(d.Code)) {
			codes = append(codes, string(d.Code))
		}
	}
	var parts []string
	if fixable > 0 {
		parts = append(parts, fmt.Sprintf("%d fixable with --fix of `yamlhost check`", fixable))
	}
	switch len(codes) {
	case 0:
	case 1:
		parts = append(parts, fmt.Sprintf("`yamlhost explain %s` says more", codes[0]))
	default:
		const most = 5
		named := strings.Join(codes[:min(most, len(codes))], ", ")
		if len(codes) > most {
			named += ", …"
		}
		parts = append(parts, fmt.Sprintf("`yamlhost explain CODE` says more, of %s", named))
	}
	return strings.Join(parts, "; ")
}

// Count is a number with its noun, such as "1 item" or "2 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Shorten cuts a text to a number of characters, and marks with … that something is missing.
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
