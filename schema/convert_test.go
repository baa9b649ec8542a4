package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/schema"
)

func text(s string) value.Value { return value.String(s) }

func mapOf(pairs ...any) value.Value {
	var entries []value.Entry
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, value.Entry{Key: pairs[i].(string), Value: pairs[i+1].(value.Value)})
	}
	return value.MapOf(entries...)
}

func TestConvert(t *testing.T) { // L8.40
	t.Parallel()
	const where = urn.URN("urn:pulumi:dev::p::zoo:index:Echo::e")
	marked := func(v value.Value) value.Value { return v.Secret().DependingOn(where) }
	color := &schema.Enum{Base: schema.String, Values: []schema.EnumValue{{Value: "red"}, {Value: "1"}}}
	inner := schema.ObjectOf(&schema.Property{Name: "b", Type: schema.OptionalOf(schema.Integer)},
		&schema.Property{Name: "a", Type: schema.String, Required: true})
	ref := value.Resource(&value.ResourceRef{URN: where, ID: text("id-e")})
	component := value.Resource(&value.ResourceRef{URN: where})
	cases := map[string]struct {
		to       schema.Type
		in, want value.Value
	}{
		"text stays":           {schema.String, text("5"), text("5")},
		"number to text":       {schema.String, value.Number(8080), text("8080")},
		"large number to text": {schema.String, value.Number(1048576), text("1048576")},
		"bool to text":         {schema.String, value.Bool(true), text("true")},
		"id to number":         {schema.Number, text("1234"), value.Number(1234)},
		"text to integer":      {schema.Integer, text("-3"), value.Number(-3)},
		"text to bool":         {schema.Bool, text("false"), value.Bool(false)},
		"marks stay":           {schema.Bool, marked(text("true")), marked(value.Bool(true))},
		"unknown stays": {schema.Number, value.Unknown(value.KindString).Secret(),
			value.Unknown(value.KindString).Secret()},
		"null stays":       {schema.OptionalOf(schema.String), value.Null, value.Null},
		"any unchanged":    {schema.Any, value.Number(1), value.Number(1)},
		"json unchanged":   {schema.JSON, value.Number(1), value.Number(1)},
		"enum by its base": {color, value.Number(1), text("1")},
		"list items": {&schema.Array{Item: schema.String}, marked(value.List(value.Number(1), text("x"))),
			marked(value.List(text("1"), text("x")))},
		"map entries": {&schema.Map{Item: schema.Integer}, mapOf("a", marked(text("1"))),
			mapOf("a", marked(value.Number(1)))},
		"object members, others kept": {inner, mapOf("a", value.Number(1), "b", text("2"), "c", text("3")),
			mapOf("a", text("1"), "b", value.Number(2), "c", text("3"))},
		"resource to its id":           {schema.String, marked(ref), marked(text("id-e"))}, // L8.11
		"component to its URN":         {schema.String, component, text(string(where))},
		"resource where one is wanted": {&schema.ResourceType{Token: "zoo:index:Echo"}, ref, ref},
		"union member as it is": {&schema.Union{Members: []schema.Type{schema.String, schema.Number}},
			value.Number(1), value.Number(1)},
		"union converts when none fits": {&schema.Union{Members: []schema.Type{schema.Number, schema.Bool}}, text("true"),
			value.Bool(true)},
		"kind that nothing converts": {schema.String, value.List(), value.List()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := schema.Convert(c.to, c.in)
			require.NoError(t, err)
			require.True(t, value.Equal(c.want, got), "got %v", got)
		})
	}
	for name, c := range map[string]struct {
		to   schema.Type
		in   value.Value
		want string
	}{
		"not a number":  {schema.Number, text("s3cr3t"), "this is text that is not a number"},
		"hexadecimal":   {schema.Integer, text("0x10"), "this is text that is not a number"},
		"infinite":      {schema.Number, text("inf"), "this is text that is not a number"},
		"not a boolean": {schema.Bool, text("yes"), `this is text that is neither "true" nor "false"`},
		"with its path": {&schema.Map{Item: &schema.Array{Item: schema.Number}},
			mapOf("a", value.List(value.Number(1), text("x"))), "a[1]: this is text that is not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Convert(c.to, c.in)
			require.EqualError(t, err, c.want)
		})
	}
}

func TestConvertSharesWhatItLeaves(t *testing.T) {
	list := value.List(text("a"), text("b"))
	typ := &schema.Array{Item: schema.String}
	allocations := testing.AllocsPerRun(10, func() { _, _ = schema.Convert(typ, list) })
	require.LessOrEqual(t, allocations, 4.0)
}

func TestDiscriminatedUnion(t *testing.T) { // L8.16
	t.Parallel()
	pkg := load(t, "zoo")
	typed, err := pkg.ResolveResource("zoo:Typed")
	require.NoError(t, err)
	pet := schema.Required(typed.Inputs.Property("pet").Type).(*schema.Union)
	_, tags := pet.Select("cow")
	require.Equal(t, []string{"cat", "dog"}, tags)
	got, err := schema.Convert(pet, mapOf("kind", text("dog"), "bark", value.Number(5)))
	require.NoError(t, err)
	require.True(t, value.Equal(mapOf("kind", text("dog"), "bark", text("5")), got), "got %v", got)
}

func TestComplete(t *testing.T) {
	t.Parallel()
	pkg := load(t, "zoo")
	typed, err := pkg.ResolveResource("zoo:Typed")
	require.NoError(t, err)
	env := func(vars map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	}

	got, err := schema.Complete(typed.Inputs, mapOf("s", value.Number(1), "sec", text("x")), nil)
	require.NoError(t, err)
	require.True(t, value.Equal(mapOf("s", text("1"), "sec", text("x").Secret(), // L3.16
		"kind", text("Typed"), "def", text("preset")), got), "got %v", got) // L3.14, L3.15

	_, err = schema.Complete(typed.Inputs, mapOf("kind", text("Other")), nil)
	require.ErrorContains(t, err, `kind: this must be "Typed"`)

	fromEnv := schema.ObjectOf(
		&schema.Property{Name: "port", Type: schema.OptionalOf(schema.Integer), DefaultEnv: []string{"A", "B"}},
		&schema.Property{Name: "given", Type: schema.OptionalOf(schema.String), DefaultEnv: []string{"B"}})
	got, err = schema.Complete(fromEnv, mapOf("given", text("x")), env(map[string]string{"B": "80"}))
	require.NoError(t, err)
	require.True(t, value.Equal(mapOf("port", value.Number(80), "given", text("x")), got), "got %v", got)
	_, err = schema.Complete(fromEnv, value.EmptyMap(), env(map[string]string{"A": "many"}))
	require.EqualError(t, err, "port: the environment variable A is text that is not a number")

	got, err = schema.Complete(fromEnv, value.Unknown(value.KindMap).Secret(), nil) // L3.12
	require.NoError(t, err)
	require.Equal(t, []string{"given", "port"}, got.Keys())
	require.False(t, got.At(0).IsKnown())
	require.True(t, got.IsSecret())
}
