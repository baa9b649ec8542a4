package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	deploycmd "github.com/yamlhost/yamlhost/cmd/internal/cli/deploy"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/state"
	"github.com/yamlhost/yamlhost/schema"
)

// Program writes the imported resources as YAML, which parses without findings.
func TestImportedProgram(t *testing.T) {
	t.Parallel()
	list := func(items ...value.Value) value.Value { return value.List(items...) }
	object := func(pairs ...any) value.Value {
		m := map[string]value.Value{}
		for n := 0; n < len(pairs); n += 2 {
			m[pairs[n].(string)] = pairs[n+1].(value.Value)
		}
		return value.Map(m)
	}
	text := value.String
	u := urn.URN("urn:pulumi:dev::p::t:i:R::web server")
	inputs := object(
		"__defaults", list(),
		"plain", text("abc"), "number", value.Number(1.5), "yes", text("yes"), "digits", text("0123"), "empty", text(""),
		"multi", text("two\nlines"), "dollar", text("a ${b} c"), "colon", text("a: b"), "hash", text("a #b"), "bool",
		value.Bool(true),
		"secret", text("hush").Secret(), "none", value.Null,
		"list", list(text("a"), list(text("b"), list()), object("k", text("v"), "l", list(text("x")), "m",
			object("n", text("o")))),
		"map", object("a.b", text("c"), "empty", object(), "secret", text("x").Secret()),
		"deep", list(object("s", object("x", text("y")).Secret()), text("z").Secret()),
	)
	i := &deploycmd.Importing{
		Table: map[string]urn.URN{"box": "urn:pulumi:dev::p::t:i:Box::box"},
		Planned: []deploycmd.PlannedImport{{Entry: deploycmd.ImportEntry{Type: "t:i:R", Name: "web server", Version: "1.2.3"},
			Urn: u, Parent: "urn:pulumi:dev::p::t:i:Box::box"}},
		Result: &state.Snapshot{Resources: []*state.Resource{{URN: u, Type: "t:i:R", Inputs: inputs, Protect: true}}},
	}
	got := i.Program()
	require.Equal(t, `resources:
  web-server:
    type: t:i:R
    name: web server
    properties:
      bool: true
      colon: 'a: b'
      deep:
        - s:
            fn::secret:
              x: 'y'
        - fn::secret: z
      digits: '0123'
      dollar: a $${b} c
      empty: ""
      hash: 'a #b'
      list:
        - a
        -
          - b
          - []
        - k: v
          l:
            - x
          m:
            'n': o
      map:
        a.b: c
        empty: {}
        secret:
          fn::secret: x
      multi: "two\nlines"
      number: 1.5
      plain: abc
      secret:
        fn::secret: hush
      'yes': 'yes'
    options:
      parent: ${box}
      protect: true
      version: '1.2.3'
`, got)
	_, diags := parser.Parse(diag.NewSource("Pulumi.yaml", []byte("name: p\nruntime: yaml\n"+got)), parser.Options{})
	require.Empty(t, diags)
}

// L4.22: the versions of an import file may have a leading v.
func TestVersionsOfImportFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry deploycmd.ImportEntry
		want  schema.Descriptor
	}{
		"plain": {deploycmd.ImportEntry{Type: "a:b:C", Version: "v1.2.3"}, schema.Descriptor{Name: "a", Version: "1.2.3"}},
		"parameters": {deploycmd.ImportEntry{Type: "a:b:C", Version: "v1.2.3",
			Parameterization: &operation.ImportParameters{PluginName: "tf", PluginVersion: "v0.6.0"}},
			schema.Descriptor{Name: "tf", Version: "0.6.0", Parameterization: &schema.Parameterization{Name: "a",
				Version: "1.2.3"}}},
		"extension": {deploycmd.ImportEntry{Type: "a:b:C", Extension: &operation.ImportExtension{Name: "x",
			Version: "v2.0.0"}},
			schema.Descriptor{Name: "a", Extension: true, Parameterization: &schema.Parameterization{Name: "x",
				Version: "2.0.0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, (&deploycmd.PlannedImport{Entry: c.entry}).Descriptor())
		})
	}
}

// A package survives being written to an import file and read back. An extension for a default provider is left out,
// since import files cannot express it.
func TestPackagesOfImportFiles(t *testing.T) {
	t.Parallel()
	made := &schema.Parameterization{Name: "a", Version: "1.2.3", Value: []byte("x")}
	for name, d := range map[string]schema.Descriptor{
		"plain":      {Name: "a", Version: "1.2.3", DownloadURL: "https://example.com"},
		"parameters": {Name: "tf", Version: "0.6.0", Parameterization: made},
		"extension":  {Name: "a", Version: "2.0.0", Parameterization: made, Extension: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saved := operation.SavedImport{Type: "a:b:C", Provider: "p"}
			saved.Of(d)
			text, err := json.Marshal(saved)
			require.NoError(t, err)
			var read deploycmd.PlannedImport
			require.NoError(t, json.Unmarshal(text, &read.Entry))
			require.Equal(t, d, read.Descriptor())
		})
	}
	saved := operation.SavedImport{Type: "a:b:C"}
	saved.Of(schema.Descriptor{Name: "b", Version: "1.0.0", Parameterization: made, Extension: true})
	require.Equal(t, operation.SavedImport{Type: "a:b:C"}, saved)
}
