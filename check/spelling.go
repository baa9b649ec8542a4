package check

import (
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// warnTokenSpelling warns of a token that is found only without regard to capitals (L7.1, L1.20): other tools that
// compare tokens, such as policies, do not find it.
func (c *findings) warnTokenSpelling(written *ast.Literal, canonical string) {
	name := spelling(written.Value, canonical)
	if name == written.Value {
		return
	}
	d := diag.Diagnostic{Severity: diag.Warning, Code: diag.Capitalisation, Subject: written.Range,
		Summary: "write `" + written.Value + "` as `" + name + "`"}
	if word, ok := written.Range.Word(written.Value); ok {
		d.Fixes = []diag.Fix{{Label: "Write " + quote(name), Edits: []diag.Edit{{Range: word, Text: name}}}}
	}
	c.report(d)
}

// spelling is a token as it is written, with the capitals of the canonical token.
func spelling(written, canonical string) string {
	have, want := strings.Split(written, ":"), strings.Split(canonical, ":")
	if len(have) < 2 || len(want) != 3 || !strings.EqualFold(have[len(have)-1], want[2]) {
		return written // by an older name, or of an unusual form
	}
	have[len(have)-1] = want[2]
	if len(have) == 3 {
		module := want[1]
		for _, form := range []string{module, module[:max(0, strings.LastIndexByte(module, '/'))]} {
			if strings.EqualFold(have[1], form) {
				have[1] = form
			}
		}
	}
	return strings.Join(have, ":")
}
