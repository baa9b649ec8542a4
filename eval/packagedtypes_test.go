package eval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// L10.C16: the engine finds the provider of a package's types. Programs and the package's components use the types by
// the package's name, with their declared properties.
func TestPackagedTypes(t *testing.T) {
	t.Parallel()
	pkg, diags := parser.ParsePackage([]*diag.Source{diag.NewSource("PulumiPlugin.yaml", []byte(`
name: parts
dynamic:
  Screw:
    provider: ./screw.ts
    inputs: {size: {type: integer}, head: {type: string, default: flat}}
    outputs: {made: string}
components:
  Pair:
    resources: {one: {type: "parts:Screw", properties: {size: 1}}}
    outputs: {made: "${one.made}"}
`))})
	require.Empty(t, diags)
	verify := func(text string) (*check.Program, diag.Diagnostics) {
		file, diags := parse(text)
		program, more := check.Check(context.Background(), file, check.Options{Project: "proj", Schemas: zooLoader(t),
			Local: []check.LocalPackage{{Name: "parts", Alias: "mine", File: pkg}}})
		return program, serious(append(diags, more...))
	}
	program, diags := verify(`
resources:
  a: {type: "parts:index:Screw", properties: {size: 3}}
  b: {type: "mine:Screw", properties: {size: 4, head: round}}
  p: {type: "parts:Pair"}
`)
	require.Empty(t, diags)
	require.Empty(t, program.Packages, "no plugin is looked for")
	z := newZoo(true)
	_, diags = eval.Run(context.Background(), program, z.recorder, options())
	require.Empty(t, diags)
	for name, want := range map[string]string{"a": "flat", "b": "round", "p-one": "flat"} {
		made := registrations(z)[name]
		require.Equal(t, "parts:index:Screw", made.Type)
		require.Empty(t, made.Provider, "the default one of the package")
		head, _ := made.Inputs.Get("head").AsString()
		require.Equal(t, want, head, "defaults are filled in")
		require.Equal(t, monitor.RegisterRequest{}.Version, made.Version)
	}

	for text, want := range map[string]string{
		`{type: "parts:Scrwe", properties: {size: 3}}`:          "there is no type `parts:Scrwe`",
		`{type: "parts:Screw", properties: {size: 3, tall: 1}}`: "parts:Screw has no input `tall`",
		`{type: "parts:Screw"}`:                                 "parts:Screw needs size (integer)",
	} {
		_, diags := verify("resources:\n  a: " + text + "\n")
		require.Len(t, diags, 1, text)
		require.Equal(t, want, diags[0].Summary)
	}
	_, diags = verify("resources:\n  a: {type: \"parts:Screw\", properties: {size: 3}}\noutputs: {x: \"${a.taste}\"}\n")
	require.Len(t, diags, 1)
	require.Equal(t, "a has no member `taste`", diags[0].Summary)

	_, diags = parser.ParsePackage([]*diag.Source{diag.NewSource("PulumiPlugin.yaml",
		[]byte("name: parts\ndynamic:\n  Screw: {provider: ./screw.ts}\n"))})
	require.Len(t, diags, 1)
	require.Equal(t, "the type `Screw` of a package needs `inputs`", diags[0].Summary)
}
