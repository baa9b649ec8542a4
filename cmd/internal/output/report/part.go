package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/yamlhost/yamlhost/cmd/internal/output/view"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/jsontext"
	"github.com/yamlhost/yamlhost/internal/value/mask"
)

// Part opens the reports of one stack of a command with several. Streamed reports write to the reports of s: events at
// once, each with the stack's names, and text when the stack has ended. All others are written when s is finished, in
// the order of the parts' numbers. Finish the part before s. A nil set has no parts.
func (s *Set) Part(number int, project, stack, program string, began time.Time) *Set {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	subject := s.record.Subject
	subject.Project, subject.Stack, subject.Program = project, stack, program
	part := &Set{record: Record{Subject: subject, Began: began, number: number}, mask: mask.New(), parent: s,
		resultsOnly: s.resultsOnly}
	for _, out := range s.outputs {
		mine := &output{spec: out.spec, kind: out.kind, out: io.Discard}
		switch out.kind.name {
		case "events":
			mine.stream = &eventLines{out: &locked{s, out.out}, project: project, stack: stack}
		case "text":
			mine.stream = newText(&block{to: s, out: out.out, title: project + "/" + stack})
		case "json":
			mine.kind.write = func(io.Writer, *Record) error { return nil } // part of the whole document
		default:
			continue
		}
		part.outputs = append(part.outputs, mine)
	}
	return part
}

// Gather returns a set without reports, for callers that read the result of each resource in its record.
func Gather() *Set { return &Set{mask: mask.New(), resultsOnly: true} }

// join adds a finished part.
func (s *Set) join(r *Record, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || slices.Contains(s.record.Parts, r) {
		return
	}
	if fault != nil {
		s.fault(fault)
	}
	s.record.Parts = append(s.record.Parts, r)
	slices.SortFunc(s.record.Parts, func(a, b *Record) int { return a.number - b.number })
}

// locked writes to a report of a set that several goroutines write to.
type locked struct {
	to  *Set
	out io.Writer // used while to.mu is held
}

// Write writes whole lines.
func (l *locked) Write(lines []byte) (int, error) {
	l.to.mu.Lock()
	defer l.to.mu.Unlock()
	return l.out.Write(lines)
}

// block buffers a stack's report until flush, so that a log shows one stack after the other.
type block struct {
	bytes.Buffer // used while the mutex of the stack's set is held
	to           *Set
	out          io.Writer // used while to.mu is held
	title        string
}

func (b *block) flush(r *Record) error {
	b.to.mu.Lock()
	defer b.to.mu.Unlock()
	_, err := fmt.Fprintf(b.out, "── %s: %s\n%s\n", b.title, r.Headline(), strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// Quiet reports whether the operation changed nothing and has no findings.
func (r *Record) Quiet() bool { return r.Title != "" && r.changed() == 0 && len(r.Findings) == 0 }

// gather copies the findings and results of the parts into the record of the whole command.
func (r *Record) gather() {
	if len(r.Parts) == 0 {
		return
	}
	r.Project, r.Stack = "", ""
	for _, part := range r.Parts {
		r.Resources = append(r.Resources, part.Resources...)
		for _, c := range part.Counts {
			same := func(sum view.Counted) bool { return sum.Op == c.Op && sum.Words == c.Words }
			if i := slices.IndexFunc(r.Counts, same); i >= 0 {
				r.Counts[i].N += c.N
			} else {
				r.Counts = append(r.Counts, c)
			}
		}
		for _, out := range part.Outputs {
			out.Name = part.name() + " " + out.Name
			r.Outputs = append(r.Outputs, out)
		}
		r.Findings = append(r.Findings, part.Findings...)
		for _, remark := range part.Remarks {
			r.Remarks = append(r.Remarks, part.name()+": "+remark)
		}
		r.Blast.Deleted += part.Blast.Deleted
		r.Blast.Replaced += part.Blast.Replaced
		r.Blast.HoldData = append(r.Blast.HoldData, part.Blast.HoldData...)
		r.Planning = r.Planning || part.Planning
		if part.Title != "" {
			r.Title = part.Title
		}
		if part.Result == "failed" || r.Result != "failed" && part.Result == "interrupted" || r.Result == "" {
			r.Result = part.Result
		}
	}
}

// partJSON is a stack in the document of a command about several.
type partJSON struct {
	Project  string          `json:"project"`
	Stack    string          `json:"stack"`
	Result   string          `json:"result"` // name of the exit code, or skipped
	ExitCode int             `json:"exitCode"`
	Because  string          `json:"because,omitempty"` // the reason of a skip
	Seconds  float64         `json:"seconds"`
	Document json.RawMessage `json:"document,omitempty"` // the document of a command on this stack alone
}

// partsJSON is the document of a command about several stacks.
type partsJSON struct {
	Result   string     `json:"result"` // name of the exit code
	ExitCode int        `json:"exitCode"`
	Stacks   []partJSON `json:"stacks"`
}

// writeParts writes the document of a command about several stacks.
func writeParts(w io.Writer, r *Record) error {
	document := partsJSON{Result: r.Exit.Name, ExitCode: r.Exit.Code}
	for _, part := range r.Parts {
		p := partJSON{Project: part.Project, Stack: part.Stack, Result: part.Exit.Name, ExitCode: part.Exit.Code,
			Because: part.Skipped, Seconds: part.Took.Seconds()}
		if part.Skipped != "" {
			p.Result = "skipped"
		} else {
			var text bytes.Buffer
			if err := writeJSONDocument(&text, part); err != nil {
				return err
			}
			p.Document = text.Bytes()
		}
		document.Stacks = append(document.Stacks, p)
	}
	return jsontext.Write(w, document, "  ")
}

// markdownParts writes a table of stacks, followed by those with changes or findings.
func markdownParts(b *strings.Builder, r *Record, f fold) {
	b.WriteString("\n| | stack | | |\n|---|---|---|---|\n")
	for i, part := range r.Parts {
		if i == max(f.rows, 200) {
			fmt.Fprintf(b, "| | and %s more | | |\n", diag.Count(len(r.Parts)-i, "stack"))
			break
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", part.mark(), code(part.name()), escape(part.Headline()),
			view.Seconds(part.Took))
	}
	for _, part := range r.Parts {
		if part.Skipped != "" || part.Exit.Code == 0 && part.changed() == 0 && len(part.Findings) == 0 {
			continue
		}
		text := markdown(part, f)
		if f.rows == 0 {
			continue // the table suffices
		}
		fmt.Fprintf(b, "\n<details><summary>%s %s</summary>\n\n%s\n</details>\n", part.mark(), elementText(part.name()), text)
	}
}

// mark returns the sign for the result of a stack or command.
func (r *Record) mark() string {
	switch {
	case r.Skipped != "":
		return "⏭️"
	case r.Exit.Code != 0:
		return "❌"
	case r.Planning && r.changed() > 0:
		return "📝"
	}
	return "✅"
}

// Skip finishes a part that was not begun, with the reason why.
func (s *Set) Skip(why string, now time.Time) error {
	s.note(func(r *Record) { r.Skipped = why })
	return s.Finish(Exit{Name: "skipped"}, now)
}
