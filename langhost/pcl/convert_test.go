package pcl_test

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/langhost/pcl"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// convert translates a program in YAML to PCL.
func convert(t *testing.T, text string, o pcl.Options) (pcl.Module, diag.Diagnostics) {
	t.Helper()
	file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
	require.False(t, diags.HasErrors(), diags)
	return pcl.Convert(t.Context(), file, o)
}

// TestThereAndBack converts the YAML of the corpus to PCL and back. The result is the same YAML with the same comments.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	tried := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		for _, f := range archive.Files {
			if f.Name != "out/Main.yaml" {
				continue
			}
			tried++
			module, diags := convert(t, string(f.Data), pcl.Options{})
			require.False(t, diags.HasErrors(), diags)
			folders := map[string]pcl.Sources{}
			for name, text := range module.Files {
				folder := strings.TrimSuffix(path.Dir(name), ".")
				if folders[folder] == nil {
					folders[folder] = pcl.Sources{}
				}
				folders[folder][path.Base(name)] = []byte(text)
			}
			again, diags := pcl.Generate(t.Context(), folders[""],
				pcl.Options{Component: func(folder string) (pcl.Sources, error) {
					if sources := folders[folder]; sources != nil {
						return sources, nil
					}
					return nil, fmt.Errorf("there is no folder %s", folder)
				}})
			require.False(t, diags.HasErrors(), "%v\n%s", diags, module.Files["main.pp"])
			require.Equal(t, string(f.Data), again.Text, "%s\n%s", file, module.Files["main.pp"])
		}
	}
	require.NotZero(t, tried)
}

// A construct that PCL lacks is an error.
func TestNotInPCL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"name": {"variables: {'a b': 1}\n", "a b cannot be the name of a variable in PCL"},
		"properties": {"variables: {v: {}}\nresources: {r: {type: 'a:B', properties: '${v}'}}\n",
			"must be written out in PCL"},
		"default provider": {"resources: {r: {type: 'pulumi:providers:a', defaultProvider: true}}\n",
			"PCL has no default providers"},
		"computed path": {"variables: {v: x}\nresources: {r: {type: 'a:B', options: {ignoreChanges: ['${v}']}}}\n",
			"literal texts in PCL"},
		"whole variable":      {"outputs: {o: '${pulumi}'}\n", "only a member of pulumi"},
		"range and condition": {"resources: {r: {type: 'a:B', forEach: 2, if: true}}\n", "not both"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := convert(t, c.text, pcl.Options{})
			require.Len(t, diags, 1)
			require.Contains(t, diags[0].Summary, c.want)
			require.False(t, diags[0].Subject.IsZero())
		})
	}
}

// L1.41: each used package with parameters becomes a block package.
func TestPackageBlocks(t *testing.T) {
	t.Parallel()
	d := schema.Descriptor{Name: "base", Version: "1.0.0", Parameterization: &schema.Parameterization{Name: "sub",
		Version: "2.0.0", Value: []byte("x")}}
	module, diags := convert(t, "resources: {r: {type: 'sub:A'}}\n", pcl.Options{
		Packages: map[string]schema.Descriptor{"sub": d, "plain": {Name: "plain"}}, Used: map[string]bool{"sub": true},
	})
	require.False(t, diags.HasErrors())
	require.Equal(t, `package "sub" {
  baseProviderName = "base"
  baseProviderVersion = "1.0.0"
  parameterization {
    name = "sub"
    version = "2.0.0"
    value = "eA=="
  }
}

resource "r" "sub:A" {
}
`, module.Files["main.pp"])
}

// In a range over a number, PCL has only range.value, so each.key becomes range.value.
func TestKeyOfNumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ declared, forEach, want string }{
		"a number":                 {"", "3", "${range.value} ${range.value}"},
		"a setting, typed":         {"config: {n: {type: integer}}\n", "'${n}'", "${range.value} ${range.value}"},
		"a setting by its default": {"config: {n: {default: 2}}\n", "'${n}'", "${range.value} ${range.value}"},
		"a variable": {"config: {n: {type: number}}\nvariables: {v: '${n}'}\n", "'${v}'",
			"${range.value} ${range.value}"},
		"a list":                    {"", "[a]", "${range.key} ${range.value}"},
		"a setting that is a list":  {"config: {n: {type: list<integer>}}\n", "'${n}'", "${range.key} ${range.value}"},
		"a variable that is a list": {"variables: {v: [1, 2]}\n", "'${v}'", "${range.key} ${range.value}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			module, diags := convert(t, c.declared+"resources: {r: {type: 'a:B', forEach: "+c.forEach+
				", properties: {p: '${each.key} ${each.value}'}}}\n", pcl.Options{})
			require.False(t, diags.HasErrors(), diags)
			require.Contains(t, module.Files["main.pp"], `p = "`+c.want+`"`)
		})
	}
}
