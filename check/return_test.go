package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check/program"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

// L6.40: return is the name of a member, which may look like a path, or else a path.
func TestReturnPath(t *testing.T) {
	t.Parallel()
	result := schema.ObjectOf(&schema.Property{Name: "a.b", Type: schema.String},
		&schema.Property{Name: "list", Type: schema.Any})
	index := value.PathStep{Index: 0, IsIndex: true}
	for text, want := range map[string]value.Path{
		"list":          value.PathOf("list"),
		"a.b":           value.PathOf("a.b"),
		"list[0].x":     {value.KeyStep("list"), index, value.KeyStep("x")},
		`list["a.b"].c`: value.PathOf("list", "a.b", "c"),
		"list[":         value.PathOf("list["),
	} {
		require.Equal(t, want, program.ReturnPath(result, text), text)
	}
	require.Equal(t, value.PathOf("x", "y"), program.ReturnPath(schema.Any, "x.y"))
}
