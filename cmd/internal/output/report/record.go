package report

import (
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
)

// Exit is the result of a command.
type Exit struct {
	Code int
	Name string // of the code, such as ok or locked
	Text string // the error that was shown; empty if the findings are sufficient
}

// Subject identifies the project and the stack of a command.
type Subject struct {
	Command string // such as preview
	Version string // of this program
	Project string
	Stack   string
	// Program is the file that findings without a place are attached to, relative to the working directory.
	Program string
	// Root is the folder of the repository according to the CI system, to which places of findings are relative. Empty
	// for the working directory.
	Root string
	Dir  string // the working directory, absolute
}

// Case is the result of one case of a test file.
type Case struct {
	File, Name string
	Took       time.Duration
	Failures   diag.Diagnostics // without secrets
}

// Record is the content of all reports of a command. It is complete and immutable when a kind receives it.
type Record struct {
	Subject
	Began     time.Time
	Took      time.Duration
	Exit      Exit
	Title     string // of the last operation, such as Updating; empty without one
	Planning  bool   // the last operation was only planned
	Result    string // of the last operation: succeeded, failed, interrupted; empty if it did not end
	Resources []view.Resource
	Counts    []view.Counted
	Outputs   []view.Output
	Blast     view.BlastRadius // what a plan destroys
	Findings  []view.Finding   // of the program and of the operation, each once, without secrets
	Origin    Origin
	Remarks   []string // sentences of the command about its result, such as ignored drift

	// Cases are the cases of tests.
	Cases []Case

	// Parts are the stacks of a command with several; the other members then cover all of them.
	Parts   []*Record
	Skipped string // the reason why this part was not begun; empty if it was

	digest *Digest // nil without a JSON report
	number int     // of a part, in the order of the parts
}

// finish adds the results of the last operation. With resultsOnly it omits changes of properties, which take longest to
// compute.
func (r *Record) finish(l *view.Outline, m *mask.Masker, resultsOnly bool) {
	if l != nil {
		r.Title, r.Stack = l.Title(), l.Stack()
		if resultsOnly {
			r.Resources = l.Outcomes()
		} else {
			r.Resources = l.Resources()
		}
		r.Counts, r.Outputs = l.Counts(), l.Outputs()
		if s := l.Summary(); s != nil {
			r.Planning, r.Result = s.Planning, s.Ended()
		} else if len(r.Resources) > 0 {
			r.Planning = r.Resources[0].Outcome == view.Planned
		}
		if r.Planning {
			r.Blast = *l.Blast()
		}
		for _, f := range l.Findings() {
			r.add(f)
		}
	}
	if text := strings.TrimSpace(r.Exit.Text); text != "" {
		summary, detail, _ := strings.Cut(text, "\n")
		r.add(view.Finding{Diagnostic: diag.Diagnostic{Severity: diag.Error, Summary: summary, Detail: detail}})
	}
	for i := range r.Findings {
		r.Findings[i].Diagnostic = hidden(m, r.Findings[i].Diagnostic)
	}
}

// add adds a finding unless the record has it already.
func (r *Record) add(f view.Finding) {
	for _, other := range r.Findings {
		if other.Code == f.Code && other.Summary == f.Summary && other.Subject == f.Subject &&
			(f.URN == "" || other.URN == f.URN) {
			return
		}
	}
	r.Findings = append(r.Findings, f)
}

// hidden returns a finding with secrets masked in its texts, the excerpt and the fixes.
func hidden(m *mask.Masker, d diag.Diagnostic) diag.Diagnostic {
	if m == nil || m.Empty() {
		return d
	}
	d.Summary, d.Detail = m.Hide(d.Summary), m.Hide(d.Detail)
	d.Related = append([]diag.Related(nil), d.Related...)
	for i := range d.Related {
		d.Related[i].Message = m.Hide(d.Related[i].Message)
	}
	if !d.Subject.IsZero() {
		for line := d.Subject.StartPosition().Line; line <= d.Subject.EndPosition().Line; line++ {
			if text := string(d.Subject.Source.Line(line)); m.Hide(text) != text {
				d.Confidential = true
			}
		}
	}
	for _, fix := range d.Fixes {
		for _, edit := range fix.Edits {
			if m.Hide(edit.Text) != edit.Text {
				d.Fixes = nil
			}
		}
	}
	return d
}

// diagnostics returns the diagnostics of the findings.
func (r *Record) diagnostics() diag.Diagnostics {
	ds := make(diag.Diagnostics, 0, len(r.Findings))
	for _, f := range r.Findings {
		ds.Add(f.Diagnostic)
	}
	return ds
}

// textOf returns a finding as text with at most hints lines of advice; 0 for all.
func textOf(d diag.Diagnostic, hints int) string {
	var b strings.Builder
	_ = diag.WriteText(&b, diag.Diagnostics{d}, diag.TextOptions{Hints: hints}) // a Builder never fails
	return b.String()
}

// changed counts changed resources.
func (r *Record) changed() (n int) {
	for range view.Changed(r.Resources) {
		n++
	}
	return n
}

// sentences returns what a plan destroys, followed by the remarks.
func (r *Record) sentences() []string {
	if head, text := r.Blast.Sentence(r.Counts); text != "" {
		return append([]string{head + " " + text}, r.Remarks...)
	}
	return r.Remarks
}

// Headline describes the result of a stack or command in one line.
func (r *Record) Headline() string {
	if r.Skipped != "" {
		return r.Skipped
	}
	var parts []string
	for _, c := range r.Counts {
		parts = append(parts, view.Figure(c.N)+" "+c.Words)
	}
	for _, c := range view.Incomplete(r.Resources) {
		parts = append(parts, view.Figure(c.N)+" "+c.Words)
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", ")
	}
	if r.Title != "" && r.Exit.Code == 0 {
		return "nothing to do"
	}
	return r.severities()
}

// severities returns the numbers of errors and warnings, in words.
func (r *Record) severities() string {
	errors, warnings := 0, 0
	for _, f := range r.Findings {
		switch f.Severity {
		case diag.Error:
			errors++
		case diag.Warning, diag.Portability:
			warnings++
		}
	}
	return diag.Count(errors, "error") + ", " + diag.Count(warnings, "warning")
}

// name returns the name of the command's subject in a report.
func (r *Record) name() string {
	switch {
	case r.Project != "" && r.Stack != "":
		return r.Project + "/" + r.Stack
	case r.Project != "":
		return r.Project
	}
	return r.Program
}
