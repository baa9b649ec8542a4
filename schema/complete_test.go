package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/schema"
)

const nestedSchema = `{"name": "n", "types": {
  "n:index:Inner": {"type": "object", "required": ["kind"], "properties": {
    "kind": {"type": "string", "const": "inner"},
    "size": {"type": "integer", "default": 3},
    "zone": {"type": "string", "defaultInfo": {"environment": ["ZONE"]}},
    "ports": {"type": "integer", "defaultInfo": {"environment": ["PORTS"]}},
    "token": {"type": "string", "default": "t", "secret": true},
    "note": {"type": "string"}}},
  "n:index:Loose": {"type": "object", "properties": {"mode": {"type": "string", "const": "loose"}}}
}, "resources": {"n:index:R": {"requiredInputs": ["env"], "inputProperties": {
  "inner": {"$ref": "#/types/n:index:Inner"},
  "list": {"type": "array", "items": {"$ref": "#/types/n:index:Inner"}},
  "map": {"type": "object", "additionalProperties": {"$ref": "#/types/n:index:Inner"}},
  "loose": {"$ref": "#/types/n:index:Loose"},
  "env": {"type": "string", "defaultInfo": {"environment": ["ENV"]}},
  "plainItems": {"type": "array", "items": {"type": "string", "plain": true}},
  "plainEntries": {"type": "object", "additionalProperties": {"type": "string", "plain": true}}
}}}}`

func TestCompleteFillsInsideOfObjects(t *testing.T) { // L3.14–L3.16
	t.Parallel()
	pkg, err := schema.Parse([]byte(nestedSchema))
	require.NoError(t, err)
	r, err := pkg.ResolveResource("n:R")
	require.NoError(t, err)
	environ := map[string]string{"ZONE": "z1"}
	getenv := func(name string) (string, bool) { v, ok := environ[name]; return v, ok }
	complete := func(inputs value.Value) (value.Value, error) { return schema.Complete(r.Inputs, inputs, getenv) }

	given := mapOf("inner", value.EmptyMap(), "list", value.List(mapOf("size", value.Number(7), "zone", value.Null)),
		"map", mapOf("k", mapOf("kind", text("inner"), "token", text("own"))), "loose", value.EmptyMap())
	got, err := complete(given)
	require.NoError(t, err)
	filled := func(size float64, token string) value.Value {
		return mapOf("kind", text("inner"), "size", value.Number(size), "zone", text("z1"), "token", text(token).Secret())
	}
	want := mapOf("inner", filled(3, "t"), "list", value.List(filled(7, "t")), "map", mapOf("k", filled(3, "own")),
		"loose", value.EmptyMap())
	require.True(t, value.SameContent(want, got), "%v", got)
	inner, _ := got.Lookup("inner")
	token, _ := inner.Lookup("token")
	require.True(t, token.IsSecret())

	unknown, err := complete(mapOf("inner", value.Unknown(value.KindMap)))
	require.NoError(t, err)
	inner, _ = unknown.Lookup("inner")
	require.False(t, inner.IsKnown())

	environ["PORTS"] = "many"
	_, err = complete(mapOf("list", value.List(value.EmptyMap())))
	require.EqualError(t, err, "list[0].ports: the environment variable PORTS is text that is not a number")
}

func TestPlainItems(t *testing.T) { // F8.5
	t.Parallel()
	pkg, err := schema.Parse([]byte(nestedSchema))
	require.NoError(t, err)
	r, err := pkg.ResolveResource("n:R")
	require.NoError(t, err)
	require.True(t, schema.Required(r.Inputs.Property("plainItems").Type).(*schema.Array).Plain)
	require.True(t, schema.Required(r.Inputs.Property("plainEntries").Type).(*schema.Map).Plain)
	require.False(t, schema.Required(r.Inputs.Property("list").Type).(*schema.Array).Plain)
}
