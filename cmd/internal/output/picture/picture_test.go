package picture_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/output/picture"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/schema"
)

// A picture shows the members of a limited number of components. Further components are closed boxes with their arrows.
func TestPictureOfManyComponents(t *testing.T) {
	const members, instances = 100, picture.OpenMembers/100 + 4
	var text strings.Builder
	text.WriteString("name: many\nruntime: yaml\ncomponents:\n  Part:\n    variables:\n")
	for i := range members {
		fmt.Fprintf(&text, "      v%d: %d\n", i, i)
	}
	text.WriteString("resources:\n")
	for i := range instances {
		fmt.Fprintf(&text, "  part%d: {type: components:Part}\n", i)
	}
	fmt.Fprintf(&text, "outputs:\n  last: ${part%d.urn}\n", instances-1)
	file, diags := parser.Parse(diag.NewSource("Pulumi.yaml", []byte(text.String())), parser.Options{})
	require.False(t, diags.HasErrors())
	none := func(context.Context, schema.Descriptor) ([]byte, error) {
		return nil, fmt.Errorf("no provider is needed")
	}
	program, diags := check.Check(t.Context(), file, check.Options{Project: "many", Schemas: schema.NewLoader(none)})
	require.False(t, diags.HasErrors())

	var b bytes.Buffer
	require.NoError(t, picture.WriteSVG(&b, program))
	require.Equal(t, picture.OpenMembers/members, strings.Count(b.String(), `<g class="group">`))
	require.Equal(t, picture.OpenMembers, strings.Count(b.String(), `<g class="node variable"><title>`))
	require.Equal(t, instances-picture.OpenMembers/members, strings.Count(b.String(), `<g class="node component"><title>`))
	require.Contains(t, b.String(), fmt.Sprintf("<title>output last uses part%d.urn (Pulumi.yaml:", instances-1))
}
