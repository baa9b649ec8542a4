package layout

import (
	"go/scanner"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	widest = 120    // columns in a line of code or prose
	tab    = "    " // the columns of a tab
)

// Lines of code with string literals, such as messages and patterns, may be longer.
func TestLinesOfCodeFit(t *testing.T) {
	for _, f := range code(t) {
		quoted := linesWithTexts([]byte(f.text))
		for i, line := range strings.Split(f.text, "\n") {
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", tab)); n > widest && !quoted[i+1] {
				t.Errorf("%s:%d has %d columns; %d are allowed", f.path, i+1, n, widest)
			}
		}
	}
}

// linesWithTexts returns the numbers of the lines that contain a string literal or a part of one.
func linesWithTexts(source []byte) map[int]bool {
	lines := map[int]bool{}
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.STRING {
			for i := range strings.Count(text, "\n") + 1 {
				lines[file.Position(pos).Line+i] = true
			}
		}
	}
}

// Lines of pages with code, tables or links may be longer.
func TestLinesOfPagesFit(t *testing.T) {
	for name, text := range pages(t) {
		code := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			long := utf8.RuneCountInString(line) > widest && strings.Contains(strings.TrimSpace(line), " ")
			if long && !code && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "|") && !strings.Contains(line, "](") &&
				!generated[filepath.Base(name)] {
				t.Errorf("%s:%d has more than %d characters", name, i+1, widest)
			}
		}
	}
}

// generated are pages that a program writes.
var generated = map[string]bool{"functions.md": true, "conformance.md": true}
