package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/secrets"
)

// F1.10: values that could not be decoded are not encoded, including those inside sealed secrets.
func TestWhatIsEncodedCanBeDecoded(t *testing.T) {
	t.Parallel()
	nested := func(n int) value.Value {
		v := value.Int(1)
		for i := range n {
			if v = value.List(v); i%2 == 0 {
				v = value.MapOf(value.Entry{Key: "k", Value: v.Public()})
			}
		}
		return v
	}
	reserved := value.MapOf(value.Entry{Key: value.SignatureKey, Value: value.String("nonsense")})
	open := func(SecretsProvider) (secrets.Manager, error) { return secrets.B64{}, nil }
	_, err := AppendResource(nil, &Resource{URN: "urn:pulumi:dev::p::t:m:R::n", ID: "\xff"}, Sealed(nil))
	require.ErrorContains(t, err, "not UTF-8", "an ID that is changed on its way is another object's")
	for name, c := range map[string]struct {
		v    value.Value
		says string
	}{
		"reserved":                 {reserved, "unrecognized signature"},
		"reserved within a secret": {value.List(reserved).Secret(), "unrecognized signature"},
		"a secret within a secret": {value.List(reserved.Secret()).Secret(), "unrecognized signature"},
		"deep":                     {nested(value.MaxDepth * 2 / 3), ""},
		"deep within a secret":     {value.List(nested(value.MaxDepth*2/3 - 1).Secret()), ""},
		"too deep":                 {nested(value.MaxDepth), "nested more than"},
		"too deep within a secret": {nested(value.MaxDepth).Secret(), "nested more than"},
		"an archive with an asset": {value.NewArchive(&value.Archive{Assets: value.MapOf(value.Entry{Key: "a",
			Value: value.NewAsset(&value.Asset{Text: "x", HasText: true})})}), ""},
	} {
		s := &Snapshot{SecretsProvider: &SecretsProvider{Type: "b64"},
			Resources: []*Resource{{URN: "urn:pulumi:dev::p::t:m:R::n", Type: "t:m:R",
				Inputs: value.EmptyMap(), Outputs: value.MapOf(value.Entry{Key: "x", Value: c.v})}}}
		text, err := EncodeCheckpoint(&Checkpoint{Snapshot: s}, secrets.B64{})
		if c.says != "" {
			require.ErrorContains(t, err, c.says, name)
			require.ErrorContains(t, err, "urn:pulumi:dev::p::t:m:R::n", name)
			require.NotContains(t, err.Error(), "nonsense", name)
			require.Error(t, value.Storable(c.v), name)
			continue
		}
		require.NoError(t, err, name)
		require.NoError(t, value.Storable(c.v), name)
		require.NoError(t, Readable(text), name)
		got, err := DecodeCheckpoint(text, open)
		require.NoError(t, err, name)
		require.True(t, value.Equal(s.Resources[0].Outputs, got.Snapshot.Resources[0].Outputs), name)
	}
}

// The signature of a special value may follow its other members, as other programs write it.
func TestReadableWithTheSignatureLast(t *testing.T) {
	t.Parallel()
	resource := func(special string) []byte {
		return []byte(`{"urn":"urn:pulumi:dev::p::t:m:R::n","type":"t:m:R","inputs":{"x":` + special + `}}`)
	}
	asset := `{"text":"t","` + signatureKey + `":"` + assetSignature + `"}`
	for text, sound := range map[string]bool{
		`{"ciphertext":"c","` + signatureKey + `":"` + secretSignature + `"}`:                                true,
		`{"assets":{"a":` + asset + `},"` + signatureKey + `":"` + archiveSignature + `"}`:                   true,
		`{"assets":{"a":[1,"x"]},"` + signatureKey + `":"` + archiveSignature + `"}`:                         false,
		`{"y":["x",true,{"z":1}],"value":"no base64!","` + signatureKey + `":"` + byteStringSignature + `"}`: false,
	} {
		_, err := DecodeResource(resource(text), nil)
		require.Equal(t, err, ReadableResource(resource(text)), text)
		require.Equal(t, sound, err == nil, text)
	}
}
