package parser

import (
	"fmt"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// maxFindings is the maximum number of errors, and of warnings, about one text.
const maxFindings = 1000

// findings collects the diagnostics about a text, up to maxFindings of each severity.
type findings struct {
	diags diag.Diagnostics
	found [diag.Warning + 1]int // errors and warnings so far
}

// report adds a diagnostic and returns a pointer to it, so that the caller can set more fields. The pointer is valid
// until the next report.
func (f *findings) report(severity diag.Severity, code diag.Code, rng diag.Range, detail, format string,
	args ...any) *diag.Diagnostic {
	if severity <= diag.Warning {
		if f.found[severity]++; f.found[severity] > maxFindings {
			return &diag.Diagnostic{}
		}
	}
	f.diags.Add(diag.Diagnostic{
		Severity: severity, Code: code, Subject: rng, Detail: detail, Summary: fmt.Sprintf(format, args...),
	})
	return &f.diags[len(f.diags)-1]
}

// addAll adds diagnostics, up to the limit.
func (f *findings) addAll(diags ...diag.Diagnostic) {
	for _, d := range diags {
		if d.Severity <= diag.Warning {
			if f.found[d.Severity]++; f.found[d.Severity] > maxFindings {
				continue
			}
		}
		f.diags.Add(d)
	}
}

func (f *findings) fail(code diag.Code, rng diag.Range, detail, format string, args ...any) *diag.Diagnostic {
	return f.report(diag.Error, code, rng, detail, format, args...)
}

func (f *findings) warn(code diag.Code, rng diag.Range, detail, format string, args ...any) *diag.Diagnostic {
	return f.report(diag.Warning, code, rng, detail, format, args...)
}

// slash makes a path one with slashes, and warns of others. A nil path stays.
func (f *findings) slash(path *ast.Literal) {
	if path == nil {
		return
	}
	var found *diag.Diagnostic
	if path.Value, found = diag.Slashed(path.Range, path.Value); found != nil {
		f.addAll(*found)
	}
}

// portability reports the use of a feature that only yamlhost has (decision D6). Such findings are shown only on
// request.
func (f *findings) portability(rng diag.Range, format string, args ...any) {
	f.report(diag.Portability, diag.YamlhostOnly, rng, "", format+" is understood by yamlhost only", args...)
}

// takeFrom removes and returns the diagnostics from an index on. They still count towards the limit.
func (f *findings) takeFrom(index int) diag.Diagnostics {
	taken := append(diag.Diagnostics(nil), f.diags[index:]...)
	f.diags = f.diags[:index]
	return taken
}

// limited returns the diagnostics without the errors and warnings that exceed maxFindings.
func limited(diags diag.Diagnostics) diag.Diagnostics {
	var found [diag.Warning + 1]int
	kept := diags[:0:0]
	for _, d := range diags {
		if d.Severity <= diag.Warning {
			if found[d.Severity]++; found[d.Severity] > maxFindings {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

// bad returns a node for something that has been reported.
func bad(rng diag.Range) ast.Expr { return &ast.Bad{Place: ast.Place{At: rng}} }
