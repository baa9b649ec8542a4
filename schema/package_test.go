package schema_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
)

func load(tb testing.TB, name string) *schema.Package {
	tb.Helper()
	data := testfile.Bytes(tb, filepath.Join("testdata", name+".json"))
	pkg, err := schema.Parse(data)
	require.NoError(tb, err)
	return pkg
}

func TestResolveResource(t *testing.T) { // L7.1, L7.2, F8.4
	t.Parallel()
	packages := map[string]*schema.Package{"zoo": load(t, "zoo"), "random": load(t, "random")}
	builtin, err := schema.Builtin()
	require.NoError(t, err)
	packages["pulumi"] = builtin
	for _, c := range []struct{ pkg, written, want string }{
		{"zoo", "zoo:Echo", "zoo:index:Echo"},
		{"zoo", "zoo:index:Echo", "zoo:index:Echo"},
		{"zoo", "zoo:index:echo", "zoo:index:Echo"},
		{"zoo", "zoo:mod:Thing", "zoo:mod/thing:Thing"},
		{"zoo", "zoo:MOD:thing", "zoo:mod/thing:Thing"},
		{"zoo", "zoo:mod:IPSet", "zoo:mod/iPSet:IPSet"},
		{"zoo", "zoo:mod:ipset", "zoo:mod/iPSet:IPSet"},
		{"zoo", "zoo:index/echo:Echo", ""},
		{"zoo", "zoo:mod:Nothing", ""},
		{"zoo", "zoo:old:Thing", ""},
		{"zoo", "zoo", ""},
		{"zoo", "a:b:c:d", ""},
		{"zoo", "pulumi:providers:zoo", "pulumi:providers:zoo"},
		{"zoo", "pulumi:providers:Zoo", ""}, // L7.14
		{"random", "random:RandomPet", "random:index/randomPet:RandomPet"},
		{"random", "random:randompet", "random:index/randomPet:RandomPet"},
		{"random", "random:index:RandomPet", "random:index/randomPet:RandomPet"},
		{"random", "random:INDEX/RANDOMPET:randompet", "random:index/randomPet:RandomPet"},
		{"random", "random:randomPet:RandomPet", ""},
		{"pulumi", "pulumi:Stash", "pulumi:index:Stash"},
		{"pulumi", "pulumi:pulumi:StackReference", "pulumi:pulumi:StackReference"},
		{"pulumi", "pulumi:StackReference", "pulumi:pulumi:StackReference"}, // L7.12
		{"pulumi", "pulumi:providers:zoo", ""},
	} {
		t.Run(c.written, func(t *testing.T) {
			r, err := packages[c.pkg].ResolveResource(c.written)
			if c.want == "" {
				require.ErrorIs(t, err, schema.ErrNoSuchToken)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, r.Token)
		})
	}
}

func TestModuleFormat(t *testing.T) { // L7.5, G36
	t.Parallel()
	pkg, err := schema.Parse([]byte(`{"name": "odd", "meta": {"moduleFormat": "(.*)(?:_[^_]*)"}, "resources": {
		"odd:mod_Res:Res": {}, "odd:index_Root:Root": {}, "odd:plain:Other": {}}}`))
	require.NoError(t, err)
	for written, want := range map[string]string{
		"odd:mod:Res": "odd:mod_Res:Res", "odd:MOD:res": "odd:mod_Res:Res", "odd:Root": "odd:index_Root:Root",
		"odd:index:Root": "odd:index_Root:Root", "odd:plain:Other": "odd:plain:Other",
	} {
		r, err := pkg.ResolveResource(written)
		require.NoError(t, err, written)
		require.Equal(t, want, r.Token)
	}
	_, err = pkg.ResolveResource("odd:other:Res")
	require.ErrorIs(t, err, schema.ErrNoSuchToken)
}

func TestResolveFunction(t *testing.T) {
	t.Parallel()
	pkg := load(t, "zoo")
	f, err := pkg.ResolveFunction("zoo:mod:getThing")
	require.NoError(t, err)
	require.Equal(t, "zoo:mod/getThing:getThing", f.Token)
	require.Equal(t, "use Thing with get", f.Deprecation)
	require.False(t, f.Scalar)

	f, err = pkg.ResolveFunction("zoo:scalar") // F8.15, F8.16
	require.NoError(t, err)
	require.True(t, f.Scalar)
	require.Equal(t, schema.Type(schema.String), f.Result)
	require.Equal(t, []string{"text", "times"}, f.MultiArg)

	f, err = pkg.ResolveFunction("zoo:fails") // no outputs at all
	require.NoError(t, err)
	require.Nil(t, f.Result)

	pen, err := pkg.ResolveResource("zoo:Pen")
	require.NoError(t, err)
	require.True(t, pen.Component)
	open, err := pkg.Method(pen, "open")
	require.NoError(t, err)
	require.NotNil(t, open.Inputs.Property("__self__"))
	_, err = pkg.Method(pen, "close")
	require.ErrorIs(t, err, schema.ErrNoSuchToken)
}

func TestMembers(t *testing.T) {
	t.Parallel()
	pkg := load(t, "zoo")
	typed, err := pkg.ResolveResource("zoo:Typed")
	require.NoError(t, err)
	types := map[string]string{
		"s": "string", "n": "number?", "i": "integer?", "b": "bool?", "ls": "list<string>?", "mi": "map<integer>?",
		"obj": "object?", "color": "enum(red, blue)?", "size": "enum(1, 2)?", "u": "(string or number)?",
		"pet": "(object or object)?", "asset": "asset?", "archive": "archive?", "any": "any", "json": "json?",
		"uc": "(enum(red, blue) or string)?", "echo": "resource(zoo:Echo)?",
	}
	for name, want := range types {
		require.Equal(t, want, schema.TypeName(typed.Inputs.Property(name).Type), name)
	}
	require.True(t, typed.Inputs.Property("sec").Secret)
	require.True(t, typed.Inputs.Property("pl").Plain)
	require.Equal(t, "Typed", typed.Inputs.Property("kind").Const)
	require.Equal(t, "preset", typed.Inputs.Property("def").Default)
	require.Equal(t, []string{"ZOO_DEF"}, typed.Inputs.Property("def").DefaultEnv)
	require.Equal(t, "legacy is old; use s", typed.Inputs.Property("legacy").Deprecation)
	require.Equal(t, []string{"osec"}, typed.SecretOutputs())     // F8.12
	require.Equal(t, []string{"ls[*]"}, typed.ReplaceOnChanges()) // F8.12
	require.Equal(t, "s", typed.Inputs.Properties()[0].Name)      // schema order
	require.Equal(t, "legacy", typed.Inputs.Properties()[23].Name)
	require.Nil(t, typed.Inputs.Property("nothing"))
	require.Equal(t, "zoo:old/thing:Thing", aliasOf(t, pkg)[0]) // L4.12
	token, ok := pkg.ResourceByAlias("zoo:old/thing:Thing")     // L7.4
	require.True(t, ok)
	require.Equal(t, "zoo:mod/thing:Thing", token)
	provider, err := pkg.Provider()
	require.NoError(t, err)
	require.NotNil(t, provider.Outputs.Property("region"))
	require.Nil(t, provider.Outputs.Property("count")) // F8.13
	require.True(t, provider.Inputs.Property("token").Secret)
	ghost, err := pkg.ResolveResource("zoo:Ghost")
	require.NoError(t, err)
	require.True(t, ghost.Overlay) // F8.17
	require.ErrorIs(t, second(pkg.ResolveResource("zoo:Gone")), schema.ErrNoSuchToken)
}

func second[T any](_ T, err error) error { return err }

func aliasOf(t *testing.T, pkg *schema.Package) []string {
	t.Helper()
	thing, err := pkg.ResolveResource("zoo:mod:Thing")
	require.NoError(t, err)
	return thing.Aliases
}

func TestRecursiveType(t *testing.T) { // F8.19
	t.Parallel()
	pkg := load(t, "zoo")
	inner, err := pkg.Type("zoo:index:Inner")
	require.NoError(t, err)
	o := inner.(*schema.Object)
	for range 100 {
		o = schema.Required(o.Property("deep").Type).(*schema.Array).Item.(*schema.Object)
	}
	require.Same(t, inner, o)
	require.True(t, schema.Identical(inner, o))
}

func TestReferences(t *testing.T) { // F8.6
	t.Parallel()
	pkg, err := schema.Parse([]byte(`{"name": "p", "types": {"p:a/b:C": {"type": "string", "enum": [{"value": "x"}]}},
		"resources": {"p::R": {"inputProperties": {
			"escaped": {"$ref": "#/types/p:a%2fb:C"}, "raw": {"$ref": "#/types/p:a/b:C"},
			"dangling": {"$ref": "#/types/p::Gone", "type": "integer"}, "opaque": {"$ref": "#/types/p::Gone"},
			"self": {"$ref": "#/provider"}, "old": {"$ref": "#/resources/pulumi:providers:p"},
			"foreign": {"$ref": "/aws/v7.1.0/schema.json#/types/aws:ec2/x:Y", "type": "string"},
			"vpc": {"$ref": "aws/v7.1.0/schema.json#/resources/aws:ec2%2Fvpc:Vpc"},
			"aws": {"$ref": "/aws/v7.1.0/schema.json#/provider"}}}}}`))
	require.NoError(t, err)
	r, err := pkg.Resource("p::R")
	require.NoError(t, err)
	want := map[string]string{
		"escaped": "enum(x)?", "raw": "enum(x)?", "dangling": "p::Gone?", "opaque": "p::Gone?",
		"self": "resource(pulumi:providers:p)?", "old": "resource(pulumi:providers:p)?", "foreign": "aws:ec2/x:Y?",
		"vpc": "resource(aws:ec2:Vpc)?", "aws": "resource(pulumi:providers:aws)?",
	}
	for _, p := range r.Inputs.Properties() {
		name := schema.TypeName(p.Type)
		name = strings.ReplaceAll(name, "p:Gone", "p::Gone")
		require.Equal(t, want[p.Name], name, p.Name)
	}
	dangling := schema.Required(r.Inputs.Property("dangling").Type).(*schema.Token)
	require.Equal(t, schema.Type(schema.Integer), dangling.Underlying)
	opaque := schema.Required(r.Inputs.Property("opaque").Type).(*schema.Token)
	require.Equal(t, schema.Type(schema.Any), opaque.Underlying)
}

func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":              ``,
		"not an object":      `[]`,
		"no name":            `{}`,
		"truncated":          `{"name": "x", "resources": {"a": {`,
		"open string":        `{"name": "x`,
		"behind the end":     `{"name": "x"} {}`,
		"missing colon":      `{"name" "x"}`,
		"missing comma":      `{"name": "x" "version": "1"}`,
		"missing value":      `{"name": }`,
		"number for a name":  `{"name": 5}`,
		"resources a list":   `{"name": "x", "resources": []}`,
		"bad module format":  `{"name": "x", "meta": {"moduleFormat": "("}}`,
		"deep and truncated": `{"name": "x", "types": ` + strings.Repeat(`{"a":`, 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Parse([]byte(text))
			require.Error(t, err)
		})
	}
	for name, definition := range map[string]string{
		"no type":         `{"inputProperties": {"a": {}}}`,
		"unknown type":    `{"inputProperties": {"a": {"type": "float"}}}`,
		"array of what":   `{"inputProperties": {"a": {"type": "array"}}}`,
		"empty union":     `{"inputProperties": {"a": {"oneOf": []}}}`,
		"bad reference":   `{"inputProperties": {"a": {"$ref": "nowhere"}}}`,
		"default is list": `{"inputProperties": {"a": {"type": "string", "default": []}}}`,
		"not an object":   `5`,
		"endless nesting": `{"inputProperties": {"a": ` + strings.Repeat(`{"type": "array", "items": `, 100) +
			`{"type": "string"}` + strings.Repeat("}", 101) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			pkg, err := schema.Parse([]byte(`{"name": "x", "resources": {"x:index:R": ` + definition + `}}`))
			require.NoError(t, err)
			_, err = pkg.Resource("x:index:R")
			require.ErrorContains(t, err, "x:index:R")
			require.Error(t, pkg.Verify())
		})
	}
}

func TestLoader(t *testing.T) { // L7.23
	t.Parallel()
	data, err := os.ReadFile("testdata/random.json")
	require.NoError(t, err)
	var fetched atomic.Int32
	loader := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		fetched.Add(1)
		if d.Name != "random" {
			return nil, fmt.Errorf("look for %s: %w", d.Name, schema.ErrNotFound)
		}
		return data, nil
	})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			pkg, err := loader.Load(t.Context(), schema.Descriptor{Name: "random", Version: "4.21.2"})
			if err != nil || pkg.Version != "4.21.2" { // F8.18
				t.Errorf("version %v, error %v", pkg, err)
			}
			if _, err := pkg.ResolveResource("random:RandomPet"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	require.EqualValues(t, 1, fetched.Load())
	_, err = loader.Load(t.Context(), schema.Descriptor{Name: "gone"})
	require.ErrorIs(t, err, schema.ErrNotFound)
	pulumi, err := loader.Load(t.Context(), schema.Descriptor{Name: "pulumi"})
	require.NoError(t, err)
	require.NoError(t, pulumi.Verify())
	require.EqualValues(t, 2, fetched.Load())

	// A cancelled load is tried again.
	calls := 0
	retrying := schema.NewLoader(func(ctx context.Context, _ schema.Descriptor) ([]byte, error) {
		calls++
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return data, nil
	})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = retrying.Load(cancelled, schema.Descriptor{Name: "random"})
	require.True(t, errors.Is(err, context.Canceled))
	_, err = retrying.Load(t.Context(), schema.Descriptor{Name: "random"})
	require.NoError(t, err)
	require.Equal(t, 2, calls)
}

func TestTypeNameIsShort(t *testing.T) { // A2
	t.Parallel()
	enum := &schema.Enum{Base: schema.String}
	for i := range 100 {
		enum.Values = append(enum.Values, schema.EnumValue{Value: fmt.Sprintf("value-number-%d", i)})
	}
	deep := schema.Type(schema.String)
	for range 100 {
		deep = &schema.Array{Item: deep}
	}
	for _, typ := range []schema.Type{enum, deep, &schema.Union{Members: []schema.Type{enum, enum, deep}}} {
		require.LessOrEqual(t, len([]rune(schema.TypeName(typ))), 60)
	}
}

func FuzzParse(f *testing.F) {
	data := testfile.Bytes(f, filepath.Join("testdata", "zoo.json"))
	f.Add(data)
	f.Add(
		[]byte(
			`{"name":"x","types":{"x:i:T":{"enum":[{"value":1}],"type":"integer"}},"functions":{"x:i:f":{"outputs":{"type":"array"}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		pkg, err := schema.Parse(data)
		if err != nil {
			return
		}
		_ = pkg.Verify()
		for _, token := range pkg.ResourceTokens() {
			if r, err := pkg.ResolveResource(token); err == nil {
				r.ReplaceOnChanges()
				for _, p := range r.Inputs.Properties() {
					schema.TypeName(p.Type)
				}
			}
			pkg.ResourceByAlias(token)
		}
		for _, token := range pkg.FunctionTokens() {
			_, _ = pkg.ResolveFunction(token)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"command", "random"} {
		data := testfile.Bytes(b, filepath.Join("testdata", name+".json"))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := schema.Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseReal(b *testing.B) {
	for _, path := range realSchemas(b) {
		data := unzip(b, path)
		b.Run(strings.TrimSuffix(filepath.Base(path), ".json.gz"), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := schema.Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
