package diag

import (
	"bytes"
	"strings"
)

// KeepBreaks returns a new text of a file with line breaks of Windows (CR LF) if the old text has only those.
func KeepBreaks(before, after []byte) []byte {
	if first := bytes.IndexByte(before, '\n'); first < 1 || before[first-1] != '\r' {
		return after
	}
	n := bytes.Count(before, []byte("\r\n"))
	if n != bytes.Count(before, []byte("\n")) {
		return after
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}

// WithBreaks returns a text that is put into the source, with the line breaks that the source has.
func (s *Source) WithBreaks(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	return string(KeepBreaks(s.Text(), []byte(text)))
}
