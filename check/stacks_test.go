package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// StackNames returns the stacks that a program reads by a literal name.
func TestStackNames(t *testing.T) {
	t.Parallel()
	p, diags := checkText(t, "Main.yaml", `config: {other: {type: string, default: x}}
variables: {v: {fn::stackReference: [organization/b/prod, out]}}
resources:
  a: {type: "pulumi:pulumi:StackReference", properties: {name: organization/a/prod}}
  dev: {type: "pulumi:pulumi:StackReference"}
  computed: {type: "pulumi:pulumi:StackReference", properties: {name: "organization/${other}/prod"}}
outputs: {o: {fn::join: ["", [{fn::stackReference: [organization/c/prod, out]}]]}}
`)
	require.False(t, diags.HasErrors(), diags)
	require.Equal(t, []string{"dev", "organization/a/prod", "organization/b/prod", "organization/c/prod"}, p.StackNames())
}
