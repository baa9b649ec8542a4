package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

// Outputs become the values of the inputs with the same name and text, and are what they are without any inputs.
func TestOutputsShareInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ inputs, outputs string }{
		{`{"a":12,"b":"x","c":{"d":[1,2]}}`, `{"a":12,"b":"x","c":{"d":[1,2]},"e":true}`},
		{`{"a":1,"b":1e2,"c":-1,"d":"1"}`, `{"a":12,"b":1e23,"c":-1.5,"d":"1\""}`}, // the beginning of another text
		{`{"b":1,"a":2,"c":3}`, `{"c":3,"b":1,"a":2}`},                             // in no order
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`{"a" : {"b": 1} , "c":null}`, `{ "a":{"b": 1},"c" : null }`},
		{`{"a":true}`, `{}`},
		{`{}`, `{"a":true}`},
		{`{"a":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"}`, `{"a":"04da6b54-80e4-46f7-96ec-b56ff0331ba9"}`}, // unknown
		{`{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"1"}}`,
			`{"a":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"1"}}`},
	} {
		name := `{"urn":"urn:pulumi:s::p::t:m:T::n",`
		r, err := DecodeResource([]byte(name+`"inputs":`+c.inputs+`,"outputs":`+c.outputs+`}`), nil)
		require.NoError(t, err, c.outputs)
		alone, err := DecodeResource([]byte(name+`"outputs":`+c.outputs+`}`), nil)
		require.NoError(t, err, c.outputs)
		require.True(t, value.Identical(r.Outputs, alone.Outputs), c.outputs)
	}
}

// Decoding allocates no values for outputs that have the text of the inputs.
func TestSharedOutputsCostNothing(t *testing.T) {
	cost := func(outputs string) float64 {
		text := []byte(`{"urn":"urn:pulumi:s::p::t:m:T::n","inputs":{"a":["x","y","z","w"]},"outputs":{"a":` + outputs + `}}`)
		return testing.AllocsPerRun(100, func() { _, _ = DecodeResource(text, nil) })
	}
	require.Less(t, cost(`["x","y","z","w"]`), cost(`["x","y","z","v"]`))
}
