package langhost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// additions holds programs that use yamlhost's language additions (L10) and their results under another engine.
var additions = map[string]struct {
	files   map[string]string // Main.yaml and other files
	outputs string            // outputs of the stack as JSON
	refused string            // part of the message if the engine lacks a required feature
	check   func(t *testing.T, r *monitortest.Recorder)
}{
	"L10.C1 expressions": {files: map[string]string{"Main.yaml": `config: {size: {type: integer}}
outputs:
  sum: ${size * 2 + 1}
  choice: '${size > 3 ? "many" : "few"}'
  one: {fn::if: ["${size > 3}", yes, {fn::fromJSON: nonsense}]}
`}, outputs: `{"choice": "many", "one": "yes", "sum": 9}`},
	"L10.C3 forEach and if": {files: map[string]string{"Main.yaml": `resources:
  t: {type: pkg:Thing, forEach: [a, b], properties: {size: 1}}
  never: {type: pkg:Thing, if: false}
outputs: {second: "${t[1].size}"}
`}, check: func(t *testing.T, r *monitortest.Recorder) {
		for _, name := range []string{"t-0", "t-1"} {
			_, found := r.Registered(name)
			require.True(t, found, name)
		}
		_, found := r.Registered("never")
		require.False(t, found)
	}},
	"L10.C4 data": {files: map[string]string{"Main.yaml": `outputs: {a: {fn::fromJSON: '{"x": [1]}'}, b: {fn::fromYAML: "y: 2"}}
`}, outputs: `{"a": {"x": [1]}, "b": {"y": 2}}`},
	"L10.C5 what may fail": {files: map[string]string{"Main.yaml": `variables: {v: {a: 1}}
outputs: {a: {fn::try: ['${toNumber("x")}', other]}, b: {fn::can: '${toNumber("x")}'}}
`}, outputs: `{"a": "other", "b": false}`},
	"L10.C6, L10.C7 functions": {files: map[string]string{"Main.yaml": `outputs: {a: '${keys({x = 1, y = 2})}', b: '${max(1, 3)}', c: '${upper("u")}'}
`}, outputs: `{"a": ["x", "y"], "b": 3, "c": "U"}`},
	"L10.C9 environment": {files: map[string]string{"Main.yaml": `pulumi: {allowEnv: [GREETING], publicEnv: [GREETING]}
outputs: {a: {fn::env: GREETING}}
`}, outputs: `{"a": "hello"}`},
	"L10.C11 include": {files: map[string]string{"Main.yaml": "include: [parts/*.yaml]\noutputs: {a: '${there}'}\n",
		"parts/p.yaml": "variables: {there: 7}\n"},
		outputs: `{"a": 7}`},
	"L10.C13 optional configuration": {files: map[string]string{"Main.yaml": `config: {missing: {type: string, optional: true}}
outputs: {a: "${missing == null}"}
`}, outputs: `{"a": true}`},
	"L10.C14 hooks": {files: map[string]string{"Main.yaml": `hooks: {h: {command: [echo, hi]}}
resources: {t: {type: pkg:Thing, options: {hooks: {beforeCreate: [h]}}}}
`}, refused: "this engine is too old to run the hook h"},
	"L10.C16 dynamic types": {files: map[string]string{"Main.yaml": `dynamic: {Label: {provider: ./label.ts, inputs: {text: {type: string}}}}
resources: {l: {type: dynamic:Label, properties: {text: hi}}}
`, "label.ts": "export default { create(inputs) { return { id: 'x', outs: inputs } } }\n"},
		refused: "dynamic types need the engine of yamlhost"},
	"L10.C17 transforms": {files: map[string]string{"Main.yaml": `transforms:
  - match: {type: "pkg:*"}
    properties: {size: 9}
resources: {t: {type: pkg:Thing, properties: {size: 1}}}
`}, check: func(t *testing.T, r *monitortest.Recorder) {
		thing, found := r.Registered("t")
		require.True(t, found)
		require.Equal(t, value.Int(9), thing.Inputs.Get("size"))
	}},
	"L10.C15 components": {files: map[string]string{"Main.yaml": `components:
  Pair:
    inputs: {size: {type: integer}}
    resources: {one: {type: pkg:Thing, properties: {size: "${size}"}}}
    outputs: {size: "${one.size}"}
resources: {p: {type: components:Pair, properties: {size: 2}}}
`}, check: func(t *testing.T, r *monitortest.Recorder) {
		child, found := r.Registered("p-one")
		require.True(t, found)
		require.Equal(t, value.Int(2), child.Inputs.Get("size"))
		parent, found := r.Registered("p")
		require.True(t, found)
		require.False(t, parent.Custom)
	}},
	"L10.C18 bundles": {files: map[string]string{"Main.yaml": "outputs: {a: {fn::bundle: {entry: ./h.ts, export: " +
		"handler, capture: {n: 1}}}}\n",
		"h.ts": "export function handler() { return 1 }\n"}, check: func(t *testing.T, r *monitortest.Recorder) {
		require.True(t, r.Outputs("urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev").Get("a").Is(value.KindArchive))
	}},
}

// TestAdditionsUnderAnotherEngine runs programs with language additions for a caller that has its own engine (L10).
func TestAdditionsUnderAnotherEngine(t *testing.T) {
	t.Parallel()
	for name, c := range additions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEngine(t)
			host, _ := serveHost(t, e, "GREETING=hello")
			files := map[string]string{"Pulumi.yaml": project}
			for name, text := range c.files {
				files[name] = text
			}
			r := newRecorder()
			got, err := host.Run(t.Context(), runRequest(e, serveMonitor(t, r), writeFiles(t, files)))
			require.NoError(t, err)
			require.Empty(t, got.GetError())
			require.Equal(t, c.refused != "", got.GetBail(), e.said())
			require.Contains(t, e.said(), c.refused)
			if c.outputs != "" {
				require.Equal(t, c.outputs, r.Outputs("urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev").String())
			}
			if c.check != nil {
				c.check(t, r)
			}
		})
	}
}
