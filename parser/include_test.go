package parser_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/parser/ast"
)

// TestInclude parses programs of several files (L10.C11). files holds the texts by name; Main.yaml is the main one.
func TestInclude(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  map[string]string
		names  string // of all declarations
		faults []string
	}{
		"all sections": {
			files: map[string]string{
				"Main.yaml": "include: [a.yaml, b.yaml]\nvariables: {m: 1}\n",
				"a.yaml":    "config: {c: {type: string}}\nvariables: {v: 1}\nresources: {r: {type: 'p:R'}}\n",
				"b.yaml":    "outputs: {o: 1}\ncomponents: {C: {}}\nhooks: {h: {command: [x]}}\n",
			},
			names: "c m v r o C h",
		},
		"one name, and files in files": {
			files: map[string]string{"Main.yaml": "include: a.yaml", "a.yaml": "include: [b.yaml, Main.yaml]\nvariables: {a: 1}",
				"b.yaml": "include: a.yaml\nvariables: {b: 1}"},
			names: "a b",
		},
		"twice": {
			files: map[string]string{"Main.yaml": "include: a.yaml\nresources: {r: {type: 'p:R'}}\nvariables: {v: 1}",
				"a.yaml": "resources: {r: {type: 'p:R'}}\nvariables: {r: 1, v: 2}"},
			names: "v r v r r",
			faults: []string{"a.yaml: the variable `v` is declared in Main.yaml already",
				"a.yaml: the resource `r` is declared in Main.yaml already"},
		},
		"nothing there": {
			files: map[string]string{"Main.yaml": "include: [no.yaml, ../x.yaml, /x.yaml, bad.yaml, '${x}', 5, {a: b}]"},
			faults: []string{"Main.yaml: there is no file `no.yaml` to include",
				"Main.yaml: `../x.yaml` is outside of the program",
				"Main.yaml: `/x.yaml` is outside of the program", "Main.yaml: `bad.yaml` cannot be included: no permission",
				"Main.yaml: `include` must be literal", "Main.yaml: `include` must be the name of a file, found a number",
				"Main.yaml: `include` must be the name of a file, found a map"},
		},
		"what a part cannot have": {
			files: map[string]string{"Main.yaml": "name: m\ninclude: a.yaml",
				"a.yaml": "name: a\npulumi: {requiredVersion: '>=1'}\nconfig: {'aws:region': {type: string}}\n"},
			names:  "aws:region",
			faults: []string{"a.yaml: an included file cannot have configuration of another namespace"},
		},
		"with backslashes": {
			files:  map[string]string{"Main.yaml": `include: [parts\a.yaml, '..\x.yaml']`, "parts/a.yaml": "variables: {a: 1}"},
			faults: []string{"Main.yaml: `../x.yaml` is outside of the program"},
		},
		"broken": {
			files:  map[string]string{"Main.yaml": "include: a.yaml", "a.yaml": "a: [\n"},
			faults: []string{"a.yaml: `[` is never closed"},
		},
		"a map": {
			files:  map[string]string{"Main.yaml": "include: {a: b}"},
			faults: []string{"Main.yaml: `include` must be a list, found a map"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := parseFiles(c.files)
			var names, faults []string
			for _, x := range file.Config {
				names = append(names, x.Name.Value)
			}
			for _, x := range file.Variables {
				names = append(names, x.Name.Value)
			}
			for _, x := range file.Resources {
				names = append(names, x.Name.Value)
			}
			for _, x := range file.Outputs {
				names = append(names, x.Name.Value)
			}
			for _, x := range file.Components {
				names = append(names, x.Name.Value)
			}
			for _, x := range file.Hooks {
				names = append(names, x.Name.Value)
			}
			for _, d := range diags {
				if d.Severity == diag.Error {
					faults = append(faults, d.Subject.Source.Name()+": "+d.Summary)
				}
			}
			require.ElementsMatch(t, c.faults, faults)
			if c.faults == nil {
				require.Equal(t, c.names, strings.Join(names, " "))
			}
			require.Equal(t, "m", firstOf(file.Name.Text(), "m"), "the main file alone says what the program is called")
			require.Nil(t, file.RequiredVersion)
		})
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestIncludedNamesDecide checks that the names of all files determine the grammar of an interpolation (D6).
func TestIncludedNamesDecide(t *testing.T) {
	t.Parallel()
	file, diags := parseFiles(map[string]string{
		"Main.yaml": "include: a.yaml\nvariables: {x: '${a.count + b}', y: '${a + 1}'}",
		"a.yaml":    "variables: {a: {count: 1}, b: 2, z: '${x + 1}', 'a + 1': 3}",
	})
	require.False(t, diags.HasErrors(), diags)
	kinds := make(map[string]bool)
	for _, v := range file.Variables {
		_, kinds[v.Name.Value] = v.Value.(*ast.Binary)
	}
	require.True(t, kinds["x"] && kinds["z"])
	require.False(t, kinds["y"], "there is a variable of that very name, in the other file")
}

func parseFiles(files map[string]string) (*ast.File, diag.Diagnostics) {
	source := func(name string) *diag.Source { return diag.NewSource(name, []byte(files[name])) }
	return parser.Parse(source("Main.yaml"), parser.Options{Include: func(pattern string) ([]*diag.Source, error) {
		if pattern == "bad.yaml" {
			return nil, errors.New("no permission")
		}
		if _, ok := files[pattern]; !ok {
			return nil, nil
		}
		return []*diag.Source{source(pattern)}, nil
	}})
}
