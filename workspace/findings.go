package workspace

import (
	"slices"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// onceEach joins findings: at one position an error of first wins over one of second, and an error over everything that
// matters less. One fault has one diagnostic (D7).
func onceEach(first, second diag.Diagnostics) diag.Diagnostics {
	start := func(d diag.Diagnostic) diag.Range { d.Subject.End = 0; return d.Subject }
	errorsOf := func(ds diag.Diagnostics) (places map[diag.Range]bool, broken map[*diag.Source]bool) {
		places, broken = map[diag.Range]bool{}, map[*diag.Source]bool{}
		for _, d := range ds {
			if d.Severity == diag.Error && !d.Subject.IsZero() {
				places[start(d)] = true
				broken[d.Subject.Source] = broken[d.Subject.Source] || d.Code == diag.Syntax || d.Code == diag.RunawayInput
			}
		}
		return places, broken
	}
	taken, broken := errorsOf(first)
	wanted, _ := errorsOf(second)
	// A value of the stack that does not match its declaration is reported at the value, with the declaration as a
	// related place.
	type fault struct {
		place diag.Range
		code  diag.Code
	}
	told := map[fault]bool{}
	for _, d := range second {
		for _, related := range d.Related {
			told[fault{start(diag.Diagnostic{Subject: related.Range}), d.Code}] = true
		}
	}
	var all diag.Diagnostics
	for _, d := range first {
		if (d.Severity == diag.Error || !wanted[start(d)]) && !told[fault{start(d), d.Code}] {
			all.Add(d)
		}
	}
	for _, d := range second {
		if !taken[start(d)] && !within(first, d) && !(d.Code == diag.Syntax && broken[d.Subject.Source]) {
			all.Add(d)
		}
	}
	return all
}

// within reports whether an error of findings is about a part of another error's subject, with the same fault.
func within(findings diag.Diagnostics, d diag.Diagnostic) bool {
	return d.Code == diag.ConfigDefault && slices.ContainsFunc(findings, func(f diag.Diagnostic) bool {
		return f.Code == d.Code && f.Subject.Source == d.Subject.Source && d.Subject.Start <= f.Subject.Start &&
			f.Subject.End <= d.Subject.End
	})
}
