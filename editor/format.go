package editor

import (
	"bytes"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// Format returns the edits that format the lines from start to end like `yamlhost fmt`: one for each changed line, in
// order. It returns none if the text has syntax errors. A negative end means the end of the text. One edit for each
// line keeps the cursor, folds and marks of an editor where they are.
func Format(s *Snapshot, path string, start, end int) []diag.Edit {
	document := s.Text(path)
	if document == nil {
		return nil
	}
	src := document.Source()
	text := src.Text()
	formatted, _ := parser.Format(src)
	if bytes.Equal(text, formatted) {
		return nil
	}
	if end < 0 {
		end = len(text)
	}
	// Whole lines: a selection may begin or end within one.
	start = bytes.LastIndexByte(text[:start], '\n') + 1
	if n := bytes.IndexByte(text[end:], '\n'); n >= 0 {
		end += n
	} else {
		end = len(text)
	}
	var edits []diag.Edit
	for _, e := range lineEdits(src, formatted) {
		// The whole text has been formatted, as the indentation of a line depends on those above.
		if int(e.Range.Start) <= end && start <= int(e.Range.End) {
			edits = append(edits, e)
		}
	}
	return edits
}

// lineEdits returns the edits that turn the text of src into dst. The two differ in white space only: their non-empty
// lines correspond in order. No comparison of texts is needed, because formatting neither moves nor joins lines with
// content.
func lineEdits(src *diag.Source, dst []byte) []diag.Edit {
	// SplitAfter keeps line breaks, so that a changed break is a changed line.
	before, after := bytes.SplitAfter(src.Text(), []byte("\n")), bytes.SplitAfter(dst, []byte("\n"))
	empty := func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
	var edits []diag.Edit
	i, j := 0, 0
	for _, line := range before {
		start, end := i, i+len(line)
		i = end
		var instead []byte
		switch {
		// Both are empty, or both have content: they correspond.
		case j < len(after) && empty(line) == empty(after[j]):
			instead = after[j]
			j++
		case empty(line): // removed
		default:
			for j < len(after) && empty(after[j]) { // added empty lines
				instead = append(instead, after[j]...)
				j++
			}
			if j < len(after) {
				instead = append(instead, after[j]...)
				j++
			}
		}
		if bytes.Equal(line, instead) {
			continue
		}
		// The edit leaves out the common prefix and suffix.
		for start < end && len(instead) > 0 && line[0] == instead[0] && instead[0] != '\n' {
			line, instead, start = line[1:], instead[1:], start+1
		}
		for start < end && len(instead) > 0 && line[len(line)-1] == instead[len(instead)-1] {
			line, instead, end = line[:len(line)-1], instead[:len(instead)-1], end-1
		}
		edits = append(edits, diag.Edit{Range: diag.NewRange(src, start, end), Text: string(instead)})
	}
	if rest := bytes.Join(after[min(j, len(after)):], nil); len(rest) > 0 {
		edits = append(edits, diag.Edit{Range: diag.NewRange(src, i, i), Text: string(rest)})
	}
	return edits
}

// Indent returns the edit that indents a blank new line: one level deeper than a key without a value above it, else
// like the line above. It returns none inside a string of several lines, or if the indentation is right already. It
// looks at the lines above only: while a line is being begun, the text is mostly no YAML.
func Indent(s *Snapshot, path string, offset int) []diag.Edit {
	document := s.Text(path)
	if document == nil {
		return nil
	}
	src := document.Source()
	text := src.Text()
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	// The first line has none above, and a line with content is not new.
	if start == 0 || end < len(text) && text[end] != '\n' && text[end] != '\r' || insideText(document.Spans(), start) {
		return nil
	}
	// Only the line right above counts. After an empty line or a comment nothing is certain.
	above := string(bytes.TrimRight(text[bytes.LastIndexByte(text[:start-1], '\n')+1:start-1], " \t\r"))
	body := strings.TrimLeft(above, " ")
	indent := len(above) - len(body)
	if body == "" || strings.HasPrefix(body, "#") {
		return nil
	}
	item := strings.HasPrefix(body, "- ")
	for strings.HasPrefix(body, "- ") {
		// A dash counts as indentation: the keys of an item align behind it.
		inner := strings.TrimLeft(body[2:], " ")
		indent += len(body) - len(inner)
		body = inner
	}
	switch {
	// The key has no value yet, so its value comes below.
	case strings.HasSuffix(body, ":"):
		indent += 2
	case item && !strings.Contains(body, ": "): // the next item aligns with this one
		indent = len(above) - len(strings.TrimLeft(above, " "))
	}
	wanted := strings.Repeat(" ", indent)
	if string(text[start:end]) == wanted {
		return nil
	}
	return []diag.Edit{{Range: diag.NewRange(src, start, end), Text: wanted}}
}

// insideText reports whether an offset is in a scalar or at its end, but not at its start.
func insideText(spans []parser.Span, offset int) bool {
	for _, s := range spans {
		// At its start a scalar has not begun, and the line is the key's.
		if int(s.Value.Start) < offset && offset <= int(s.Value.End) && s.Kind == parser.ScalarSpan {
			return true
		}
		if insideText(s.Children, offset) {
			return true
		}
	}
	return false
}
