package ui

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// excerpt is the part of a program that declares a resource. Secrets in it are hidden.
type excerpt struct {
	File  string   `json:"file"`
	Line  int      `json:"line"`  // 1-based, of the declaration
	First int      `json:"first"` // of Lines
	Lines []string `json:"lines"`
}

const (
	mostProgram = 16 << 20 // of a program's file, in bytes
	mostLines   = 40
	longLine    = 400
)

// excerpt returns the text at a source position, project:///<path>#<line>,<column>; nil if it is not there any more. It
// reads nothing outside of the project.
func (s *Server) excerpt(position string) *excerpt {
	name, place, found := strings.Cut(strings.TrimPrefix(position, "project:///"), "#")
	line, err := strconv.Atoi(strings.Split(place, ",")[0])
	if !found || err != nil {
		return nil
	}
	root, err := os.OpenRoot(s.o.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	file, err := root.Open(path.Clean(name))
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(file, mostProgram))
	if err != nil {
		return nil
	}
	src := diag.NewSource(name, text)
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		parser.Parse(src, parser.Options{}) // it hides the secrets that it finds
	}
	if line < 1 || line > src.Lines() {
		return nil
	}
	out := &excerpt{File: name, Line: line, First: line}
	for n := line; n < line+mostLines && n <= src.Lines(); n++ {
		shown := string(src.ShownLine(n))
		if n > line && strings.TrimSpace(shown) != "" && indent(shown) <= indent(string(src.ShownLine(line))) {
			break
		}
		if len(shown) > longLine {
			shown = shown[:longLine] + "…"
		}
		out.Lines = append(out.Lines, strings.ToValidUTF8(shown, "\uFFFD"))
	}
	return out
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
