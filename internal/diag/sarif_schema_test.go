package diag

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// sarifSchema returns the schema of the standard; testdata/README.md names its origin.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open("testdata/sarif-schema-2.1.0.json.gz")
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := jsonschema.UnmarshalJSON(z)
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("sarif.json", text))
	s, err := c.Compile("sarif.json")
	require.NoError(t, err)
	return s
}

// The output is valid under the standard's own schema: for all kinds of findings, and for the golden findings of each
// code.
func TestSARIFIsValid(t *testing.T) {
	t.Parallel()
	s := sarifSchema(t)
	validate := func(t *testing.T, text []byte) error {
		t.Helper()
		log, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		return s.Validate(log)
	}
	for name, ds := range map[string]Diagnostics{"none": nil, "samples": renderSamples(), "parts": sarifSamples()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			require.NoError(t, WriteSARIF(&b, ds, Tool{Name: "yamlhost", Version: "1.2.3"}))
			require.NoError(t, validate(t, b.Bytes()))
			// The schema rejects a misspelt member.
			require.Error(t, validate(t, bytes.ReplaceAll(b.Bytes(), []byte(`"runs"`), []byte(`"run"`))))
			if len(ds) > 0 {
				require.Error(t, validate(t, bytes.ReplaceAll(b.Bytes(), []byte(`"startLine": `), []byte(`"startLine": -`))))
			}
		})
	}
	for _, code := range Codes() {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			golden, err := txtar.ParseFile(filepath.Join("../../cmd/internal/cli/testdata/explain", string(code)+".txtar"))
			require.NoError(t, err)
			found := false
			for _, file := range golden.Files {
				if file.Name == "sarif" {
					found = true
					require.NoError(t, validate(t, file.Data))
				}
			}
			require.True(t, found, "no SARIF is kept of this code")
		})
	}
}
