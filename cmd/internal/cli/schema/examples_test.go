package schema

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
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

// The example of each resource and function passes a check, but for resources that it refers to, which stand for those
// of the reader. It tries the built-in providers, and all others where their schemas are.
func TestExamplesPassACheck(t *testing.T) {
	t.Parallel()
	dirs := []string{"../../../../runtime/embedded/schemas"}
	if dir := os.Getenv("YAMLHOST_SCHEMAS"); dir != "" {
		dirs = append(dirs, dir)
	}
	tried := 0
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
		require.NoError(t, err)
		for _, path := range paths {
			tried += checkExamples(t, path)
		}
	}
	require.Greater(t, tried, 100)
}

// checkExamples checks the examples of a package, and returns their number.
func checkExamples(t *testing.T, path string) (tried int) {
	packed, err := os.Open(path)
	require.NoError(t, err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	pkg, err := schema.Parse(data)
	require.NoError(t, err)
	loader := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.PackageName() == pkg.Name {
			return data, nil
		}
		return nil, fmt.Errorf("%s: %w", d.PackageName(), schema.ErrNotFound)
	})
	try := func(text string) {
		if text == "" {
			return
		}
		tried++
		file, found := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
		_, more := check.Check(t.Context(), file, check.Options{Project: "p", Schemas: loader})
		for _, d := range append(found, more...) {
			placeholder := d.Code == diag.Undeclared && strings.Contains(text, "${"+d.Subject.Text()+"}")
			require.True(t, d.Severity > diag.Warning || d.Code == diag.Deprecated || placeholder, "%s: %s\n%s", path, d.Summary,
				text)
		}
	}
	for _, token := range pkg.ResourceTokens() {
		r, err := pkg.Resource(token)
		require.NoError(t, err)
		try(resourceExample(r))
	}
	for _, token := range pkg.FunctionTokens() {
		f, err := pkg.ResolveFunction(token)
		require.NoError(t, err)
		try(functionExample(f))
	}
	return tried
}
