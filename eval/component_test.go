package eval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/diag"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// L3.53: what a component of a package is made of goes by its old name too, unless another resource has that name now.
// L1.36, G41: components of the package use each other by the package's name.
func TestPackagedComponents(t *testing.T) {
	t.Parallel()
	pkg, diags := parser.ParsePackage([]*diag.Source{diag.NewSource("PulumiPlugin.yaml", []byte(`
name: parts
components:
  Pair:
    inputs: {first: {type: string}}
    resources:
      a: {type: "zoo:Echo", properties: {value: "${first}"}}
      b: {type: "zoo:Echo", name: bee, properties: {value: "${a.computed}"}, options: {parent: "${a}"}}
      one-a: {type: "zoo:Echo", properties: {value: 1}}
    outputs: {out: "${b.computed}"}
  Outer:
    resources: {inner: {type: "parts:index:Pair", properties: {first: x}}}
    outputs: {out: "${inner.out}"}
`))})
	require.Empty(t, diags)
	file, diags := parse(`
resources:
  one: {type: "parts:Pair", properties: {first: y}}
  far: {type: "mine:index:Outer"}
outputs: {out: "${far.out}"}
`)
	program, more := check.Check(context.Background(), file, check.Options{Project: "proj", Schemas: zooLoader(t),
		Local: []check.LocalPackage{{Name: "parts", Alias: "mine", File: pkg}}})
	require.Empty(t, append(diags, more...))
	require.Len(t, program.Packages, 1, "the package itself needs no provider")

	z := newZoo(false)
	result, diags := eval.Run(context.Background(), program, z.recorder, options())
	require.Empty(t, diags)
	out, _ := result.Outputs.Get("out").AsString()
	require.Equal(t, "c-far-inner-bee", out)
	aliases := make(map[string][]string)
	types := make(map[string]string)
	for _, r := range z.recorder.Requests() {
		if g, ok := r.(monitor.RegisterRequest); ok {
			types[g.Name] = g.Type
			for _, a := range g.Aliases {
				aliases[g.Name] = append(aliases[g.Name], string(a.URN))
			}
		}
	}
	require.Equal(t, "parts:index:Outer", types["far"])
	require.Equal(t, map[string][]string{
		"one-a":           {"urn:pulumi:dev::proj::parts:index:Pair$zoo:index:Echo::a"},
		"one-bee":         {"urn:pulumi:dev::proj::parts:index:Pair$zoo:index:Echo::bee"},
		"far-inner":       {"urn:pulumi:dev::proj::parts:index:Outer$parts:index:Pair::inner"},
		"far-inner-a":     {"urn:pulumi:dev::proj::parts:index:Outer$parts:index:Pair$zoo:index:Echo::a"},
		"far-inner-bee":   {"urn:pulumi:dev::proj::parts:index:Outer$parts:index:Pair$zoo:index:Echo::bee"},
		"far-inner-one-a": {"urn:pulumi:dev::proj::parts:index:Outer$parts:index:Pair$zoo:index:Echo::one-a"},
	}, aliases)
}
