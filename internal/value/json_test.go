package value_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

// TestJSON covers L6.18.
func TestJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		v    value.Value
		want string
	}{
		"null": {value.Null, `null`},
		"keys ascending": {value.Map(map[string]value.Value{"b": value.Int(1), "a": value.Bool(false)}),
			`{"a":false,"b":1}`},
		"null kept":          {value.Map(map[string]value.Value{"a": value.Null}), `{"a":null}`},
		"empty list":         {value.List(), `[]`},
		"empty map":          {value.EmptyMap(), `{}`},
		"HTML":               {value.String(`<a href="x">&`), `"\u003ca href=\"x\"\u003e\u0026"`},
		"control characters": {value.String("\x00\a\b\f\n\r\t"), `"\u0000\u0007\b\f\n\r\t"`},
		"line separators":    {value.String("a\u2028b\u2029c"), `"a\u2028b\u2029c"`},
		"other text":         {value.String("é\u2027\u202a😀\\/"), "\"é\u2027\u202a😀\\\\/\""},
		"2^20":               {value.Int(1 << 20), `1048576`},
		"21 digits":          {value.Number(1e20), `100000000000000000000`},
		"22 digits":          {value.Number(1e21), `1e+21`},
		"small":              {value.Number(1e-7), `1e-7`},
		"smaller":            {value.Number(1e-10), `1e-10`},
		"fraction":           {value.Number(1.5), `1.5`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := value.JSON(tc.v)
			require.NoError(t, err)
			text, _ := got.AsString()
			require.Equal(t, tc.want, text)
		})
	}
}

func TestJSONMarks(t *testing.T) {
	t.Parallel()
	a := value.String("x").DependingOn("urn:pulumi:s::p::t::a")
	got, err := value.JSON(value.List(a, value.Int(1).Secret()))
	require.NoError(t, err)
	require.True(t, value.Equal(value.String(`["x",1]`).Secret().DependingOn("urn:pulumi:s::p::t::a"), got), "%v", got)

	got, err = value.JSON(value.List(a.Secret(), value.Unknown(value.KindNumber)))
	require.NoError(t, err)
	require.True(t, value.Equal(value.Unknown(value.KindString).Secret().DependingOn("urn:pulumi:s::p::t::a"), got), "%v",
		got)
}

func TestJSONRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		v    value.Value
		want string
	}{
		"infinity": {value.Number(math.Inf(-1)), "JSON has no -Inf"},
		"NaN":      {value.List(value.Number(math.NaN())), "JSON has no NaN"},
		"asset":    {value.NewAsset(&value.Asset{Path: "x"}), "an asset has no JSON form"},
		"archive":  {value.List(value.NewArchive(&value.Archive{Path: "x"})), "an archive has no JSON form"},
		"resource": {value.Resource(&value.ResourceRef{}),
			"a resource has no JSON form; use one of its properties, such as .id"},
		"bytes": {value.String("\xff"), "a text that is not UTF-8 has no JSON form; use fn::toBase64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := value.JSON(tc.v)
			require.EqualError(t, err, tc.want)
		})
	}
	_, err := value.AppendJSON(nil, value.Unknown(value.KindAny))
	require.Error(t, err)
}

func TestFromJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want value.Value
	}{
		"white space":     {" \n\t[ 1 , true ]\r\n", value.List(value.Int(1), value.Bool(true))},
		"last key counts": {`{"a":1,"b":2,"a":3}`, value.Map(map[string]value.Value{"a": value.Int(3), "b": value.Int(2)})},
		"numbers": {`[-0.5e+1,1E2,0,9007199254740993]`, value.List(value.Number(-5), value.Int(100), value.Int(0),
			value.Number(9007199254740992))},
		"escapes":           {`"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, value.String("\"\\/\b\f\n\r\té😀")},
		"half a pair":       {`"\ud83dx\udc00"`, value.String("\uFFFDx\uFFFD")},
		"bytes are kept":    {"\"\xff\xfe\"", value.String("\xff\xfe")},
		"an underflow is 0": {`1e-400`, value.Number(0)},
		"empty":             {`{"":{}}`, value.Map(map[string]value.Value{"": value.EmptyMap()})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := value.FromJSON(tc.text)
			require.NoError(t, err)
			require.True(t, value.Equal(tc.want, got), "%v", got)
		})
	}
}

func TestFromJSONRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":           {"", "line 1, column 1: the text ends where a value is expected"},
		"word":              {"{\n  \"a\": nope}", "line 2, column 8: a value is expected here"},
		"rest":              {"1 2", "line 1, column 3: there is more text after the value"},
		"leading zero":      {"01", "line 1, column 2: there is more text after the value"},
		"bare point":        {"1.", "line 1, column 3: the text ends where a digit is expected"},
		"open string":       {`"a`, "line 1, column 1: the string that begins here has no end"},
		"control character": {"\"a\nb\"", "line 1, column 3: a string contains a control character"},
		"escape":            {`"\x"`, "line 1, column 2: this is not an escape sequence of a string"},
		"short escape":      {`"\u12"`, `line 1, column 2: this is not an escape sequence of a string`},
		"trailing comma":    {`[1,]`, "line 1, column 4: a value is expected here"},
		"key":               {`{a:1}`, "line 1, column 2: a key is expected here"},
		"colon":             {`{"a" 1}`, `line 1, column 6: ":" is expected here`},
		"too large":         {`[1e999]`, "line 1, column 2: the number is too large"},
		"too deep": {strings.Repeat("[", 20_000),
			"line 1, column 10002: lists and objects are nested more than 10000 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := value.FromJSON(tc.text)
			require.EqualError(t, err, tc.want)
		})
	}
}

// FuzzJSON compares with the standard library, which is the reference for valid JSON.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`null`, `{"a":[1,2.5,"x\u0000"],"b":{}}`, `"\ud83d\ude00<>&"`, `-0`, `[1e21,1e-7]`,
		`{"a":1,"a":2}`, `"\u2028"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.FromJSON(text)
		require.Equal(t, json.Valid([]byte(text)) && !strings.Contains(errorText(err), "too large"), err == nil, "%v", err)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		written, err := value.AppendJSON(nil, v)
		require.NoError(t, err)
		back, err := value.FromJSON(string(written))
		require.NoError(t, err)
		require.True(t, value.Equal(v, back), "%s", written)

		var standard any
		require.NoError(t, json.Unmarshal([]byte(text), &standard))
		want, err := json.Marshal(standard)
		require.NoError(t, err)
		require.Equal(t, string(want), string(written))
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
