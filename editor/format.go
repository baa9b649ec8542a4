package editor

import (
	"bytes"

	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// Format is the edit that brings a text into the form of `yamlhost fmt`; none for a text that has it or has syntax errors.
func Format(s *Snapshot, path string) []diag.Edit {
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
	start, end := 0, 0
	for start < len(text) && start < len(formatted) && text[start] == formatted[start] {
		start++
	}
	start = bytes.LastIndexByte(text[:start], '\n') + 1
	for end < len(text)-start && end < len(formatted)-start && text[len(text)-1-end] == formatted[len(formatted)-1-end] {
		end++
	}
	for end > 0 && text[len(text)-end]&0xC0 == 0x80 { // no half of a character
		end--
	}
	return []diag.Edit{{Range: diag.NewRange(src, start, len(text)-end), Text: string(formatted[start : len(formatted)-end])}}
}
