package eval_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// L3.53: resources in a component of a package have their old name as an alias, unless another resource has that name.
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

// L9.11: instances and components that are evaluated concurrently give the same results as one after the other.
func TestInstancesInParallel(t *testing.T) {
	t.Parallel()
	program, diags := load(t, `
components:
  Pair:
    inputs: {first: {type: string}}
    variables: {asked: {fn::invoke: {function: "zoo:echo", arguments: {value: "${first}"}, return: result}}}
    resources:
      a: {type: "zoo:Echo", forEach: 5, properties: {value: "${first}", other: "${each.key}"}}
      b: {type: "zoo:Echo", properties: {value: "${a[*].computed}", other: "${asked}"}}
    outputs: {out: "${b.computed}", all: "${a[*].other}"}
  Outer:
    inputs: {many: {type: integer}}
    resources: {inner: {type: "components:Pair", forEach: "${many}", properties: {first: "x-${each.value}"}}}
    outputs: {outs: "${inner[*].out}", all: "${inner[*].all}"}
resources:
  outer: {type: "components:Outer", forEach: [3, 4], properties: {many: "${each.value}"}}
  last: {type: "zoo:Echo", properties: {value: "${outer[*].outs}"}, options: {dependsOn: ["${outer}"]}}
outputs: {all: "${outer[*].all}", outs: "${outer[*].outs}", last: "${last.id}"}
`, nil)
	require.False(t, diags.HasErrors(), diags)
	var first string
	var count int
	for _, workers := range []int{1, 2, 16} {
		z, o := newZoo(false), options()
		o.Workers = workers
		result, diags := eval.Run(context.Background(), program, z.recorder, o)
		require.Empty(t, diags)
		got := outputsText(result.Outputs)
		last, _ := z.recorder.Registered("last")
		got += strings.Join(names(last.Dependencies), " ")
		if workers == 1 {
			first, count = got, len(z.recorder.Requests())
		}
		require.Equal(t, first, got)
		require.Len(t, z.recorder.Requests(), count)
	}
	require.Contains(t, first, "outer-1-inner-3-a-4")
}

func names(urns []urn.URN) []string {
	var all []string
	for _, u := range urns {
		all = append(all, u.Name())
	}
	return all
}
