package check_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// loader loads the packages of testdata.
func loader() schema.Loader {
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		return readTestdata(d.PackageName())
	})
}

// readTestdata returns the schema of a package of testdata.
func readTestdata(pkg string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join("testdata", pkg+".json"))
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("package %s: %w", pkg, schema.ErrNotFound)
	}
	return data, err
}

// checkText checks a program of project p, without a stack unless options set one. The parser's findings come first.
func checkText(tb testing.TB, name, text string, options ...func(*check.Options)) (*check.Program, diag.Diagnostics) {
	tb.Helper()
	opts := check.Options{Project: "p", Schemas: loader(), ParseData: parser.Data}
	for _, set := range options {
		set(&opts)
	}
	var declared []string
	for key := range opts.Config {
		declared = append(declared, key, strings.TrimPrefix(key, opts.Project+":"))
	}
	file, diags := parser.Parse(diag.NewSource(name, []byte(text)), parser.Options{Declared: declared})
	program, more := check.Check(tb.Context(), file, opts)
	diags.Add(more...)
	return program, diags
}

// sound checks a program and fails the test if there are findings.
func sound(t *testing.T, text string, options ...func(*check.Options)) *check.Program {
	t.Helper()
	program, diags := checkText(t, "Main.yaml", text, options...)
	for _, d := range diags {
		if d.Severity != diag.Portability {
			t.Errorf("line %d: %s %s (%s)", d.Subject.StartPosition().Line, d.Code, d.Summary, d.Detail)
		}
	}
	return program
}

// TestFaults checks the programs of testdata/faults. A comment on the line of each fault gives the expected finding:
// #! CODE part of the message.
func TestFaults(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			_, diags := checkText(t, path, string(text))
			expectFaults(t, string(text), diags)
		})
	}
}

func expectFaults(t *testing.T, text string, diags diag.Diagnostics) {
	t.Helper()
	type fault struct {
		line       int
		code, part string
	}
	var wanted []fault
	for i, line := range strings.Split(text, "\n") {
		for _, marker := range strings.Split(line, "#! ")[1:] {
			code, part, _ := strings.Cut(strings.TrimSpace(marker), " ")
			part = strings.ReplaceAll(part, `"`, "`") // programs in Go texts cannot hold backticks
			wanted = append(wanted, fault{i + 1, code, part})
		}
	}
	for _, d := range diags.Sorted() {
		if d.Severity == diag.Portability {
			continue
		}
		line := d.Subject.StartPosition().Line
		message := d.Summary + "\n" + d.Detail
		found := false
		for i, w := range wanted {
			if w.line == line && w.code == string(d.Code) && strings.Contains(message, w.part) {
				wanted = append(wanted[:i], wanted[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			t.Errorf("line %d: unexpected %s %s (%s)", line, d.Code, d.Summary, d.Detail)
		}
		for _, leak := range []string{"<nil>", "nil pointer", "*ast.", "*schema.", "0xc0", "%!"} {
			require.NotContains(t, message, leak) // A2
		}
	}
	for _, w := range wanted {
		t.Errorf("line %d: nothing said %s %s", w.line, w.code, w.part)
	}
}
