package diag

import (
	"cmp"
	"slices"
	"strings"
)

// Severity is the importance of a diagnostic, from Error down.
type Severity uint8

// The severities. An error prevents the program from running. A hint is for editors only. Portability findings are
// shown only on request (decision D6).
const (
	Error Severity = iota
	Warning
	Info
	Hint
	Portability
)

var severityNames = [...]string{"error", "warning", "info", "hint", "portability"}

// String returns the severity's name in lower case.
func (s Severity) String() string { return severityNames[min(int(s), len(severityNames)-1)] }

// Diagnostic is a finding about a text.
type Diagnostic struct {
	Severity Severity
	Code     Code   // stable, e.g. Y203
	Summary  string // one line, without a full stop
	Detail   string // how to solve the problem; may be empty or have several lines
	Subject  Range  // where the problem is; zero if it has no place in a text
	Related  []Related
	Fixes    []Fix
	// Confidential reports whether the text at Subject must not be shown, such as a password that somebody forgot to
	// encrypt. The position is printed, but the line is not.
	Confidential bool
}

// Text returns the summary, and the detail on further lines.
func (d Diagnostic) Text() string {
	if d.Detail == "" {
		return d.Summary
	}
	return d.Summary + "\n" + d.Detail
}

// Related is another range that belongs to a diagnostic, such as an earlier declaration.
type Related struct {
	Range   Range
	Message string
}

// Fix is a change to the text that solves the problem. A certain fix never changes which thing is meant: the text
// differs from what is right in a form that the language defines, in capitals or in separators, so that it cannot be
// right under another version of a schema, in another stack or on another machine.
type Fix struct {
	Label string
	Edits []Edit
	// Guess marks a fix that is not certain. People may choose it; nothing applies it unasked.
	Guess bool
}

// Edit replaces the text of a range.
type Edit struct {
	Range Range
	Text  string
}

// Diagnostics is a list of findings. The zero value is empty and ready for use; it is not safe for concurrent use.
type Diagnostics []Diagnostic

// Add appends findings.
func (ds *Diagnostics) Add(d ...Diagnostic) { *ds = append(*ds, d...) }

// HasErrors reports whether any finding is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Discreet returns a finding whose messages have no text that its places hide. Its edits stay as they are.
func (d Diagnostic) Discreet() Diagnostic {
	ranges := []Range{d.Subject}
	for _, r := range d.Related {
		ranges = append(ranges, r.Range)
	}
	texts := hiddenTexts(ranges...)
	if len(texts) == 0 {
		return d
	}
	d.Summary, d.Detail = without(d.Summary, texts), without(d.Detail, texts)
	d.Related, d.Fixes = slices.Clone(d.Related), slices.Clone(d.Fixes)
	for i := range d.Related {
		d.Related[i].Message = without(d.Related[i].Message, texts)
	}
	for i := range d.Fixes {
		d.Fixes[i].Label = without(d.Fixes[i].Label, texts)
	}
	return d
}

// Sorted returns a copy ordered by source name, position, severity and code, without secrets in messages. Findings with
// the same code, range and summary occur once (Appendix A).
func (ds Diagnostics) Sorted() Diagnostics {
	sorted := make(Diagnostics, len(ds))
	for i, d := range ds {
		sorted[i] = d.Discreet()
	}
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Subject.name(), b.Subject.name()),
			cmp.Compare(a.Subject.Start, b.Subject.Start),
			cmp.Compare(a.Subject.End, b.Subject.End),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Summary, b.Summary),
		)
	})
	return slices.CompactFunc(sorted, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.Subject == b.Subject && a.Summary == b.Summary
	})
}

// Folded returns a copy in the order of Sorted, in which all findings of one source that say the same of one thing are
// merged: Capitalisation warnings, and steps into a value that has none. A merged finding is at the first of the
// ranges; the others are related ranges, and its fix corrects all of them. What is wrong with the place of a text comes
// before a warning about what stands in it, which becomes its way out.
func Folded(ds Diagnostics) Diagnostics {
	type spelling struct {
		source  *Source
		summary string
	}
	first := make(map[spelling]int)
	folded := make(Diagnostics, 0, len(ds))
	for _, d := range ds.Sorted() {
		if n := len(folded) - 1; n >= 0 && d.Severity == Warning && d.Code == BadInterpolation &&
			folded[n].Severity == Error && folded[n].Subject.Source == d.Subject.Source &&
			folded[n].Subject.Contains(int(d.Subject.Start)) {
			folded[n].Detail = d.Detail
			continue
		}
		key := spelling{d.Subject.Source, d.Summary}
		i, again := first[key]
		merged := d.Severity == Warning && d.Code == Capitalisation ||
			d.Code == NotIndexable && !strings.HasPrefix(d.Summary, "this ") // which has no name
		if !merged || d.Subject.IsZero() {
			folded = append(folded, d)
			continue
		}
		if !again {
			first[key] = len(folded)
			d.Related = append([]Related(nil), d.Related...)
			if len(d.Fixes) > 0 {
				d.Fixes = []Fix{{Label: d.Fixes[0].Label, Edits: append([]Edit(nil), d.Fixes[0].Edits...),
					Guess: d.Fixes[0].Guess}}
			}
			folded = append(folded, d)
			continue
		}
		f := &folded[i]
		f.Related = append(f.Related, Related{Range: d.Subject, Message: "and here"})
		switch {
		case len(d.Fixes) == 0:
		case len(f.Fixes) == 0:
			f.Fixes = d.Fixes
		default:
			f.Fixes[0].Edits = append(f.Fixes[0].Edits, d.Fixes[0].Edits...)
			f.Fixes[0].Guess = f.Fixes[0].Guess || d.Fixes[0].Guess
		}
	}
	return folded
}
