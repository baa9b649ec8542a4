package state

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

func b64(SecretsProvider) (secrets.Manager, error) { return secrets.B64{}, nil }

// everything has every member of F5.8 in its order, unknown members at every level, and secrets.
const everything = `{"version":4,"features":["byteString","extensionParameterization","hooks","refreshBeforeUpdate","replaceWith","snippets-prototype","taint","views"],` +
	`"checkpoint":{"stack":"organization/p/dev","config":{"p:k":"v"},"latest":{` +
	`"manifest":{"time":"2026-11-20T17:47:33.7Z","magic":"","version":"","plugins":[]},` +
	`"secrets_providers":{"type":"b64","future":1},"resources":[{"urn":"urn:pulumi:dev::p::t:m:R::n","custom":true,"delete":true,` +
	`"id":"i","type":"t:m:R","inputs":{"<a>":1,"bytes":{"4dabf18193072939515e22adb298388d":"803fd3297a5875dc03ca845dda5d2a98","value":"/w=="},` +
	`"s":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"IlwidFx1MDAzY1wiIg=="}},` +
	`"outputs":{"o":[null,true,-1.5e-9]},"parent":"urn:pulumi:dev::p::t:m:P::n","protect":true,"taint":true,"external":true,` +
	`"dependencies":["urn:pulumi:dev::p::t:m:D::n"],"initErrors":["bad"],"provider":"urn:pulumi:dev::p::pulumi:providers:t::n::id",` +
	`"propertyDependencies":{"a":[],"b":["urn:pulumi:dev::p::t:m:D::n"]},"pendingReplacement":true,"additionalSecretOutputs":["o"],` +
	`"aliases":["urn:pulumi:dev::p::t:m:R::old"],"customTimeouts":{"create":300,"update":0.5,"delete":90,"read":1,"future":{}},` +
	`"importID":"imp","retainOnDelete":true,"deletedWith":"urn:pulumi:dev::p::t:m:D::n","replaceWith":["urn:pulumi:dev::p::t:m:D::n"],` +
	`"created":"2026-11-20T17:47:33Z","modified":"2026-11-20T17:47:33.000000001Z","sourcePosition":"project:///Pulumi.yaml#3,5",` +
	`"stackTrace":[{"sourcePosition":"x"}],"ignoreChanges":["a.b"],"hideDiff":["c"],"replaceOnChanges":["d[*]"],` +
	`"replacementTrigger":{"x":1},"refreshBeforeUpdate":true,"viewOf":"urn:pulumi:dev::p::t:m:D::n",` +
	`"resourceHooks":{"beforeCreate":["h"]},"extensionRef":"e","snippetID":"u","future":{"nested":[1,2]}}],` +
	`"pending_operations":[{"resource":{"urn":"urn:pulumi:dev::p::t:m:R::n","custom":false,"type":"t:m:R"},"type":"creating","future":0}],` +
	`"metadata":{"x":"y"},"snippets":[{"uuid":"u"}],"extensions":{"e":{"name":"n"}},"future":"kept"},"future":[{}]},"future":null}`

// F5.8, F0.3. The names and forms of members are those of E1.20–E1.41, E1.44–E1.46 and E6.6, such as empty lists of
// dependencies, seconds as numbers, and times in nanoseconds.
func TestEveryMemberSurvives(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"as written": everything, "indented": indent(t, everything)} {
		for how, open := range map[string]Opener{"sealed": nil, "opened": b64} {
			c, err := DecodeCheckpoint([]byte(text), open)
			require.NoError(t, err, name, how)
			var m secrets.Manager
			if open != nil {
				m = secrets.B64{}
			}
			got, err := EncodeCheckpoint(c, m)
			require.NoError(t, err)
			require.Equal(t, everything, string(got), "%s, %s", name, how)
		}
	}
}

func indent(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(json.RawMessage(text)))
	return out.String()
}

func TestOlderVersions(t *testing.T) { // F5.2
	t.Parallel()
	const latest = `{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"resources":[{"urn":"urn:pulumi:dev::p::t::n","custom":false,"type":"t"}],"metadata":{}}`
	for name, text := range map[string]string{
		"version 0, bare": `{"stack":"dev","latest":` + latest + `}`,
		"version 1":       `{"version":1,"checkpoint":{"stack":"dev","latest":` + latest + `}}`,
		"version 2":       `{"version":2,"checkpoint":{"stack":"dev","latest":` + latest + `}}`,
		"features on a version 3": `{"version":3,"features":["who knows"],"checkpoint":{"stack":"dev","latest":` + latest +
			`}}`,
		"version last":    `{"checkpoint":{"stack":"dev","latest":` + latest + `},"version":3}`,
		"byte order mark": "\ufeff" + `{"version":3,"checkpoint":{"stack":"dev","latest":` + latest + `}}`,
		"an empty list, a null one": `{"version":3,"checkpoint":{"stack":"dev","latest":` +
			strings.Replace(latest, `"metadata"`, `"pending_operations":null,"metadata"`, 1) + `}}`,
	} {
		c, err := DecodeCheckpoint([]byte(text), nil)
		require.NoError(t, err, name)
		got, err := EncodeCheckpoint(c, nil)
		require.NoError(t, err, name)
		require.Equal(t, `{"version":3,"checkpoint":{"stack":"dev","latest":`+latest+`}}`, string(got), name)
	}
}

func TestResourcesBeforeSecretsProvider(t *testing.T) {
	t.Parallel()
	const text = `{"resources":[{"urn":"u","type":"t","inputs":{"s":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"MQ=="}}}],"secrets_providers":{"type":"b64"}}`
	s, err := Decode([]byte(text), b64)
	require.NoError(t, err)
	got, _ := s.Resources[0].Inputs.Lookup("s")
	require.True(t, value.Equal(value.Int(1).Secret(), got))
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "line 1, column 1 (byte 0): the text ends where an object is expected"},
		{"not JSON", "hello", "found 'h' where an object is expected"},
		{"cut off", "{\n  \"version\": 3,\n  \"checkpoint\": {\"stack\": \"de",
			"line 3, column 27 (byte 44): the string that begins here has no end"},
		{"trailing", `{"version":3} x`, "there is more text after the value"},
		{"too new", `{"version":5,"checkpoint":{}}`, "version 5"},
		{"version -1", `{"version":-1,"checkpoint":{}}`, "version -1"},
		{"version 2.5", `{"version":2.5,"checkpoint":{}}`, "version 2"},
		{"new feature", `{"version":4,"features":["time-travel"],"checkpoint":{}}`, `"time-travel"`},
		{"feature after", `{"version":4,"checkpoint":{},"features":["time-travel"]}`, `"time-travel"`},
		{"wrong shape", `{"version":3,"checkpoint":{"latest":{"resources":{}}}}`, "where a list is expected"},
		{"resource is null", `{"version":3,"checkpoint":{"latest":{"resources":[null]}}}`, "where a resource is expected"},
		{"inputs", `{"version":3,"checkpoint":{"latest":{"resources":[{"inputs":[]}]}}}`, "where an object is expected"},
		{"signature",
			`{"version":3,"checkpoint":{"latest":{"resources":[{"inputs":{"a":{"4dabf18193072939515e22adb298388d":"?"}}}]}}}`,
			"unrecognized signature"},
		{"number", `{"version":1e999}`, "too large"},
		{"leading zero", `{"version":01}`, `found '1'`},
		{"time", `{"version":3,"checkpoint":{"latest":{"manifest":{"time":"noon"}}}}`, `"noon" is not a time`},
		{"not UTF-8", "{\"version\":3,\"a\xff\":1}", `(byte 15): byte 0xff is not UTF-8`},
		{"control", "{\"a\nb\":1}", "control character"},
		{"escape", `{"a":"\x"}`, "not an escape"},
		{"deep", `{"a":` + strings.Repeat("[", 2000), "more than 1000 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := DecodeCheckpoint([]byte(c.text), nil)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, err, Readable([]byte(c.text)), "what is read back before it is written follows the same rules")
		})
	}
	_, err := DecodeExport([]byte(`{"version":3}`), nil)
	require.ErrorContains(t, err, "stack export")
}

func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	const hidden = "hidden text"
	r := &Resource{URN: "urn:pulumi:dev::p::t:m:R::n", Type: "t:m:R",
		Inputs: value.MapOf(value.Entry{Key: "a", Value: value.List(value.String(hidden).Secret())}),
		Outputs: value.MapOf(value.Entry{Key: "b", Value: value.MapOf(value.Entry{Key: "c",
			Value: value.String(hidden)})}).Secret()}
	for name, want := range map[string]struct {
		form Form
		text string
	}{
		"events, F7.6": {Marked(),
			`"inputs":{"a":[{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}]},"outputs":{"b":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"[secret]"}}`},
		"preview, F7.9": {Masked(), `"inputs":{"a":["[secret]"]},"outputs":{"b":"[secret]"}`},
	} {
		got, err := AppendResource(nil, r, want.form)
		require.NoError(t, err)
		require.Contains(t, string(got), want.text, name)
		require.NotContains(t, string(got), hidden)
	}
	_, err := AppendResource(nil, r, Sealed(nil))
	require.ErrorContains(t, err, `the secret "inputs.a" of urn:pulumi:dev::p::t:m:R::n cannot be sealed`)
	require.NotContains(t, err.Error(), hidden)

	_, err = AppendResource(nil, r, Sealed(secrets.NewLazy("", secrets.Options{}))) // D3
	require.ErrorIs(t, err, secrets.ErrNoPassphrase)
	require.ErrorContains(t, err, `"inputs.a"`)

	broken := []byte(
		`{"urn":"u","type":"t","inputs":{"p":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"hidden text"}}}`)
	_, err = DecodeResource(broken, nil)
	require.ErrorContains(t, err, "not JSON")
	require.NotContains(t, err.Error(), hidden)
}

func TestMasking(t *testing.T) { // F7.9: as captured
	t.Parallel()
	data := testfile.Bytes(t, "testdata/checkpoint-v3.json")
	c, err := DecodeCheckpoint(data, nil)
	require.NoError(t, err)
	got, err := AppendResource(nil, c.Snapshot.Resources[2], Masked())
	require.NoError(t, err)
	require.Contains(t, string(got), `{"obj":{"ps":{"keepers":"[secret]"}}}`)
}

func TestSealedIsNotRewrittenUnderAnotherManager(t *testing.T) {
	t.Parallel()
	data := testfile.Bytes(t, "testdata/checkpoint-v3.json")
	c, err := DecodeCheckpoint(data, nil)
	require.NoError(t, err)
	_, err = EncodeCheckpoint(c, secrets.B64{})
	require.ErrorContains(t, err, "still sealed")
	_, err = EncodeExport(c.Snapshot, Shown())
	require.ErrorContains(t, err, "cannot be shown")
	_, sealed := SealedText(value.String("x").Secret())
	require.False(t, sealed)
}

func TestNoSecretsNoPassphrase(t *testing.T) { // D3
	t.Parallel()
	m := secrets.NewLazy("", secrets.Options{Passphrase: func(secrets.Purpose) (string, error) {
		return "", errors.New("must not be asked")
	}})
	got, err := Encode(sound(), Remembering(m))
	require.NoError(t, err)
	require.NotContains(t, string(got), "secrets_providers")
}

func TestMemoryKeepsCiphertextsApart(t *testing.T) { // E6.33
	t.Parallel()
	keys := &secrets.Keyring{}
	m, err := secrets.NewPassphrase(keys, "x")
	require.NoError(t, err)
	memory := Remembering(m)
	same := value.String("same").Secret()
	inputs := value.MapOf(value.Entry{Key: "a", Value: same}, value.Entry{Key: "b", Value: same})
	s := &Snapshot{Resources: []*Resource{{URN: uA, Type: "t", Inputs: inputs}, {URN: uB, Type: "t", Inputs: inputs}}}
	first, err := Encode(s, memory)
	require.NoError(t, err)
	second, err := Encode(s, memory)
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	blind, err := Decode(first, nil)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, r := range blind.Resources {
		for i := range r.Inputs.Len() {
			text, ok := SealedText(r.Inputs.At(i))
			require.True(t, ok)
			seen[text] = true
		}
	}
	require.Len(t, seen, 4, "a file does not tell which secrets are alike")
}

func TestOldResourceReferences(t *testing.T) { // F1.7
	t.Parallel()
	for id, want := range map[string]value.Value{
		`{"V":null}`: value.Null, `{"V":"x"}`: value.String("x"), `{"V":{}}`: value.Unknown(value.KindString),
		`""`: value.Unknown(value.KindString), `"` + unknownText + `"`: value.Unknown(value.KindString),
	} {
		v, err := DecodeValue([]byte(`{"4dabf18193072939515e22adb298388d":"5cf8f73096256a8f31e491e813e4eb8e","id":`+id+
			`,"urn":"u"}`), nil)
		require.NoError(t, err)
		ref, ok := v.AsResource()
		require.True(t, ok)
		require.True(t, value.Equal(want, ref.ID), id)
	}
}

// drawValue generates any value that a state can hold.
func drawValue(t *rapid.T, depth int) value.Value {
	leaf := rapid.SampledFrom([]string{"null", "bool", "number", "string", "bytes", "unknown", "asset", "ref"})
	inner := rapid.SampledFrom([]string{"list", "map", "archive", "null", "string", "number"})
	kind := leaf
	if depth > 0 && rapid.Bool().Draw(t, "nest") {
		kind = inner
	}
	var v value.Value
	switch kind.Draw(t, "kind") {
	case "bool":
		v = value.Bool(rapid.Bool().Draw(t, "b"))
	case "number":
		v = value.Number(math.Float64frombits(rapid.Uint64().Draw(t, "bits")))
	case "string":
		v = value.String(rapid.String().Draw(t, "s"))
	case "bytes":
		v = value.String(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
	case "unknown":
		v = value.Unknown(value.KindAny)
	case "asset":
		v = drawAsset(t)
	case "ref":
		v = value.Resource(&value.ResourceRef{URN: urn.URN(rapid.String().Draw(t, "urn")),
			PackageVersion: rapid.String().Draw(t, "v"),
			ID: rapid.SampledFrom([]value.Value{value.Null, value.String("id"),
				value.Unknown(value.KindString)}).Draw(t, "id")})
	case "list":
		items := make([]value.Value, rapid.IntRange(0, 3).Draw(t, "n"))
		for i := range items {
			items[i] = drawValue(t, depth-1)
		}
		v = value.List(items...)
	case "map":
		v = drawMap(t, depth)
	case "archive":
		assets := value.MapOf(value.Entry{Key: rapid.String().Draw(t, "name"), Value: drawAsset(t)})
		v = value.NewArchive(&value.Archive{Assets: assets, Hash: rapid.SampledFrom([]string{"", "h"}).Draw(t, "hash")})
	}
	if rapid.IntRange(0, 4).Draw(t, "secret") == 0 {
		v = v.Secret()
	}
	return v
}

func drawMap(t *rapid.T, depth int) value.Value {
	m := map[string]value.Value{}
	for range rapid.IntRange(0, 4).Draw(t, "n") {
		if key := rapid.String().Draw(t, "key"); key != signatureKey {
			m[key] = drawValue(t, depth-1)
		}
	}
	return value.Map(m)
}

func drawAsset(t *rapid.T) value.Value {
	hash := rapid.SampledFrom([]string{"", "h"}).Draw(t, "hash")
	if rapid.Bool().Draw(t, "text") {
		return value.NewAsset(&value.Asset{Text: "t" + rapid.String().Draw(t, "s"), HasText: true, Hash: hash})
	}
	return value.NewAsset(&value.Asset{Path: "p" + rapid.StringMatching(`[a-z]*`).Draw(t, "p"), Hash: hash})
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &Resource{URN: urn.URN(rapid.String().Draw(t, "urn")), Type: "t", Inputs: drawMap(t, 3), Outputs: drawMap(t, 2)}
		text, err := AppendResource(nil, r, Sealed(secrets.B64{}))
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		back, err := DecodeResource(text, secrets.B64{})
		require.NoError(t, err)
		if !value.Equal(r.Inputs, back.Inputs) || !value.Equal(r.Outputs, back.Outputs) {
			t.Fatalf("decode(encode(x)) is not x:\n%s", text)
		}
		again, err := AppendResource(nil, back, Sealed(secrets.B64{}))
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		blind, err := DecodeResource(text, nil)
		require.NoError(t, err)
		again, err = AppendResource(nil, blind, Sealed(nil))
		require.NoError(t, err)
		require.Equal(t, string(text), string(again), "what is sealed passes through untouched")
	})
}

func FuzzDecodeCheckpoint(f *testing.F) {
	files, _ := filepath.Glob("testdata/checkpoint-*.json")
	for _, file := range files {
		data := testfile.Bytes(f, file)
		f.Add(data)
	}
	f.Add([]byte(everything))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCheckpoint(data, nil)
		if err != nil {
			var syntax *SyntaxError
			if errors.As(err, &syntax) && (syntax.Offset < 0 || syntax.Offset > len(data)) {
				t.Fatalf("offset %d is outside of the text", syntax.Offset)
			}
			return
		}
		if !json.Valid([]byte(strings.TrimPrefix(string(data), "\ufeff"))) {
			t.Fatalf("read what is not JSON")
		}
		text, err := EncodeCheckpoint(c, nil)
		if err != nil {
			return // a plain secret cannot be sealed without a manager
		}
		again, err := DecodeCheckpoint(text, nil)
		require.NoError(t, err)
		twice, err := EncodeCheckpoint(again, nil)
		require.NoError(t, err)
		require.Equal(t, string(text), string(twice))
	})
}

// The properties of dependencies may be in any order, and the last of several equal ones counts.
func TestPropertyDependenciesInAnyOrder(t *testing.T) {
	t.Parallel()
	const head = `{"urn":"u","custom":false,"type":"t","propertyDependencies":`
	for written, want := range map[string]string{
		`{"a":[],"b":["x","y"],"c":null}`:        `{"a":[],"b":["x","y"],"c":[]}`,
		`{"b":["x"],"c":["y"],"a":[],"c":["z"]}`: `{"a":[],"b":["x"],"c":["z"]}`,
		`{"a":["x"],"a":["y"]}`:                  `{"a":["y"]}`,
	} {
		r, err := DecodeResource([]byte(head+written+"}"), nil)
		require.NoError(t, err)
		got, err := AppendResource(nil, r, Sealed(nil))
		require.NoError(t, err)
		require.Equal(t, head+want+"}", string(got))
	}
	r, err := DecodeResource([]byte(head+`{"a":["x"]},"propertyDependencies":{}}`), nil)
	require.NoError(t, err)
	require.False(t, r.PropertyDependencies.Given())
}

func TestWhatIsEmptyIsLeftOut(t *testing.T) { // E1.20, E1.22, E1.23, E1.31, E1.35, E1.40
	t.Parallel()
	r := &Resource{URN: uA, Type: "t", Inputs: value.EmptyMap(), Outputs: value.EmptyMap(),
		PropertyDependencies: urn.NewDependencies(nil, nil),
		Dependencies:         []urn.URN{}, ReplacementTrigger: value.Null}
	got, err := AppendResource(nil, r, Sealed(nil))
	require.NoError(t, err)
	require.Equal(t, `{"urn":"`+string(uA)+`","custom":false,"type":"t"}`, string(got))
}

func TestWholeDeployment(t *testing.T) { // E6.1, E6.6: empty members except for metadata are left out
	t.Parallel()
	got, err := EncodeCheckpoint(&Checkpoint{Stack: "organization/p/dev", Snapshot: &Snapshot{}}, nil)
	require.NoError(t, err)
	require.Equal(t, `{"version":3,"checkpoint":{"stack":"organization/p/dev","latest":{`+
		`"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}}}`, string(got))
}

func TestVersionFollowsFeatures(t *testing.T) { // E6.8
	t.Parallel()
	for feature, change := range map[string]func(*Snapshot){
		"":                    func(*Snapshot) {},
		"taint":               func(s *Snapshot) { s.Resources[2].Taint = true },
		"replaceWith":         func(s *Snapshot) { s.Resources[3].ReplaceWith = []urn.URN{uA} }, // E4.82
		"refreshBeforeUpdate": func(s *Snapshot) { s.Resources[2].RefreshBeforeUpdate = true },
		"views":               func(s *Snapshot) { s.Resources[3].ViewOf = uA },
		"byteString":          func(s *Snapshot) { s.Resources[2].Inputs = value.EmptyMap().With("a", value.String("\xff")) },
	} {
		s := sound()
		change(s)
		got, err := EncodeCheckpoint(&Checkpoint{Snapshot: s}, nil)
		require.NoError(t, err)
		want := `{"version":3,"checkpoint":`
		if feature != "" {
			want = `{"version":4,"features":["` + feature + `"],"checkpoint":`
		}
		require.True(t, strings.HasPrefix(string(got), want), "%s: %.80s", feature, got)
	}
}
