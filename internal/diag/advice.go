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
