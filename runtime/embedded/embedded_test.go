package embedded

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/schema"
)

// rig calls one configured provider as the engine does.
type rig struct {
	t *testing.T
	provider.Configured
}

func configure(t *testing.T, pkg string, o Options) rig {
	t.Helper()
	p, err := NewLoader(o).Load(t.Context(), provider.Package{Name: pkg})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{})
	require.NoError(t, err)
	return rig{t, c}
}

func subject(typ string) provider.Subject {
	return provider.SubjectOf(urn.New("dev", "proj", "", typ, "res"))
}

func (r rig) check(typ string, inputs value.Value) value.Value {
	r.t.Helper()
	response, err := r.Check(r.t.Context(), provider.CheckRequest{Subject: subject(typ), News: inputs})
	require.NoError(r.t, err)
	require.Empty(r.t, response.Failures)
	return response.Inputs
}

func (r rig) create(typ string, inputs value.Value) (string, value.Value) {
	r.t.Helper()
	inputs = r.check(typ, inputs)
	response, err := r.Create(r.t.Context(), provider.CreateRequest{Subject: subject(typ), Inputs: inputs})
	require.NoError(r.t, err)
	require.NotEmpty(r.t, response.ID)
	require.False(r.t, response.Outputs.ContainsUnknown())
	return response.ID, response.Outputs
}

func (r rig) diff(typ string, oldInputs, oldOutputs, news value.Value) provider.DiffResponse {
	r.t.Helper()
	response, err := r.Diff(r.t.Context(), provider.DiffRequest{
		Subject: subject(typ), ID: "x", OldInputs: oldInputs, OldOutputs: oldOutputs, News: r.check(typ, news),
		AllowUnknowns: true,
	})
	require.NoError(r.t, err)
	return response
}

func at(v value.Value, key string) value.Value {
	inner, _ := v.Lookup(key)
	return inner
}

func text(v value.Value, key string) string { return lookupString(v, key) }

func obj(pairs ...any) value.Value {
	m := map[string]value.Value{}
	for i := 0; i < len(pairs); i += 2 {
		switch x := pairs[i+1].(type) {
		case string:
			m[pairs[i].(string)] = value.String(x)
		case int:
			m[pairs[i].(string)] = value.Int(x)
		case bool:
			m[pairs[i].(string)] = value.Bool(x)
		case value.Value:
			m[pairs[i].(string)] = x
		case []string:
			items := make([]value.Value, len(x))
			for j, s := range x {
				items[j] = value.String(s)
			}
			m[pairs[i].(string)] = value.List(items...)
		}
	}
	return value.Map(m)
}

// leastInputs holds the minimal inputs of each resource.
var leastInputs = map[string]value.Value{
	"random:index/randomBytes:RandomBytes":       obj("length", 4),
	"random:index/randomId:RandomId":             obj("byteLength", 4),
	"random:index/randomInteger:RandomInteger":   obj("min", 1, "max", 3),
	"random:index/randomPassword:RandomPassword": obj("length", 8),
	"random:index/randomString:RandomString":     obj("length", 8),
	"random:index/randomPet:RandomPet":           obj(),
	"random:index/randomShuffle:RandomShuffle":   obj("inputs", []string{"a", "b"}),
	"random:index/randomUuid:RandomUuid":         obj(),
	"random:index/randomUuid4:RandomUuid4":       obj(),
	"random:index/randomUuid7:RandomUuid7":       obj(),
	"command:local:Command":                      obj("create", "echo hi"),
	"tls:index/privateKey:PrivateKey":            obj("algorithm", "ED25519"),
	"tls:index/certRequest:CertRequest":          obj("privateKeyPem", someKey.private),
	"tls:index/selfSignedCert:SelfSignedCert": obj("privateKeyPem", someKey.private, "validityPeriodHours", 1,
		"allowedUses", []string{}),
	"tls:index/locallySignedCert:LocallySignedCert": obj("caPrivateKeyPem", someKey.private, "caCertPem",
		someKey.certificate, "certRequestPem", someKey.request, "validityPeriodHours", 1, "allowedUses", []string{}),
	"time:index/static:Static":     obj(),
	"time:index/offset:Offset":     obj("offsetDays", 7),
	"time:index/rotating:Rotating": obj("rotationDays", 30),
	"time:index/sleep:Sleep":       obj("createDuration", "1ms"),
}

// Each resource and function in a schema is either implemented or refused by name. The implemented ones return the
// outputs of the schema with its types, in previews too.
func TestSchemasAreServedWhole(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, ok := Schema(name)
			require.True(t, ok)
			pkg, err := schema.Parse(data)
			require.NoError(t, err)
			require.Equal(t, name, pkg.Name)
			version, ok := Version(name)
			require.True(t, ok)
			require.NotEmpty(t, version)
			done := catalog[name].kinds(Options{}.withDefaults())
			r := configure(t, name, Options{Dir: t.TempDir()})

			for _, token := range pkg.FunctionTokens() {
				_, implemented := done.functions[token]
				_, refused := done.refused[token]
				require.True(t, implemented != refused, "function %s", token)
			}
			for _, token := range pkg.ResourceTokens() {
				_, implemented := done.resources[token]
				_, refused := done.refused[token]
				require.True(t, implemented != refused, "resource %s", token)
				if refused {
					_, err := r.Check(t.Context(), provider.CheckRequest{Subject: subject(token)})
					require.ErrorContains(t, err, token)
					continue
				}
				def, err := pkg.Resource(token)
				require.NoError(t, err)
				inputs := r.check(token, leastInputs[token])
				_, outputs := r.create(token, leastInputs[token])
				preview, err := r.Create(t.Context(), provider.CreateRequest{Subject: subject(token), Inputs: inputs,
					Preview: true})
				require.NoError(t, err)
				require.Empty(t, preview.ID)
				for _, property := range def.Outputs.Properties() {
					if property.Required {
						require.True(t, outputs.Has(property.Name), "%s.%s", token, property.Name)
						require.True(t, preview.Outputs.Has(property.Name), "preview of %s.%s", token, property.Name)
					}
					if v, ok := outputs.Lookup(property.Name); ok {
						require.True(t, schema.Fits(property.Type, v), "%s.%s", token, property.Name)
						require.Equal(t, property.Secret, v.IsSecret(), "%s.%s", token, property.Name)
						require.Equal(t, property.Secret, at(preview.Outputs, property.Name).IsSecret())
					}
				}
				for _, key := range outputs.Keys() {
					if key != "id" && key != schemaNote {
						require.NotNil(t, def.Outputs.Property(key), "%s.%s is not in the schema", token, key)
					}
				}
				none := r.diff(token, inputs, outputs, leastInputs[token])
				require.Equal(t, provider.DiffNone, none.Changes, "%s: %v", token, none.Detailed)
				read, err := r.Read(t.Context(), provider.ReadRequest{Subject: subject(token), ID: "x", Inputs: inputs,
					Outputs: outputs})
				require.NoError(t, err)
				require.True(t, value.Equal(outputs, read.Outputs))
				require.True(t, value.Equal(inputs, read.Inputs))
				require.NoError(t, r.Delete(t.Context(), provider.DeleteRequest{Subject: subject(token), ID: "x",
					Outputs: outputs}))
			}
		})
	}
}

func TestLoadUnknown(t *testing.T) {
	t.Parallel()
	for _, p := range []provider.Package{{Name: "aws", Version: "7.0.0"},
		{Name: "random", Parameterization: &provider.Parameterization{}}} {
		_, err := NewLoader(Options{}).Load(t.Context(), p)
		var missing *provider.MissingError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, p.Name, missing.Package)
	}
	_, ok := Schema("aws")
	require.False(t, ok)
}

func TestUnconfigured(t *testing.T) {
	t.Parallel()
	p, err := NewLoader(Options{}).Load(t.Context(), provider.Package{Name: "random"})
	require.NoError(t, err)
	defer p.Close()
	info, err := p.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, provider.Info{Name: "random", Version: "4.21.2"}, info)
	data, err := p.Schema(t.Context(), provider.SchemaRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, data)
	config, err := p.CheckConfig(t.Context(), provider.CheckRequest{News: obj("version", "1.0.0")})
	require.NoError(t, err)
	require.Equal(t, "1.0.0", text(config.Inputs, "version"))
	diff, err := p.DiffConfig(t.Context(), provider.DiffRequest{OldInputs: obj("__pulumi-go-provider-version", "v1"),
		News: obj()})
	require.NoError(t, err)
	require.Equal(t, provider.DiffNone, diff.Changes, "a plugin's own notes are no difference")
	diff, err = p.DiffConfig(t.Context(), provider.DiffRequest{OldInputs: obj("version", "1.0.0"),
		News: obj("version", "2.0.0")})
	require.NoError(t, err)
	require.Equal(t, provider.DiffSome, diff.Changes)
	require.False(t, diff.Replace())
	_, err = p.Parameterize(t.Context(), provider.ParameterizeRequest{})
	var refused *provider.Error
	require.ErrorAs(t, err, &refused)
	require.True(t, refused.Unimplemented)
}

func TestCheckFaults(t *testing.T) {
	t.Parallel()
	soon := value.Unknown(value.KindNumber)
	for _, c := range []struct {
		name, pkg, typ string
		inputs         value.Value
		property, text string // empty property: no fault
	}{
		{"required", "random", "random:index/randomString:RandomString", obj(), "length", "missing required"},
		{"null counts as absent", "random", "random:index/randomString:RandomString", obj("length", value.Null), "length",
			"missing"},
		{"unknown property", "random", "random:index/randomPet:RandomPet", obj("lenght", 2), "lenght", "no property"},
		{"wrong kind", "random", "random:index/randomPet:RandomPet", obj("length", value.EmptyMap()), "length", "must be"},
		{"text that is not a number", "random", "random:index/randomPet:RandomPet", obj("length", "two"), "length", "number"},
		{"numeric text", "random", "random:index/randomPet:RandomPet", obj("length", "3"), "", ""},
		{"fraction", "random", "random:index/randomPet:RandomPet", obj("length", value.Number(1.5)), "length", "must be"},
		{"length below one", "random", "random:index/randomString:RandomString", obj("length", 0), "length", "at least 1"},
		{"length beyond reason", "random", "random:index/randomBytes:RandomBytes", obj("length", value.Number(1e12)),
			"length", "at most"},
		{"sum of minimums", "random", "random:index/randomString:RandomString", obj("length", 3, "minLower", 2, "minUpper",
			2), "length", "sum"},
		{"sum not known yet", "random", "random:index/randomString:RandomString",
			obj("length", 3, "minLower", soon, "minUpper", 4), "", ""},
		{"number against numeric", "random", "random:index/randomString:RandomString",
			obj("length", 3, "number", true, "numeric", false), "number", "differ"},
		{"no class left", "random", "random:index/randomPassword:RandomPassword",
			obj("length", 3, "lower", false, "upper", false, "special", false, "number", false), "special", "one of"},
		{"min above max", "random", "random:index/randomInteger:RandomInteger", obj("min", 3, "max", 1), "min", "greater"},
		{"not known yet", "random", "random:index/randomInteger:RandomInteger", obj("min", soon, "max", 1), "", ""},
		{"negative count", "random", "random:index/randomShuffle:RandomShuffle", obj("inputs", []string{"a"}, "resultCount",
			-1), "resultCount", "at least 0"},
		{"enum", "command", "command:local:Command", obj("logging", "loud"), "logging", "must be"},
		{"list item", "command", "command:local:Command", obj("interpreter", value.List(value.EmptyMap())), "interpreter",
			"must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := configure(t, c.pkg, Options{})
			response, err := r.Check(t.Context(), provider.CheckRequest{Subject: subject(c.typ), News: c.inputs,
				AllowUnknowns: true})
			require.NoError(t, err)
			if c.property == "" {
				require.Empty(t, response.Failures)
				return
			}
			require.Len(t, response.Failures, 1)
			require.Equal(t, c.property, response.Failures[0].Property)
			require.Contains(t, response.Failures[0].Reason, c.text)
		})
	}
	r := configure(t, "random", Options{})
	_, err := r.Check(t.Context(), provider.CheckRequest{Subject: subject("random:index/nope:Nope")})
	require.ErrorContains(t, err, "no resource type")
	_, err = r.Invoke(t.Context(), provider.InvokeRequest{Token: "random:index:nope"})
	require.ErrorContains(t, err, "no function")
	_, err = r.Call(t.Context(), provider.CallRequest{Token: "pulumi:providers:random/terraformConfig"})
	require.ErrorContains(t, err, "Terraform")
	_, err = r.Construct(context.Background(), provider.ConstructRequest{Type: "a:b:C"})
	require.Error(t, err)
}
