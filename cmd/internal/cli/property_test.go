package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/cmd/internal/operation"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

func TestPropertyIsFoundAsDeepAsItIsWritten(t *testing.T) { // E4.26
	t.Parallel()
	src := diag.NewSource("Pulumi.yaml",
		[]byte(
			"name: p\nruntime: yaml\nresources:\n  a:\n    type: t:T\n    properties:\n      x: 7\n      deep: {in: [one, "+
				"two]}\n"))
	file, diags := parser.Parse(src, parser.Options{})
	require.False(t, diags.HasErrors(), diags)

	for path, want := range map[string]string{
		"x": "7", "deep.in[1]": "two", "deep.in[5]": "[one, two]", "deep.other": "{in: [one, two]}", "absent": "", "": "",
	} {
		rng, found := operation.Property(file, file.Resources[0].Name.Range, path)
		require.Equal(t, want != "", found, path)
		if found {
			require.Equal(t, want, string(src.Text()[rng.Start:rng.End]), path)
		}
	}
	_, found := operation.Property(file, file.Resources[0].Properties[0].Name.Range, "x")
	require.False(t, found, "no resource stands there")
}
