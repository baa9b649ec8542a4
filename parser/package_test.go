package parser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

// TestParsePackage merges the files of packages (L1.30–L1.32). A field that only one file may have is reported if it
// occurs in two.
func TestParsePackage(t *testing.T) {
	t.Parallel()
	source := func(name, text string) *diag.Source { return diag.NewSource(name, []byte(text)) }
	const component = "{resources: {r: {type: 'docs:Rec'}}}"
	for name, c := range map[string]struct {
		files      []*diag.Source
		components []string
		faults     []string
	}{
		"several files": {
			files: []*diag.Source{source("PulumiPlugin.yaml", "name: p\nversion: 1.0.0\ncomponents: {A: "+component+"}"),
				source("b.yaml", "components: {B: "+component+"}"), source("c.yaml", "{}")},
			components: []string{"A", "B"},
		},
		"a name in the second file": {
			files: []*diag.Source{source("PulumiPlugin.yaml", "components: {A: "+component+"}"),
				source("b.yaml", "name: p")},
			components: []string{"A"},
		},
		"no name": {
			files:      []*diag.Source{source("PulumiPlugin.yaml", "components: {A: "+component+"}")},
			components: []string{"A"}, faults: []string{"the package has no name"},
		},
		"given twice": {
			files: []*diag.Source{source("PulumiPlugin.yaml", "name: p\ncomponents: {A: "+component+"}"),
				source("b.yaml", "name: p\ncomponents: {A: "+component+"}")},
			components: []string{"A"},
			faults: []string{"another file of the package gives its name already",
				"the package has a component `A` already"},
		},
		"program sections in a second file": { // L1.31
			files: []*diag.Source{source("PulumiPlugin.yaml", "name: p"),
				source("b.yaml", "resources: {r: {type: 'docs:Rec'}}")},
			faults: []string{"a component plugin has no `resources` of its own"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := parser.ParsePackage(c.files)
			var components, faults []string
			for _, component := range file.Components {
				components = append(components, component.Name.Value)
			}
			for _, d := range diags {
				faults = append(faults, d.Summary)
			}
			require.Equal(t, c.components, components)
			require.Equal(t, c.faults, faults)
		})
	}
}
