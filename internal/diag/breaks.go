package diag

import "bytes"

// KeepBreaks returns a new text of a file with line breaks of Windows (CR LF) if the old text has only those.
func KeepBreaks(before, after []byte) []byte {
	n := bytes.Count(before, []byte("\r\n"))
	if n == 0 || n != bytes.Count(before, []byte("\n")) {
		return after
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}
