package diag

import (
	"cmp"
	"slices"
)

// Severity orders diagnostics by how much they matter.
type Severity uint8

// The severities. An error stops the program from running; a hint is for editors only; portability findings are silent
// unless asked for (decision D6).
const (
	Error Severity = iota
	Warning
	Info
	Hint
	Portability
)

var severityNames = [...]string{"error", "warning", "info", "hint", "portability"}

// String is the severity's name in output.
func (s Severity) String() string { return severityNames[min(int(s), len(severityNames)-1)] }

// Diagnostic is one thing to tell about a text.
type Diagnostic struct {
	Severity Severity
	Code     Code   // stable, e.g. Y203
	Summary  string // fits on a line, no full stop
	Detail   string // what to do about it; may have several lines; may be empty
	Subject  Range  // what to point at; zero when the text is not known
	Related  []Related
	Fixes    []Fix
	// Confidential reports whether the text at Subject must not be shown, such as a password that somebody forgot to
	// encrypt: the place is named, but the line is not printed.
	Confidential bool
}

// Related is another place that belongs to a diagnostic, such as an earlier declaration.
type Related struct {
	Range   Range
	Message string
}

// Fix is a change of text that is certain to be right.
type Fix struct {
	Label string
	Edits []Edit
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

// Sorted is a copy in the order of source name, place, severity and code, with each finding (same code, same range,
// same summary) once (Appendix A).
func (ds Diagnostics) Sorted() Diagnostics {
	sorted := slices.Clone(ds)
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

// Folded is a copy in which all warnings of one old or odd spelling in one text are one finding, at the first of its
// places and with the others as related ones; its fix mends all of them. Everything else stays, in the order of Sorted.
func Folded(ds Diagnostics) Diagnostics {
	type spelling struct {
		source  *Source
		summary string
	}
	first := make(map[spelling]int)
	folded := make(Diagnostics, 0, len(ds))
	for _, d := range ds.Sorted() {
		key := spelling{d.Subject.Source, d.Summary}
		i, again := first[key]
		if d.Severity != Warning || d.Code != Capitalisation || d.Subject.IsZero() {
			folded = append(folded, d)
			continue
		}
		if !again {
			first[key] = len(folded)
			d.Related = append([]Related(nil), d.Related...)
			if len(d.Fixes) > 0 {
				d.Fixes = []Fix{{Label: d.Fixes[0].Label, Edits: append([]Edit(nil), d.Fixes[0].Edits...)}}
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
		}
	}
	return folded
}
