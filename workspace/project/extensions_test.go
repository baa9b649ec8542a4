package project

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
)

// L1.B, L7.31: `extensions` under `packages` has no effect, which is a warning.
func TestExtensionsHaveNoEffect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		extensions string
		warned     bool
	}{"some": {"[a]", true}, "none": {"[]", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "name: p\nruntime: yaml\npackages:\n  k: {source: kubernetes, extensions: " + c.extensions + "}\n"
			_, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(text)))
			if !c.warned {
				require.Empty(t, diags)
				return
			}
			require.Len(t, diags, 1)
			require.Equal(t, diag.Warning, diags[0].Severity)
			require.Equal(t, "extensions", diags[0].Subject.Text())
		})
	}
}
