package diag

import "slices"

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
		return compareChain(
			func() int { return compare(sourceName(a), sourceName(b)) },
			func() int { return compare(a.Subject.Start, b.Subject.Start) },
			func() int { return compare(a.Subject.End, b.Subject.End) },
			func() int { return compare(a.Severity, b.Severity) },
			func() int { return compare(a.Code, b.Code) },
			func() int { return compare(a.Summary, b.Summary) },
		)
	})
	return slices.CompactFunc(sorted, func(a, b Diagnostic) bool {
		return a.Code == b.Code && a.Subject == b.Subject && a.Summary == b.Summary
	})
}

func sourceName(d Diagnostic) string {
	if d.Subject.Source == nil {
		return ""
	}
	return d.Subject.Source.Name()
}

func compare[T int32 | string | Severity | Code](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareChain(steps ...func() int) int {
	for _, step := range steps {
		if c := step(); c != 0 {
			return c
		}
	}
	return 0
}
