package view

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/mask"
	"github.com/yamlhost/yamlhost/runtime/engine"
)

// messageLines bounds what is shown of a message: a failed command's output, for one, has many.
const messageLines = 20

// message shows a message like any other finding, and returns that.
func (r *report) message(w io.Writer, m *engine.Message) diag.Diagnostic {
	d := r.finding(m)
	if r.o.Found != nil {
		r.o.Found(d)
	}
	// Writing to a terminal that is gone is nothing that could be told to anybody.
	_ = diag.WriteText(w, diag.Diagnostics{d}, diag.TextOptions{
		Color: r.o.Color, Width: r.o.Width, Hints: messageLines, Hide: r.mask.Hide})
	io.WriteString(w, "\n")
	return d
}

// finding turns a message into a diagnostic: with the place of the resource in the user's text, where it is known.
func (r *report) finding(m *engine.Message) diag.Diagnostic {
	summary, detail, _ := strings.Cut(strings.TrimRight(m.Text, "\n"), "\n")
	summary = r.mask.Hide(summary)
	if m.URN != "" && !strings.Contains(summary, m.URN.Name()) {
		summary = m.URN.Name() + ": " + summary
	}
	subject := r.place(m.Position, m.End)
	if m.Property != "" && !subject.IsZero() && r.o.Property != nil {
		if rng, found := r.o.Property(subject, m.Property); found {
			subject = rng
		}
	}
	return diag.Diagnostic{
		Severity: m.Severity,
		Code:     m.Code,
		Summary:  summary,
		Detail:   r.mask.Hide(detail),
		Subject:  subject,
	}
}

// place finds a source position, project:///<path>#<line>,<column>, in the user's text. Without an end it covers the
// word that stands there: the resource's name.
func (r *report) place(position string, until diag.Position) diag.Range {
	pos := positionIn(position)
	if pos.line == 0 || r.o.Source == nil {
		return diag.Range{}
	}
	source := r.o.Source(filepath.Join(r.o.Root, filepath.FromSlash(pos.file)))
	if source == nil {
		return diag.Range{}
	}
	start := source.Offset(diag.Position{Line: pos.line, Column: max(1, pos.column)})
	if until != (diag.Position{}) {
		return diag.NewRange(source, start, source.Offset(until))
	}
	end := start
	for text := source.Text(); end < len(text) && text[end] != ':' && text[end] != '\n' && text[end] != '\r'; {
		end++
	}
	return diag.NewRange(source, start, end)
}

// FindingOf turns a message into a diagnostic with its place in the user's text, where o knows it. Secrets are hidden
// by m.
func FindingOf(o Options, m *mask.Masker, message *engine.Message) diag.Diagnostic {
	return (&report{o: o, mask: m}).finding(message)
}
