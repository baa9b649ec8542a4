package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/check"
	schemacmd "github.com/yamlhost/yamlhost/cmd/internal/cli/schema"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/embedded"
	"github.com/yamlhost/yamlhost/schema"
)

func TestSchemaCommand(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	require.Equal(t, 0, x.run("schema", "random:RandomPassword"), x.err.String())
	for _, part := range []string{"random:RandomPassword (resource)\n", "\nInputs\n  length  integer  (required",
		"\nOutputs\n",
		"  result  string  (secret)\n",
		"\nExample\n  resources:\n    randomPassword:\n      type: random:RandomPassword\n      properties:\n        " +
			"length: 1\n"} {
		require.Contains(t, x.out.String(), part)
	}
	require.Equal(t, 0, x.run("schema", "--json", "command:local:Logging"), x.err.String())
	var member schemacmd.MemberRecord
	require.NoError(t, json.Unmarshal(x.out.Bytes(), &member))
	require.Equal(t, "enum", member.Kind)
	require.Len(t, member.Values, 4)
	require.Equal(t, 0, x.run("schema", "random"))
	require.Contains(t, x.out.String(), "\nResources\n  random:RandomBytes\n")
	require.Equal(t, 1, x.run("schema", "random:RandomPte"))
	require.Contains(t, x.err.String(),
		"package random has no resource, function or type random:RandomPte; near are random:RandomPet")
	require.Equal(t, 1, x.run("schema", "nosuch:Thing"))
	require.Contains(t, x.err.String(), "no provider for package nosuch")
}

func TestSchemaFiles(t *testing.T) {
	t.Parallel()
	corpus, err := filepath.Abs("../../../check/testdata/corpus")
	require.NoError(t, err)
	program := "name: f\nruntime: yaml\nresources:\n  net: {type: docker:Network}\n"
	for name, args := range map[string][]string{
		"a directory": {"--schema-dir", corpus}, "a file": {"--schema", filepath.Join(corpus, "docker.json")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTerminal(t, program)
			require.Equal(t, 12, x.run("check"), x.err.String())
			require.Contains(t, x.out.String(), "error[Y204]: no provider for package docker")
			require.Equal(t, 0, x.run(append([]string{"check"}, args...)...), x.out.String()+x.err.String())
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		x := newTerminal(t, program)
		require.Equal(t, 1, x.run("check", "--schema", "missing.json"))
		require.Contains(t, x.err.String(), "--schema missing.json: it does not exist")
		require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "broken.json"),
			[]byte(`{"name": "docker", "resources": {`), 0o644))
		require.Equal(t, 1, x.run("check", "--schema", "broken.json"))
		require.Contains(t, x.err.String(),
			"--schema broken.json: read package schema: resources: the text ends too early; a schema is what `pulumi package "+
				"get-schema` writes")
	})
}

// TestExamplesOfSchemas checks the example of every resource and function of the built-in packages and of the sample.
func TestExamplesOfSchemas(t *testing.T) {
	t.Parallel()
	texts := map[string][]byte{}
	for _, name := range embedded.Names() {
		text, ok := embedded.Schema(name)
		require.True(t, ok)
		texts[name] = text
	}
	files, err := filepath.Glob("../../../check/testdata/corpus/*.json")
	require.NoError(t, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); texts[name] == nil {
			texts[name] = text
		}
	}
	loader := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if text, ok := texts[d.PackageName()]; ok {
			return text, nil
		}
		return nil, fmt.Errorf("%s: %w", d.PackageName(), schema.ErrNotFound)
	})
	count := 0
	for name := range texts {
		pkg, err := loader.Load(t.Context(), schema.Descriptor{Name: name})
		require.NoError(t, err)
		for _, token := range append(append([]string(nil), pkg.ResourceTokens()...), pkg.FunctionTokens()...) {
			record, err := schemacmd.Describe(pkg, token)
			require.NoError(t, err)
			file, diags := parser.Parse(diag.NewSource(token, []byte(record.Example)), parser.Options{})
			_, more := check.Check(t.Context(), file, check.Options{Project: "p", Schemas: loader})
			for _, d := range append(diags, more...) {
				if d.Severity == diag.Error && d.Code != diag.Undeclared { // examples refer to undeclared resources
					t.Errorf("%s: %s %s\n%s", token, d.Code, d.Summary, record.Example)
				}
			}
			count++
		}
	}
	require.Greater(t, count, 150)
}
