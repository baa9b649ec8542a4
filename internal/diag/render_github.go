package diag

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteGitHub writes findings as workflow commands, one line each, which show up as annotations beside the changed
// lines of a pull request. Severities without a command of their own are notices.
func WriteGitHub(w io.Writer, ds Diagnostics) error {
	var b bytes.Buffer
	for _, d := range ds.Sorted() {
		b.WriteString("::" + levelOf(d.Severity, "notice") + " ")
		if !d.Subject.IsZero() {
			start, end := d.Subject.StartPosition(), d.Subject.EndPosition()
			b.WriteString("file=" + escapeProperty(d.Subject.Source.Name()) + ",line=" + strconv.Itoa(start.Line))
			if start.Line == end.Line { // columns are allowed on one line only; the end column belongs to the range
				b.WriteString(",col=" + strconv.Itoa(start.Column) + ",endColumn=" + strconv.Itoa(max(end.Column-1, start.Column)))
			} else {
				b.WriteString(",endLine=" + strconv.Itoa(end.Line))
			}
			b.WriteByte(',')
		}
		title := cmp.Or(string(d.Code), d.Severity.String())
		message := d.Summary
		if d.Detail != "" {
			message += "\n" + d.Detail
		}
		for _, r := range d.Related {
			message += "\n" + strings.TrimPrefix(placeOf(r.Range)+": "+r.Message, ": ")
		}
		b.WriteString("title=" + escapeProperty(title) + "::" + escapeData(message) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// levelOf is a severity's name in formats that know errors, warnings and one more level.
func levelOf(s Severity, other string) string {
	if s == Error || s == Warning {
		return s.String()
	}
	return other
}

func escapeData(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\r' && !harmless(r) {
			return utf8.RuneError
		}
		return r
	}, s)
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
