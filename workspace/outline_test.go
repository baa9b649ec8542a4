package workspace_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// TestOutlinedProjects reads project files from the outline of a document, before and after an edit. The result must be
// that of the whole text.
func TestOutlinedProjects(t *testing.T) {
	t.Parallel()
	entries := strings.Repeat("  r:\n    type: a:b:C # not a name\n\n", 200)
	outlined := 0
	for name, text := range map[string]string{
		"last":     "name: p\nruntime: yaml\nconfig:\n  a: {type: string, default: 'x\n    y'}\nresources:\n" + entries,
		"first":    "# first\nresources:\n" + entries + "name: p\nruntime:\n  name: go\nconfig:\n  a: {type: nothing}\n",
		"between":  "---\nname: p\noutputs:\n  a: 1\nbackend: {url: 3}\nresources: # these\n" + entries + "# end\nruntime: yaml\n",
		"flow":     "name: p\nresources: {\n" + strings.Repeat("  # nothing\n", 500) + "}\nruntime: yaml\nmain: [1]\n",
		"stray":    "name: p\nresources:\n" + entries + "stray\n" + entries + "runtime: 3\n",
		"lists":    "name: p\nvariables:\n- a\n- b\nresources:\n" + entries + "runtime: yaml\nconfig: 1\n",
		"anchors":  "name: p\nvariables:\n  x: &a 1\ndescription: *a\nresources:\n" + entries,
		"returns":  strings.ReplaceAll("name: p\nresources:\n"+entries+"\nmain: 3\nruntime: yaml\n", "\n", "\r\n"),
		"no names": "resources:\n" + entries,
	} {
		document := parser.NewDocument(diag.NewSource("Pulumi.yaml", []byte(text)))
		i := strings.LastIndex(text, "not a name")
		for range 3 {
			outline, known := document.Outline(project.ProgramSections())
			if known {
				outlined++
			} else {
				outline = nil
			}
			want, wrong := project.ParseOutlined(document.Source(), nil)
			found, same := project.ParseOutlined(document.Source(), outline)
			require.Equal(t, want, found, name)
			require.Equal(t, wrong, same, name)
			document = document.Edit(parser.Edit{Start: max(i, 0), End: max(i, 0) + 3, Text: "#\n# "})
		}
	}
	require.Greater(t, outlined, 15)
}
