package check_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// errorsOf returns the errors in a program of the documentation.
func errorsOf(tb testing.TB, name, text string, l schema.Loader) diag.Diagnostics {
	tb.Helper()
	file, found := parser.Parse(diag.NewSource(name, []byte(text)), parser.Options{})
	_, more := check.Check(tb.Context(), file, check.Options{Project: "docs", Schemas: l})
	found.Add(more...)
	var errors diag.Diagnostics
	for _, d := range found.Sorted() {
		if d.Severity == diag.Error {
			errors.Add(d)
		}
	}
	return errors
}

var (
	undeclaredWords = regexp.MustCompile("^`([^`…]+).* is not declared$")
	packageWords    = regexp.MustCompile(`^no provider for package (\S+)`)
	requiredWords   = regexp.MustCompile(`^(\S+) needs (\S+) \(`)
	unknownWords    = regexp.MustCompile("^(\\S+) has no (?:input|argument) `(.+)`$")
)

// excuse returns the reason why an error in a program of the documentation is correct; empty if it may be false. It
// searches the text and the raw schema, independently of the checker.
func (s *shelf) excuse(name, text string, d diag.Diagnostic) string {
	name = strings.TrimSuffix(name, "-full")
	if m := undeclaredWords.FindStringSubmatch(d.Summary); m != nil {
		declared := regexp.MustCompile(`(?m)^ {2,4}["']?` + regexp.QuoteMeta(m[1]) + `["']?:`)
		if !declared.MatchString(text) {
			return "the example is a fragment that does not declare what it refers to"
		}
	}
	if m := packageWords.FindStringSubmatch(d.Summary); m != nil && s.paths[m[1]] == "" {
		return "the package is not known"
	}
	if m := requiredWords.FindStringSubmatch(d.Summary); m != nil {
		if raw := s.raw(name, m[1]); raw != nil && raw.needs(m[2]) && !strings.Contains(text, " "+m[2]+":") {
			return "the example leaves out a property that the schema requires"
		}
	}
	if m := unknownWords.FindStringSubmatch(d.Summary); m != nil {
		if raw := s.raw(name, m[1]); raw != nil && !raw.has(m[2]) {
			return "the example sets a property that the schema does not have"
		}
	}
	return s.wrong[name+"\t"+d.Summary]
}

// TestDocumentation checks every YAML program in the documentation of the schemas in the directory YAMLHOST_SCHEMAS. An
// error without an excuse counts as false.
func TestDocumentation(t *testing.T) {
	dir := os.Getenv("YAMLHOST_SCHEMAS")
	if dir == "" {
		t.Skip("set YAMLHOST_SCHEMAS to a directory of gzipped package schemas to run this test")
	}
	s, err := openShelf(dir)
	require.NoError(t, err)
	all, right := 0, 0
	for _, name := range s.names() {
		data, err := s.text(name)
		require.NoError(t, err)
		blocks, l := yamlBlocks(data), s.loader(name)
		clean, wrong := 0, 0
		for i, text := range blocks {
			errors := errorsOf(t, fmt.Sprintf("%s-%d", name, i), text, l)
			falsely := false
			for _, d := range errors {
				if s.excuse(name, text, d) == "" {
					falsely = true
					t.Errorf("%s-%d:%d: %s %s (%s)", name, i, d.Subject.StartPosition().Line, d.Code, d.Summary, d.Detail)
				}
			}
			switch {
			case len(errors) == 0:
				clean++
			case falsely:
				wrong++
			}
		}
		if len(blocks) > 0 {
			t.Logf("%-18s %4d programs: %4d pass, %3d have errors of their own, %d false", name, len(blocks), clean,
				len(blocks)-clean-wrong, wrong)
		}
		all, right = all+len(blocks), right+len(blocks)-wrong
	}
	t.Logf("%d of %d programs without a false error (%.2f%%)", right, all, 100*float64(right)/float64(all))
}
