package eval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/schema"
)

// Inside types of other packages, values are converted, defaults filled in and secrets kept, at any depth (F8.7, L8.40,
// L3.14–L3.16). Values of an unknown package stay unchanged.
func TestConversionInTypesOfOtherPackages(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"n": `{"name": "n", "resources": {"n:index:R": {"inputProperties": {
		    "rule": {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Rule"},
		    "rules": {"type": "array", "items": {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Rule"}},
		    "level": {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Level"},
		    "either": {"oneOf": [{"type": "boolean"}, {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Rule"}]},
		    "lost": {"$ref": "/gone/v1.0.0/schema.json#/types/gone:index:T"}}}},
		  "functions": {"n:index:f": {"inputs": {"properties": {"rule": {"$ref": "/m/v1.2.0/schema.json#/types/m:index:Rule"}}},
		    "outputs": {"properties": {"x": {"type": "string"}}}}}}`,
		"m": `{"name": "m", "types": {
		  "m:index:Rule": {"type": "object", "required": ["port"], "properties": {
		    "port": {"type": "integer"}, "name": {"type": "string"}, "protocol": {"type": "string", "default": "tcp"},
		    "key": {"type": "string", "secret": true}, "next": {"$ref": "#/types/m:index:Rule"}}},
		  "m:index:Level": {"type": "integer", "enum": [{"value": 1}, {"value": 2}]}}}`,
	}
	file := mustParse(t, `
config:
  port: {type: string, default: "80"}
  number: {type: integer, default: 7}
resources:
  r:
    type: n:R
    properties:
      rule: {port: "${port}", name: "${number}", key: k, next: {port: "${port}"}}
      rules: [{port: "${port}"}]
      level: 2
      either: {port: "${port}"}
      lost: {port: "${port}"}
variables:
  called:
    fn::invoke: {function: "n:f", arguments: {rule: {port: "${port}", name: "${number}"}}}
outputs:
  o: ${called}
`)
	program, findings := check.Check(context.Background(), file, check.Options{Project: "proj",
		Schemas: schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
			if text, ok := texts[d.Name]; ok {
				return []byte(text), nil
			}
			return nil, fmt.Errorf("%s: %w", d.Name, schema.ErrNotFound)
		})})
	require.False(t, findings.HasErrors(), describe(findings))
	z := newZoo(false)
	_, _ = eval.Run(context.Background(), program, z.recorder, options())
	r, ok := z.recorder.Registered("r")
	require.True(t, ok)
	rule := r.Inputs.Get("rule")
	require.Equal(t, value.Number(80), rule.Get("port").WithoutDeps())
	require.Equal(t, value.String("7"), rule.Get("name").WithoutDeps())
	require.Equal(t, value.String("tcp"), rule.Get("protocol"))
	require.True(t, rule.Get("key").IsSecret())
	require.Equal(t, value.Number(80), rule.Get("next").Get("port").WithoutDeps())
	rules, _ := r.Inputs.Get("rules").AsList()
	require.Equal(t, value.Number(80), rules[0].Get("port").WithoutDeps())
	require.Equal(t, value.Number(2), r.Inputs.Get("level"))
	require.Equal(t, value.Number(80), r.Inputs.Get("either").Get("port").WithoutDeps())
	require.Equal(t, value.String("80"), r.Inputs.Get("lost").Get("port").WithoutDeps())
	called := false
	for _, request := range z.recorder.Requests() {
		if invoke, ok := request.(monitor.InvokeRequest); ok {
			called = true
			require.Equal(t, value.Number(80), invoke.Args.Get("rule").Get("port").WithoutDeps())
			require.Equal(t, value.String("7"), invoke.Args.Get("rule").Get("name").WithoutDeps())
		}
	}
	require.True(t, called)
}
