package editor_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testschema"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// schemaOf returns the JSON Schema of a program with one resource; with all, it includes all types of the package.
func schemaOf(tb testing.TB, definition []byte, token string, all bool) []byte {
	tb.Helper()
	loader := schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) { return definition, nil })
	name, _, _ := strings.Cut(token, ":")
	pkg, err := loader.Load(tb.Context(), schema.Descriptor{Name: name})
	require.NoError(tb, err)
	text := "name: p\nruntime: yaml\nresources:\n  a: {type: '" + token + "'}\n"
	file, _ := parser.Parse(diag.NewSource("Pulumi.yaml", []byte(text)), parser.Options{})
	program, _ := check.Check(tb.Context(), file, check.Options{Project: "p", Schemas: loader})
	written, err := json.Marshal(editor.JSONSchema(tb.Context(), program, []*schema.Package{pkg}, all))
	require.NoError(tb, err)
	return written
}

// TestJSONSchemaOfPackages compiles the JSON Schemas with all types of the sample packages. All references must
// resolve.
func TestJSONSchemaOfPackages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../check/testdata/corpus/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 8)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			definition, err := os.ReadFile(path)
			require.NoError(t, err)
			requireSound(t, schemaOf(t, definition, name+":Any", true))
		})
	}
}

// TestJSONSchemaAcceptsSample validates the sample programs without findings against their JSON Schemas.
func TestJSONSchemaAcceptsSample(t *testing.T) {
	t.Parallel()
	loader := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		text, err := os.ReadFile("../check/testdata/corpus/" + d.PackageName() + ".json")
		if err != nil {
			return nil, schema.ErrNotFound
		}
		return text, nil
	})
	archives, err := filepath.Glob("../check/testdata/corpus/*.txtar")
	require.NoError(t, err)
	wrong := func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error || d.Severity == diag.Warning && d.Code != diag.Deprecated
	}
	accepted := 0
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		pkg, err := loader.Load(t.Context(), schema.Descriptor{Name: strings.TrimSuffix(filepath.Base(path), ".txtar")})
		require.NoError(t, err)
		for _, f := range archive.Files {
			file, found := parser.Parse(diag.NewSource(f.Name, f.Data), parser.Options{})
			program, more := check.Check(t.Context(), file, check.Options{Project: "p", Schemas: loader})
			if found.Add(more...); slices.ContainsFunc(found, wrong) {
				continue
			}
			written, err := json.Marshal(editor.JSONSchema(t.Context(), program, []*schema.Package{pkg}, false))
			require.NoError(t, err)
			var root yaml.Node
			require.NoError(t, yaml.Unmarshal(f.Data, &root))
			textsForTimes(&root)
			var document any
			require.NoError(t, root.Decode(&document))
			if err := requireSound(t, written).Validate(document); err != nil {
				t.Errorf("%s %s: %v\n%s", path, f.Name, err, f.Data)
			}
			accepted++
		}
	}
	t.Logf("%d programs accepted", accepted)
	require.Greater(t, accepted, 90)
}

// textsForTimes turns timestamps into strings, since neither programs nor YAML servers support timestamps.
func textsForTimes(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, inner := range n.Content {
		textsForTimes(inner)
	}
}

func requireSound(tb testing.TB, text []byte) *jsonschema.Schema {
	tb.Helper()
	return testschema.Compile(tb, text, nil)
}

// BenchmarkJSONSchema measures the JSON Schemas of real packages, with one type and with all types.
func BenchmarkJSONSchema(b *testing.B) {
	dir := os.Getenv("YAMLHOST_SCHEMAS")
	if dir == "" {
		b.Skip("set YAMLHOST_SCHEMAS to a directory of gzipped package schemas to run this benchmark")
	}
	for _, token := range []string{"random:RandomPet", "kubernetes:apps/v1:Deployment"} {
		name, _, _ := strings.Cut(token, ":")
		files, err := filepath.Glob(filepath.Join(dir, name+"-*.json.gz"))
		require.NoError(b, err)
		require.NotEmpty(b, files)
		file, err := os.Open(files[0])
		require.NoError(b, err)
		z, err := gzip.NewReader(file)
		require.NoError(b, err)
		definition, err := io.ReadAll(z)
		require.NoError(b, err)
		require.NoError(b, file.Close())
		for what, all := range map[string]bool{"one type": false, "all types": true} {
			b.Run(name+", "+what, func(b *testing.B) {
				var written []byte
				for b.Loop() {
					written = schemaOf(b, definition, token, all)
				}
				b.ReportMetric(float64(len(written)), "bytes")
				var packed bytes.Buffer
				w := gzip.NewWriter(&packed)
				_, err := w.Write(written)
				require.NoError(b, err)
				require.NoError(b, w.Close())
				b.ReportMetric(float64(packed.Len()), "gzipped-bytes")
				requireSound(b, written)
			})
		}
	}
}
