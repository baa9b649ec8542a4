package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageOfOurs matches the path of a page of this repository, which those who have only the program do not have. An
// address that has the page stands behind a slash.
var pageOfOurs = regexp.MustCompile(`(^|[^/\w-])docs/[a-z/-]+\.md\b`)

// TestTextsOfTheProgramNameNoPages fails for a text in the program that names a page of this repository: constants of
// Go, and the embedded texts that are printed, without their comments.
func TestTextsOfTheProgramNameNoPages(t *testing.T) {
	t.Parallel()
	texts := 0
	check := func(where, text string) {
		texts++
		if page := pageOfOurs.FindString(text); page != "" {
			t.Errorf("%s: only this repository has %s: say it in the text, or name a command: %q", where, page, text)
		}
	}
	files := token.NewFileSet()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			switch path {
			case ".git", "bin", "test", "tools", "docs", "internal/layout", "cmd/internal/manual":
				return fs.SkipDir
			}
			if d.Name() == "testdata" || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if ok && literal.Kind == token.STRING {
					check(files.Position(literal.Pos()).String(), literal.Value)
				}
				return true
			})
		case strings.HasPrefix(path, "internal/diag/explain/"), strings.HasPrefix(path, "cmd/internal/templates/"),
			strings.HasSuffix(path, ".txt") && filepath.Dir(path) != ".":
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") || strings.HasSuffix(path, ".md") {
					check(path, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 20000 {
		t.Errorf("only %d texts were found", texts)
	}
}
