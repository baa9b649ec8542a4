package eval_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/runtime/monitor"
)

// crossing declares components with one output that depends on the input and one that does not.
const crossing = `
components:
  Half:
    inputs: {input: {type: string}, plain: {type: string, default: p}}
    resources:
      free: {type: "zoo:Echo", properties: {value: "${plain}"}}
      bound: {type: "zoo:Echo", properties: {value: "${input}"}}
    outputs: {free: "${free.computed}", bound: "${bound.computed}", plain: "${plain}"}
`

// serious returns the findings without those about other hosts.
func serious(diags diag.Diagnostics) (found diag.Diagnostics) {
	for _, d := range diags {
		if d.Severity <= diag.Warning {
			found = append(found, d)
		}
	}
	return found
}

// registrations returns the requests of a run by name.
func registrations(z *zoo) map[string]monitor.RegisterRequest {
	found := map[string]monitor.RegisterRequest{}
	for _, r := range z.recorder.Requests() {
		if g, ok := r.(monitor.RegisterRequest); ok {
			found[g.Name] = g
		}
	}
	return found
}

// L10.C21: components may use each other's outputs in any order. The registration lacks only the inputs that are
// deferred.
func TestComponentsThatUseEachOther(t *testing.T) {
	t.Parallel()
	programs := map[string]struct{ text, out string }{
		"two": {`
resources:
  first: {type: "components:Half", properties: {input: "${second.free}", plain: a}}
  second: {type: "components:Half", properties: {input: "${first.free}", plain: b}}
outputs: {out: "${first.bound} ${second.bound}"}
`, "c-first-bound c-second-bound"},
		"through variables": {`
variables:
  there: {fn::join: [",", ["${second.free}", "${second.plain}"]]}
  back: "${first.free}!"
resources:
  first: {type: "components:Half", properties: {input: "${there}"}}
  second: {type: "components:Half", properties: {input: "${back}"}}
outputs: {out: "${first.bound} ${second.bound}"}
`, "c-first-bound c-second-bound"},
		"instances": {`
resources:
  another:
    type: components:Half
    properties: {input: '${join("", [for _, v in many : v.free == "c-many-0-free" ? "a" : "b"])}'}
  many: {type: "components:Half", forEach: 2, properties: {input: "${another.free}"}}
  single: {type: "components:Half", properties: {input: '${many[1].free} ${join(" ", many[*].free)}'}}
outputs: {out: "${another.bound} ${many[1].bound} ${single.bound}"}
`, "c-another-bound c-many-1-bound c-single-bound"},
		"itself": {`
resources:
  own: {type: "components:Half", properties: {input: "${own.free}"}}
outputs: {out: "${own.bound}"}
`, "c-own-bound"},
		"in turns": { // an output goes through the other component and back, more than once
			`
components:
  Steps:
    inputs: {a: {type: string, optional: true}, b: {type: string, optional: true}}
    resources:
      zero: {type: "zoo:Echo", properties: {value: z}}
      one: {type: "zoo:Echo", properties: {value: "${a}"}}
      two: {type: "zoo:Echo", properties: {value: "${b}"}}
    outputs: {zero: "${zero.computed}", one: "${one.computed}", two: "${two.computed}"}
resources:
  left: {type: "components:Steps", properties: {a: "${right.zero}", b: "${right.one}"}}
  right: {type: "components:Steps", properties: {a: "${left.one}", b: "${left.two}"}}
outputs: {out: "${right.two}"}
`, "c-right-two"},
		"inside of a component": {`
components:
  Around:
    inputs: {x: {type: string}}
    resources:
      first: {type: "components:Half", properties: {input: "${second.free}${x}"}}
      second: {type: "components:Half", properties: {input: "${first.free}"}}
    outputs: {out: "${first.bound} ${second.bound}"}
resources:
  around: {type: "components:Around", properties: {x: y}}
outputs: {out: "${around.out}"}
`, "c-around-first-bound c-around-second-bound"},
	}
	for name, p := range programs {
		for _, workers := range []int{1, 2, 16} {
			t.Run(fmt.Sprint(name, " ", workers), func(t *testing.T) {
				t.Parallel()
				text := crossing + strings.TrimPrefix(p.text, "\ncomponents:")
				program, diags := load(t, text, nil)
				require.Empty(t, serious(diags))
				z, o := newZoo(false), options()
				o.Workers = workers
				result, diags := eval.Run(context.Background(), program, z.recorder, o)
				require.Empty(t, diags)
				out, _ := result.Outputs.Get("out").AsString()
				require.Equal(t, p.out, out)
			})
		}
	}
}

// L10.C21: a registration has all inputs that are not deferred, and resources inside depend on the resources behind
// their own values.
func TestWhatComesBackIsLeftOut(t *testing.T) {
	t.Parallel()
	program, diags := load(t, crossing+`
resources:
  seed: {type: "zoo:Echo", properties: {value: s}}
  first: {type: "components:Half", properties: {input: "${second.free}", plain: "${seed.computed}"}}
  second: {type: "components:Half", properties: {input: "${first.free}"}}
  user: {type: "zoo:Echo", properties: {value: "${first.plain}"}, options: {dependsOn: ["${second}"]}}
`, nil)
	require.Empty(t, serious(diags))
	z := newZoo(false)
	_, diags = eval.Run(context.Background(), program, z.recorder, options())
	require.Empty(t, diags)
	made := registrations(z)
	require.Equal(t, []string{"plain"}, made["first"].Inputs.Keys())
	require.Empty(t, made["second"].Inputs.Keys())
	seed := "urn:pulumi:dev::proj::zoo:index:Echo::seed"
	require.Contains(t, fmt.Sprint(made["first"].Dependencies), seed)
	require.Contains(t, fmt.Sprint(made["first-bound"].Dependencies), "second-free")
	require.Contains(t, fmt.Sprint(made["second-bound"].Dependencies), "first-free")
	require.NotContains(t, fmt.Sprint(made["second-free"].Dependencies), "first-")
	require.Contains(t, fmt.Sprint(made["user"].Dependencies), "second-bound", "who depends on all of it waits for all of it")
}

// A preview knows the same values as for other components, and a failure inside skips only its dependants.
func TestComponentsThatUseEachOtherAndFail(t *testing.T) {
	t.Parallel()
	text := crossing + `
resources:
  first: {type: "components:Half", properties: {input: "${second.free}"}}
  second: {type: "components:Half", properties: {input: "${first.free}"}}
  other: {type: "zoo:Echo", properties: {value: x}}
`
	program, diags := load(t, text, nil)
	require.Empty(t, serious(diags))
	z := newZoo(true)
	_, diags = eval.Run(context.Background(), program, z.recorder, options())
	require.Empty(t, diags)
	require.Len(t, registrations(z), 8)

	for _, workers := range []int{1, 8} {
		z = newZoo(false)
		z.fail = []string{"second-free"}
		o := options()
		o.Workers = workers
		result, diags := eval.Run(context.Background(), program, z.recorder, o)
		require.Empty(t, diags, "the engine has reported it")
		require.NotZero(t, result.Failed)
		made := registrations(z)
		require.Contains(t, made, "first-free")
		require.Contains(t, made, "second-bound", "it needs what is there")
		require.Contains(t, made, "other")
		require.NotContains(t, made, "first-bound")
	}
}

// L9.5: outputs that depend on themselves are a cycle.
func TestComponentsInACycle(t *testing.T) {
	t.Parallel()
	for _, resources := range []string{`
  first: {type: "components:Half", properties: {input: "${second.bound}"}}
  second: {type: "components:Half", properties: {input: "${first.bound}"}}
`, `
  first: {type: "components:Half", properties: {input: "${toJSON(second)}"}}
  second: {type: "components:Half", properties: {input: "${toJSON(first)}"}}
`, `
  first: {type: "components:Half", properties: {input: x}, options: {dependsOn: ["${second}"]}}
  second: {type: "components:Half", properties: {input: "${first.free}"}}
`, `
  many: {type: "components:Half", forEach: 2, properties: {input: '${join("", many[*].bound)}'}}
`} {
		_, diags := load(t, crossing+"resources:"+resources, nil)
		found := serious(diags)
		require.Len(t, found, 1, "%s", resources)
		require.Equal(t, diag.Cycle, found[0].Code)
	}
}
