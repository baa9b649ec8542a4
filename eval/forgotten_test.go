package eval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// A program that is about to run keeps the types of options and of what `[*]` iterates over, for which evaluation asks.
func TestForgetTypes(t *testing.T) {
	t.Parallel()
	program, findings := load(t, `
resources:
  plain: {type: "zoo:Echo", properties: {s: text}}
  child: {type: "zoo:Echo", options: {parent: "${plain}"}}
outputs:
  all: "${plain.clist[*]}"
`, nil)
	require.False(t, findings.HasErrors(), describe(findings))
	plain, child := program.File.Resources[0], program.File.Resources[1]
	require.Equal(t, schema.Invalid, program.TypeOf(plain.Properties[0].Value))
	require.IsType(t, &schema.ResourceType{}, program.TypeOf(child.Options.Parent.Value))
	require.IsType(t, &schema.Array{}, program.TypeOf(program.Outputs[0].Decl.Value.(*ast.Splat).Source))
}
