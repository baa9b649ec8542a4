package diag

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteGitHub writes findings as GitHub workflow commands, one per line. GitHub shows them as annotations beside the
// changed lines of a pull request. Severities other than errors and warnings are written as notices.
func WriteGitHub(w io.Writer, ds Diagnostics) error {
	var b bytes.Buffer
	for _, d := range ds.Sorted() {
		b.WriteString("::" + levelOf(d.Severity, "notice") + " ")
		if !d.Subject.IsZero() {
			start, end := d.Subject.StartPosition(), d.Subject.EndPosition()
			b.WriteString("file=" + escapeProperty(d.Subject.Source.Name()) + ",line=" + strconv.Itoa(start.Line))
			if start.Line == end.Line { // GitHub takes columns only for a single line; endColumn is inclusive
				b.WriteString(",col=" + strconv.Itoa(start.Column) + ",endColumn=" + strconv.Itoa(max(end.Column-1, start.Column)))
			} else {
				b.WriteString(",endLine=" + strconv.Itoa(end.Line))
			}
			b.WriteByte(',')
		}
		title := cmp.Or(string(d.Code), d.Severity.String())
		message := d.Text()
		for _, r := range d.Related {
			message += "\n" + strings.TrimPrefix(placeOf(r.Range)+": "+r.Message, ": ")
		}
		b.WriteString("title=" + escapeProperty(title) + "::" + escapeData(message) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// levelOf returns the name of a severity in formats with three levels: error, warning and the one given by other.
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
