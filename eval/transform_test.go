package eval_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// runTransforms runs a program whose types have no schema.
func runTransforms(t *testing.T, text string, script func(*monitortest.Recorder)) (*monitortest.Recorder, eval.Result,
	diag.Diagnostics) {
	t.Helper()
	file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
	require.False(t, diags.HasErrors(), diags)
	program, diags := check.Check(t.Context(), file, check.Options{Project: "p"})
	require.False(t, diags.HasErrors(), diags)
	m := &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}}
	if script != nil {
		script(m)
	}
	result, findings := eval.Run(t.Context(), program, m, eval.Options{Cwd: "/dir"})
	return m, result, findings
}

// L10.C17: maps are merged deeply, null removes a key, and any other value replaces the former one.
func TestTransformMerges(t *testing.T) {
	t.Parallel()
	m, _, findings := runTransforms(t, `transforms:
  - match: {type: 'pkg:*', name: 'a*'}
    properties: {tags: {team: "${team}", old: null, deep: {x: 1}}, list: [3], gone: null, new: "on"}
  - match: {name: b}
    properties: {only: this}
    replace: true
  - match: {name: c}
    when: ${args.properties.tags == null && args.type == "pkg:index:Thing" && args.custom}
    properties: {tags: {was: "${args.options.protect}"}}
    options: {protect: false}
  - match: {name: c}
    when: ${args.properties.tags == null}
    properties: {never: true}
variables: {team: platform}
resources:
  a1: {type: 'pkg:Thing', properties: {tags: {old: 1, kept: 2, deep: {y: 2}}, list: [1, 2], gone: 1}}
  a2: {type: 'other:Thing', properties: {tags: {old: 1}}}
  b: {type: 'pkg:Thing', properties: {tags: {old: 1}}}
  c: {type: 'pkg:index:Thing', options: {protect: true}}
`, nil)
	require.Empty(t, findings)
	want := map[string]string{
		"a1": `{tags: {kept: 2, deep: {y: 2, x: 1}, team: "platform"}, list: [3], new: "on"}`,
		"a2": `{tags: {old: 1}}`, "b": `{only: "this"}`, "c": `{tags: {was: true}}`,
	}
	for name, inputs := range want {
		r, ok := m.Registered(name)
		require.True(t, ok, name)
		require.Equal(t, normal(inputs), normal(r.Inputs.String()), name)
	}
	c, _ := m.Registered("c")
	require.False(t, *c.Protect)
	require.Len(t, c.Transformed, 1)
	require.Equal(t, 7, c.Transformed["tags.was"].Line)
}

// normal returns the text of a value with sorted keys.
func normal(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}, \":", r) })
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// L10.C17: list options are joined, maps are merged, and other options are replaced.
func TestTransformMergesOptions(t *testing.T) {
	t.Parallel()
	m, _, findings := runTransforms(t, `transforms:
  - match: {type: 'pkg:Thing'}
    options:
      ignoreChanges: [b, a]
      dependsOn: ["${first}"]
      protect: true
      retainOnDelete: false
      customTimeouts: {create: 5m}
      aliases: [{name: older}]
      provider: ${mine}
      version: v2.0.0
resources:
  first: {type: 'pkg:First'}
  mine: {type: 'pulumi:providers:pkg'}
  r:
    type: pkg:Thing
    options:
      ignoreChanges: [a]
      retainOnDelete: true
      customTimeouts: {create: 1m, delete: 2m}
      aliases: [{name: old}]
`, nil)
	require.Empty(t, findings)
	r, _ := m.Registered("r")
	require.Equal(t, []string{"a", "b"}, r.IgnoreChanges)
	require.Equal(t, "first", r.Dependencies[len(r.Dependencies)-1].Name())
	require.True(t, *r.Protect)
	require.False(t, *r.RetainOnDelete)
	require.Equal(t, monitor.Timeouts{Create: "5m", Delete: "2m"}, r.CustomTimeouts)
	require.Equal(t, []monitor.Alias{{Name: "old"}, {Name: "older"}}, r.Aliases)
	require.Contains(t, r.Provider, "pulumi:providers:pkg::mine::")
	require.Equal(t, "2.0.0", r.Version)
}

// L10.C17: transforms of a resource run before its ancestors', and these before the stack's. A component of the program
// is evaluated with the transformed inputs.
func TestTransformOrder(t *testing.T) {
	t.Parallel()
	m, _, findings := runTransforms(t, `transforms:
  - properties: {by: "${args.properties.by}-stack"}
components:
  Box:
    inputs: {by: {type: string, default: none}}
    resources:
      deep:
        type: pkg:Thing
        properties: {by: "${by}"}
        options: {transforms: [{properties: {by: "${args.properties.by}/own"}}]}
resources:
  box:
    type: components:Box
    properties: {by: given}
    options: {transforms: [{match: {custom: true}, properties: {by: "${args.properties.by}+box"}}]}
outputs: {}
`, nil)
	require.Empty(t, findings)
	deep, _ := m.Registered("box-deep")
	text, _ := deep.Inputs.Get("by").AsString()
	require.Equal(t, "given-stack/own+box-stack", text)
}

// L10.C17: a resource depends on the values that its transforms read, and secrets stay secret.
func TestTransformMarks(t *testing.T) {
	t.Parallel()
	const program = `transforms:
  - match: {type: 'pkg:Thing'}
    properties: {a: "${first.out}", b: {fn::secret: s}}
  - match: {type: 'pkg:Other'}
    when: ${first.out == "x"}
    properties: {a: 1}
    options: {protect: true}
  - match: {function: 'pkg:*'}
    arguments: {more: "${first.id}"}
resources:
  first: {type: 'pkg:First', properties: {out: x}}
  r: {type: 'pkg:Thing'}
  o: {type: 'pkg:Other', properties: {a: 2}}
outputs:
  called: {fn::invoke: {function: 'pkg:index:say', arguments: {word: hi}}}
`
	m, result, findings := runTransforms(t, program, nil)
	require.Empty(t, findings)
	r, _ := m.Registered("r")
	require.True(t, r.Inputs.Get("b").IsSecret())
	require.Equal(t, "first", r.Inputs.Get("a").AllDeps()[0].Name())
	o, _ := m.Registered("o")
	require.True(t, *o.Protect)
	require.Equal(t, `"id-first"`, result.Outputs.Get("called").Get("more").String())

	m, _, findings = runTransforms(t, program, func(m *monitortest.Recorder) {
		m.Deployment.DryRun = true
		m.Register = func(g monitor.RegisterRequest) (monitor.RegisterResponse, error) {
			return monitor.RegisterResponse{ID: value.Unknown(value.KindString), Outputs: value.EmptyMap()}, nil
		}
	})
	require.Empty(t, findings)
	o, _ = m.Registered("o")
	require.False(t, o.Inputs.Get("a").IsKnown(), "a condition that is not known leaves what it decides about unknown")
	require.Nil(t, o.Protect)
}

// L10.C17: a fault of a transform is reported once for each resource, at the transform.
func TestTransformFault(t *testing.T) {
	t.Parallel()
	_, result, findings := runTransforms(t,
		"transforms:\n  - properties: {a: '${args.properties.b.c}'}\nresources:\n  r: {type: 'pkg:Thing', properties: {b: "+
			"x}}\n", nil)
	require.Equal(t, 1, result.Failed)
	require.Len(t, findings, 1)
	require.Equal(t, 2, findings[0].Subject.StartPosition().Line)
	require.Equal(t, "this transform changes r", findings[0].Related[0].Message)
}
