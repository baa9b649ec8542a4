package wire_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/internal/value/wire"
)

const (
	res  = urn.URN("urn:pulumi:dev::proj::pkg:index:Res::name")
	res2 = urn.URN("urn:pulumi:dev::proj::pkg:index:Res::other")
)

var preview = wire.Options{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

func optionSets() map[string]wire.Options {
	elided := preview
	elided.ElideAssetContents = true
	return map[string]wire.Options{
		"keep-all": {KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputs: true,
			KeepByteStrings: true},
		"resource-rpc-preview": preview,
		"resource-rpc-update":  {KeepSecrets: true, KeepResources: true},
		"elided-assets":        elided,
		"keep-nothing":         {},
	}
}

// otherSpelling holds the vectors that we deliberately encode differently.
var otherSpelling = map[string]string{
	// We encode an output without dependencies as the value, secret or unknown that it contains.
	"output-known/keep-all":                     `"v"`,
	"output-unknown/keep-all":                   `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`,
	"output-unknown-secret/keep-all":            secretOf(`"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`),
	"unknown-secret/resource-rpc-update":        omitted, // F1.18: no secret without a value
	"output-unknown-secret/resource-rpc-update": omitted, // F1.18
}

const omitted = "<<omitted>>"

func secretOf(v string) string {
	return `{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","value":` + v + `}`
}

func TestVectors(t *testing.T) { // F1.1–F1.18, E1.11
	t.Parallel()
	text := testfile.Bytes(t, "testdata/property-values.json")
	var vectors struct {
		Cases []struct {
			Name      string
			Wire      json.RawMessage
			Different map[string]json.RawMessage `json:"wireWhenDifferent"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	require.Len(t, vectors.Cases, 31)
	for _, c := range vectors.Cases {
		source := new(structpb.Value)
		require.NoError(t, protojson.Unmarshal(c.Wire, source))
		v, err := wire.KeepAll().DecodeValue(source)
		require.NoError(t, err, c.Name)
		for set, options := range optionSets() {
			t.Run(c.Name+"/"+set, func(t *testing.T) {
				t.Parallel()
				want := c.Wire
				if other, ok := c.Different[set]; ok {
					want = other
				}
				if other, ok := otherSpelling[c.Name+"/"+set]; ok {
					want = json.RawMessage(other)
					if other == omitted {
						want = json.RawMessage(`"` + omitted + `"`)
					}
				}
				got, err := options.Encode(value.MapOf(value.Entry{Key: "p", Value: v}))
				var fails struct{ Error string }
				if json.Unmarshal(want, &fails) == nil && fails.Error != "" {
					require.EqualError(t, err, fails.Error)
					return
				}
				require.NoError(t, err)
				if string(want) == `"`+omitted+`"` {
					require.Empty(t, got.Fields)
					return
				}
				gotText, err := protojson.Marshal(got.Fields["p"])
				require.NoError(t, err)
				require.JSONEq(t, string(want), string(gotText))

				reader := options // a receiver with the same capabilities
				back, err := reader.DecodeValue(got.Fields["p"])
				require.NoError(t, err)
				again, err := options.EncodeValue(back)
				require.NoError(t, err)
				require.True(t, proto.Equal(got.Fields["p"], again), "a second round gives %v", again)
			})
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	sig := func(signature, rest string) string {
		return `{"4dabf18193072939515e22adb298388d":"` + signature + `"` + rest + `}`
	}
	unknownString := `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`
	ref := func(id value.Value) value.Value { return value.Resource(&value.ResourceRef{URN: res, ID: id}) }
	for _, c := range []struct {
		name    string
		options wire.Options
		wire    string
		want    value.Value
		fails   string
	}{
		{name: "F1.4 secret without value", options: wire.KeepAll(), wire: `{"a":[` + sig(wire.SecretSignature, "") + `]}`,
			fails: `the value of property "p.a[0]" is a malformed secret: it has no value`},
		{name: "F1.4 secret in secret", options: wire.KeepAll(), wire: secretOf(secretOf(`1`)), want: value.Int(1).Secret()},
		{name: "F1.4 secrets not kept", options: wire.Options{}, wire: secretOf(`1`), want: value.Int(1)},
		{name: "F1.5 number sentinel", options: wire.KeepAll(), wire: `"` + wire.Sentinel(value.KindNumber) + `"`,
			want: value.Unknown(value.KindNumber)},
		{name: "E1.12 string sentinel is of any kind", options: wire.KeepAll(), wire: unknownString,
			want: value.Unknown(value.KindAny)},
		{name: "F1.14 unknown rejected", options: wire.Options{RejectUnknowns: true}, wire: `{"a.b":{"c":` + unknownString +
			`}}`, fails: `the value of property "p[\"a.b\"].c" is not known yet, and must be here`},
		{name: "F1.11 dropped item leaves null", options: wire.Options{}, wire: `["a",` + unknownString + `,"b"]`,
			want: value.List(value.String("a"), value.Null, value.String("b"))},
		{name: "F1.18 dropped unknown in a secret", options: wire.Options{KeepSecrets: true},
			wire: `{"a":` + secretOf(unknownString) + `,"b":1}`, want: value.EmptyMap().With("b", value.Int(1))},
		{name: "F1.6 output", options: wire.KeepAll(),
			wire: sig(wire.OutputSignature, `,"value":"v","secret":true,"dependencies":["`+string(res2)+`","`+string(res)+`"]`),
			want: value.String("v").Secret().DependingOn(res, res2)},
		{name: "F1.6 unknown output", options: wire.KeepAll(), wire: sig(wire.OutputSignature, `,"dependencies":["`+
			string(res)+`"]`), want: value.Unknown(value.KindAny).DependingOn(res)},
		{name: "F1.6 outputs not kept", options: preview, wire: sig(wire.OutputSignature, `,"value":1,"dependencies":["`+
			string(res)+`"]`), want: value.Int(1)},
		{name: "F1.6 odd dependency", options: wire.KeepAll(), wire: sig(wire.OutputSignature, `,"dependencies":[1]`),
			fails: `the value of property "p" is a malformed output: a dependency is not a string`},
		{name: "F1.6 odd secrecy", options: wire.KeepAll(), wire: sig(wire.OutputSignature, `,"secret":"yes"`),
			fails: `the value of property "p" is a malformed output: whether it is secret is not a boolean`},
		{name: "F1.7 component", options: wire.KeepAll(), wire: sig(wire.ResourceSignature, `,"urn":"`+string(res)+`"`),
			want: ref(value.Null)},
		{name: "F1.7 unknown ID", options: wire.KeepAll(), wire: sig(wire.ResourceSignature, `,"urn":"`+string(res)+`","id":`+
			unknownString), want: ref(value.Unknown(value.KindString))},
		{name: "F1.7 historic null", options: wire.KeepAll(), wire: sig(wire.ResourceSignature, `,"urn":"`+string(res)+
			`","id":{"V":null}`), want: ref(value.Null)},
		{name: "F1.7 historic string", options: wire.KeepAll(), wire: sig(wire.ResourceSignature, `,"urn":"`+string(res)+
			`","id":{"V":"i"}`), want: ref(value.String("i"))},
		{name: "F1.7 historic object", options: wire.KeepAll(), wire: sig(wire.ResourceSignature, `,"urn":"`+string(res)+
			`","id":{"V":{}}`), want: ref(value.Unknown(value.KindString))},
		{name: "F1.7 no URN", options: wire.KeepAll(), wire: sig(wire.ResourceSignature, ""),
			fails: `the value of property "p" is a malformed resource reference: it needs a URN`},
		{name: "F1.7 references not kept", options: wire.Options{}, wire: sig(wire.ResourceSignature, `,"urn":"`+string(res)+
			`","id":"i"`), want: value.String("i")},
		{name: "F1.8 empty text", options: wire.KeepAll(),
			wire: sig(wire.AssetSignature, `,"hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`),
			want: value.NewAsset(&value.Asset{HasText: true,
				Hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})},
		{name: "F1.8 odd asset", options: wire.KeepAll(), wire: sig(wire.AssetSignature, `,"text":1`),
			fails: `the value of property "p" is a malformed asset: its hash, text, path or uri is not a string`},
		{name: "F1.8 odd archive member", options: wire.KeepAll(), wire: sig(wire.ArchiveSignature, `,"assets":{"a":1}`),
			fails: `the value of property "p.a" is neither an asset nor an archive`},
		{name: "F1.9 odd bytes", options: wire.KeepAll(), wire: sig(wire.BytesSignature, `,"value":"*"`),
			fails: `the value of property "p" is a malformed byte string: it has no base64 text`},
		{name: "F1.10 unknown signature", options: wire.KeepAll(), wire: sig("x", ""),
			fails: `the value of property "p" has the unrecognized signature "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := new(structpb.Value)
			require.NoError(t, protojson.Unmarshal([]byte(c.wire), w))
			got, err := c.options.Decode(&structpb.Struct{Fields: map[string]*structpb.Value{"p": w}})
			if c.fails != "" {
				require.EqualError(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, value.EmptyMap().With("p", c.want), got)
		})
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	one := func(v value.Value) value.Value { return value.EmptyMap().With("p", v) }
	for _, c := range []struct {
		name    string
		options wire.Options
		value   value.Value
		want    string // JSON of the whole message
		fails   string
	}{
		{name: "F1.12 unknown rejected", options: wire.Options{RejectUnknowns: true},
			value: one(value.List(value.Null, value.Unknown(value.KindAny))),
			fails: `the value of property "p[1]" is not known yet`},
		{name: "F1.18 nested", options: wire.Options{KeepSecrets: true},
			value: value.EmptyMap().With("a", one(value.Unknown(value.KindAny).Secret())), want: `{"a":{}}`},
		{name: "F1.18 known parts stay", options: wire.Options{KeepSecrets: true},
			value: one(value.List(value.Unknown(value.KindAny), value.Int(1)).Secret()), want: `{"p":` + secretOf(`[1]`) + `}`},
		{name: "marks at the top reach the properties", options: preview, value: one(value.Int(1)).Secret(), want: `{"p":` +
			secretOf(`1`) + `}`},
		{name: "not a map", options: preview, value: value.Int(1), fails: "the value is not a map of properties"},
		{name: "name that is not UTF-8", options: preview, value: value.EmptyMap().With("a\xff", value.Null),
			fails: "the value of property \"a\uFFFD\" has a name that is not UTF-8"},
		{name: "secret member makes the archive secret", options: preview,
			value: one(value.NewArchive(&value.Archive{Assets: value.EmptyMap().With("f",
				value.NewAsset(&value.Asset{HasText: true, Text: "t"}).Secret())})),
			want: `{"p":` + secretOf(`{"4dabf18193072939515e22adb298388d":"0def7320c3a5731c473e5ecbe6d01bc7",
				"assets":{"f":{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","text":"t"}}}`) + `}`},
		{name: "content without a hash is not elided", options: wire.Options{ElideAssetContents: true},
			value: one(value.NewAsset(&value.Asset{Path: "f"})),
			want:  `{"p":{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","path":"f"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.options.Encode(c.value)
			if c.fails != "" {
				require.EqualError(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			text, err := protojson.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(text))
		})
	}
}

func TestNoProperties(t *testing.T) {
	t.Parallel()
	s, err := wire.Options{}.Encode(value.Null)
	require.NoError(t, err)
	require.Nil(t, s)
	v, err := wire.Options{}.Decode(nil)
	require.NoError(t, err)
	require.Equal(t, value.Null, v)
}

func TestErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	_, err := preview.Encode(value.EmptyMap().With("p", value.String("hunter2\xff").Secret()))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

// build builds a value from fuzz bytes, in the normal form that encoding preserves.
type build struct{ data []byte }

func (b *build) next() byte {
	if len(b.data) == 0 {
		return 0
	}
	c := b.data[0]
	b.data = b.data[1:]
	return c
}

func (b *build) text() string {
	n := min(int(b.next()%12), len(b.data))
	s := string(b.data[:n])
	b.data = b.data[n:]
	return s
}

func (b *build) value(depth int) value.Value {
	v := b.bare(depth)
	flags := b.next()
	if flags&1 != 0 {
		v = v.Secret()
	}
	if flags&2 != 0 {
		v = v.DependingOn(res)
	}
	if flags&4 != 0 {
		v = v.DependingOn(res2)
	}
	return v
}

func (b *build) bare(depth int) value.Value {
	choice := b.next() % 12
	if depth > 6 && choice > 5 {
		choice %= 6
	}
	switch choice {
	case 0:
		return value.Null
	case 1:
		return value.Bool(b.next()&1 == 1)
	case 2:
		return value.Number(math.Float64frombits(uint64(b.next())<<56 | uint64(b.next())<<48 | uint64(b.next())))
	case 3, 4:
		return value.String(b.text())
	case 5:
		kinds := []value.Kind{value.KindAny, value.KindBool, value.KindNumber, value.KindList, value.KindMap,
			value.KindAsset, value.KindArchive}
		return value.Unknown(kinds[int(b.next())%len(kinds)])
	case 6, 7:
		items := make([]value.Value, b.next()%4)
		for i := range items {
			items[i] = b.value(depth + 1)
		}
		return value.List(items...)
	case 8:
		return b.properties(depth)
	case 9:
		return b.asset()
	case 10:
		members := map[string]value.Value{}
		for range b.next() % 3 {
			members[strings.ToValidUTF8(b.text(), "")] = b.asset()
		}
		return value.NewArchive(&value.Archive{Assets: value.Map(members), Hash: strings.Repeat("a", int(b.next()%2))})
	default:
		ids := []value.Value{value.Null, value.Unknown(value.KindString), value.String("id")}
		return value.Resource(&value.ResourceRef{URN: res, ID: ids[b.next()%3],
			PackageVersion: []string{"", "1.2.3"}[b.next()%2]})
	}
}

func (b *build) properties(depth int) value.Value {
	m := map[string]value.Value{}
	for range b.next() % 5 {
		m[strings.ToValidUTF8(b.text(), "")] = b.value(depth + 1)
	}
	return value.Map(m)
}

func (b *build) asset() value.Value {
	switch b.next() % 3 {
	case 0:
		return value.NewAsset(&value.Asset{HasText: true, Text: strings.ToValidUTF8(b.text(), "")})
	case 1:
		return value.NewAsset(&value.Asset{Path: "f", Hash: "abc"})
	default:
		return value.NewAsset(&value.Asset{URI: "https://example.com"})
	}
}

// sameMessage compares messages by their bytes, so that a NaN equals itself.
func sameMessage(a, b *structpb.Struct) bool {
	o := proto.MarshalOptions{Deterministic: true}
	x, errX := o.Marshal(a)
	y, errY := o.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{4, 1, 'a', 3, 5, 'h', 'e', 'l', 'l', 'o', 3})
	f.Add([]byte{3, 1, 'b', 8, 2, 1, 'c', 5, 3, 7, 1, 'd', 10, 2, 1, 'x', 0, 1, 'y'})
	f.Add([]byte{1, 1, 'a', 3, 2, 0xff, 0xfe, 1})
	f.Add([]byte{1, 1, 'n', 2, 0x7f, 0xf8, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		v := (&build{data}).properties(0)
		w, err := wire.KeepAll().Encode(v)
		require.NoError(t, err)
		packed, err := proto.Marshal(w)
		require.NoError(t, err, "the message must be valid protobuf")
		again := new(structpb.Struct)
		require.NoError(t, proto.Unmarshal(packed, again))
		back, err := wire.KeepAll().Decode(again)
		require.NoError(t, err)
		if !value.Equal(v, back) {
			t.Fatalf("%v came back as another value", w)
		}
		// Every encoding must be readable by the receiver with the same options.
		for name, options := range optionSets() {
			_, tree := options.Encode(v)
			direct := options.EncodeInto(new(pulumirpc.DiffRequest), 3, v)
			require.Equal(t, tree, direct, "the same refusal, at the same place")
			options.KeepByteStrings = true
			less, err := options.Encode(v)
			require.NoError(t, err, name)
			sent, received := new(pulumirpc.DiffRequest), new(pulumirpc.DiffRequest)
			require.NoError(t, options.EncodeInto(sent, 3, v), name)
			require.NoError(t, options.EncodeInto(sent, 4, v), name)
			packed, err := proto.Marshal(sent)
			require.NoError(t, err, name)
			require.NoError(t, proto.Unmarshal(packed, received), name)
			for _, got := range []*structpb.Struct{received.GetOlds(), received.GetNews()} {
				if !sameMessage(less, got) {
					t.Fatalf("%s: to bytes %v, as a tree %v", name, got, less)
				}
			}
			wire.Recycle(sent) // the next message is written over this one
			require.Empty(t, sent.ProtoReflect().GetUnknown(), name)
			if !sameMessage(less, received.GetOlds()) {
				t.Fatalf("%s: what was received changed", name)
			}
			_, err = options.Decode(less)
			require.NoError(t, err, name)
		}
	})
}

func FuzzDecode(f *testing.F) {
	text := testfile.Bytes(f, "testdata/property-values.json")
	var vectors struct {
		Cases []struct{ Wire json.RawMessage }
	}
	require.NoError(f, json.Unmarshal(text, &vectors))
	for _, c := range vectors.Cases {
		w := new(structpb.Value)
		require.NoError(f, protojson.Unmarshal(c.Wire, w))
		packed, err := proto.Marshal(&structpb.Struct{Fields: map[string]*structpb.Value{"p": w}})
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := new(structpb.Struct)
		damaged := proto.Unmarshal(data, w)
		for name, options := range optionSets() {
			direct, err := options.DecodeBytes(bytes.Clone(data))
			if damaged != nil {
				if err == nil { // the damage is in an unread part of a special map
					_, err = wire.KeepAll().Encode(direct)
					require.NoError(t, err, name)
				}
				continue
			}
			tree, fault := options.Decode(w)
			require.Equal(t, fault, err, name)
			require.True(t, value.Equal(tree, direct), "%s: from a tree %v, from bytes %v", name, tree, direct)
		}
		if damaged != nil {
			return
		}
		v, err := wire.KeepAll().Decode(w)
		if err != nil {
			return
		}
		again, err := wire.KeepAll().Encode(v)
		require.NoError(t, err, "what was read can be written")
		back, err := wire.KeepAll().Decode(again)
		require.NoError(t, err)
		require.True(t, value.Equal(v, back))
	})
}

// typical returns typical inputs of a resource: nine properties, some nested.
func typical() value.Value {
	return value.Map(map[string]value.Value{
		"name": value.String("web-server"), "size": value.Int(3), "enabled": value.Bool(true),
		"tags": value.Map(map[string]value.Value{"env": value.String("prod"), "team": value.String("core"),
			"cost": value.String("17")}),
		"rules": value.List(
			value.Map(map[string]value.Value{"from": value.Int(80), "to": value.Int(80), "proto": value.String("tcp")}),
			value.Map(map[string]value.Value{"from": value.Int(443), "to": value.Int(443), "proto": value.String("tcp")})),
		"password": value.String("s3cr3t").Secret(), "subnet": value.String("subnet-1").DependingOn(res),
		"description": value.String("a web server"), "ratio": value.Number(1.5),
	})
}

func BenchmarkEncode(b *testing.B) {
	v := typical()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := preview.Encode(v); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDecodeField decodes fields of a message, with and without Unmarshal.
func TestDecodeField(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	inputs := value.Map(map[string]value.Value{"a": value.String("x"), "b": value.List(value.Int(1), typical()),
		"c": value.String("y").Secret()})
	s, err := preview.Encode(inputs)
	require.NoError(t, err)
	inputs, err = preview.Decode(s)
	require.NoError(t, err)
	request := &pulumirpc.DiffRequest{Id: "i", Urn: "u", Olds: s, News: &structpb.Struct{}}
	packed, err := proto.Marshal(request)
	require.NoError(t, err)
	left := new(pulumirpc.DiffRequest)
	require.NoError(t, wire.Unmarshal(packed, left))
	require.Equal(t, "i", left.GetId())
	require.Equal(t, "u", left.GetUrn())
	require.Nil(t, left.GetOlds())
	clear(packed)
	for name, m := range map[string]*pulumirpc.DiffRequest{"tree": request, "bytes": left} {
		for field, want := range map[protoreflect.FieldNumber]value.Value{3: inputs, 4: value.EmptyMap(),
			6: value.Null} {
			got, err := preview.DecodeField(m, field, most)
			require.NoError(t, err, name)
			require.True(t, value.Equal(want, got), "%s, field %d: %v", name, field, got)
		}
		_, err := preview.DecodeField(m, 3, 10)
		require.ErrorIs(t, err, wire.ErrTooLarge, name)
	}
	packed, err = proto.Marshal(request)
	require.NoError(t, err)
	more, err := proto.Marshal(&pulumirpc.DiffRequest{Olds: &structpb.Struct{Fields: map[string]*structpb.Value{
		"a": structpb.NewStringValue("z"), "d": structpb.NewBoolValue(true)}}})
	require.NoError(t, err)
	require.NoError(t, wire.Unmarshal(append(packed, more...), left))
	got, err := preview.DecodeField(left, 3, most)
	require.NoError(t, err)
	require.True(t, value.Equal(inputs.With("a", value.String("z")).With("d", value.Bool(true)), got),
		"parts of a message make one: %v", got)
	for n := range packed {
		if wire.Unmarshal(packed[:n], left) == nil {
			require.NoError(t, proto.Unmarshal(packed[:n], new(pulumirpc.DiffRequest)), "a message that ends after %d bytes", n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	w, err := preview.Encode(typical())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := preview.Decode(w); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswer decodes a response of typical size from bytes, with and without intermediate messages.
func BenchmarkAnswer(b *testing.B) {
	s, err := preview.Encode(typical())
	require.NoError(b, err)
	packed, err := proto.Marshal(&pulumirpc.CheckResponse{Inputs: s})
	require.NoError(b, err)
	b.Run("tree", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			answer := new(pulumirpc.CheckResponse)
			require.NoError(b, proto.Unmarshal(packed, answer))
			_, err := preview.DecodeField(answer, 1, 1<<20)
			require.NoError(b, err)
		}
	})
	b.Run("bytes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			answer := new(pulumirpc.CheckResponse)
			require.NoError(b, wire.Unmarshal(packed, answer))
			_, err := preview.DecodeField(answer, 1, 1<<20)
			require.NoError(b, err)
		}
	})
}

// BenchmarkRequest encodes a request of typical size to bytes, with and without intermediate messages.
func BenchmarkRequest(b *testing.B) {
	labels := map[string]value.Value{}
	for _, key := range []string{"environment", "owner", "cost-centre", "region", "tier", "zone"} {
		labels[key] = value.String("a label of " + key)
	}
	rule := value.Map(map[string]value.Value{"from": value.Number(80), "to": value.Number(81),
		"protocol": value.String("tcp")})
	v := value.Map(map[string]value.Value{"title": value.String("thing"), "size": value.Number(3),
		"enabled": value.Bool(true), "tags": value.Map(labels), "rules": value.List(rule, rule, rule),
		"password": value.String("secret").Secret()})
	b.Run("tree", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := preview.Encode(v)
			require.NoError(b, err)
			_, err = proto.Marshal(&pulumirpc.DiffRequest{Olds: s})
			require.NoError(b, err)
		}
	})
	b.Run("bytes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			request := new(pulumirpc.DiffRequest)
			require.NoError(b, preview.EncodeInto(request, 3, v))
			_, err := proto.Marshal(request)
			require.NoError(b, err)
			wire.Recycle(request)
		}
	})
}
