package schema_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

// realSchemas returns the files of the directory in YAMLHOST_SCHEMAS.
func realSchemas(tb testing.TB) []string {
	tb.Helper()
	dir := os.Getenv("YAMLHOST_SCHEMAS")
	if dir == "" {
		tb.Skip("set YAMLHOST_SCHEMAS to a directory of gzipped package schemas to run this test")
	}
	files := testfile.Match(tb, filepath.Join(dir, "*.json.gz"))
	require.NotEmpty(tb, files)
	return files
}

func unzip(tb testing.TB, path string) []byte {
	tb.Helper()
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(tb, err)
	data, err := io.ReadAll(z)
	require.NoError(tb, err)
	return data
}

func TestRealSchemas(t *testing.T) {
	for _, path := range realSchemas(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(t *testing.T) {
			data := unzip(t, path)
			start := time.Now()
			pkg, err := schema.Parse(data)
			indexed := time.Since(start)
			require.NoError(t, err)
			require.NoError(t, pkg.Verify())
			for _, token := range pkg.ResourceTokens() {
				r, err := pkg.ResolveResource(schema.CollapseToken(token))
				require.NoError(t, err)
				require.True(t, strings.EqualFold(schema.CollapseToken(token), schema.CollapseToken(r.Token)))
			}
			t.Logf("%d MiB, %d resources, %d functions, %d types: indexed in %v, verified in %v", len(data)>>20,
				len(pkg.ResourceTokens()), len(pkg.FunctionTokens()), len(pkg.TypeTokens()), indexed, time.Since(start)-indexed)
			runtime.KeepAlive(data)
		})
	}
}
