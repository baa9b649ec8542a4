package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
)

func stdCall(t *testing.T, o Options, name, args string) (value.Value, error) {
	t.Helper()
	p, err := NewLoader(o).Load(t.Context(), provider.Package{Name: "std"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{})
	require.NoError(t, err)
	in, err := value.FromJSON(args)
	require.NoError(t, err, args)
	r, err := c.Invoke(t.Context(), provider.InvokeRequest{Token: "std:index:" + name, Args: in})
	require.Empty(t, r.Failures, "%s %s", name, args)
	if err != nil {
		return value.Null, err
	}
	return r.Result.Get("result"), nil
}

func TestStd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, want string }{
		{"abs", `{"input":-2.5}`, `2.5`}, {"ceil", `{"input":1.2}`, `2`}, {"floor", `{"input":-1.2}`, `-2`}, {"signum", `{"input":-7}`, `-1`},
		{"max", `{"input":[1,5,3]}`, `5`}, {"min", `{"input":[1,5,-3]}`, `-3`}, {"sum", `{"input":[1,2,3.5]}`, `6.5`},
		{"pow", `{"base":2,"exponent":10}`, `1024`}, {"log", `{"input":8,"base":2}`, `3`},
		{"range", `{"limit":3}`, `[0,1,2]`}, {"range", `{"limit":5,"start":1,"step":2}`, `[1,3]`}, {"range", `{"limit":-2}`, `[0,-1]`},
		{"alltrue", `{"input":[true,"true"]}`, `true`}, {"alltrue", `{"input":[]}`, `true`}, {"anytrue", `{"input":[]}`, `false`}, {"anytrue", `{"input":[false,"true"]}`, `true`},
		{"lower", `{"input":"ÄB"}`, `"äb"`}, {"upper", `{"input":"äb"}`, `"ÄB"`}, {"chomp", `{"input":"a\n\r\n"}`, `"a"`}, {"strrev", `{"input":"añb"}`, `"bña"`},
		{"trim", `{"input":"xxaxx","cutset":"x"}`, `"a"`}, {"trimprefix", `{"input":"aab","prefix":"a"}`, `"ab"`}, {"trimsuffix", `{"input":"abb","suffix":"b"}`, `"ab"`},
		{"trimspace", `{"input":" a "}`, `"a"`}, {"startswith", `{"input":"ab","prefix":"a"}`, `true`}, {"endswith", `{"input":"ab","suffix":"a"}`, `false`},
		{"split", `{"separator":",","text":"a,b"}`, `["a","b"]`}, {"join", `{"input":["a","b"],"separator":"-"}`, `"a-b"`},
		{"indent", `{"input":"a\nb","spaces":2}`, `"a\n  b"`}, {"substr", `{"input":"hällo","offset":1,"length":2}`, `"äl"`}, {"substr", `{"input":"hello","offset":-2,"length":-1}`, `"lo"`},
		{"urlencode", `{"input":"a b&c"}`, `"a+b%26c"`}, {"basename", `{"input":"/a/b.c"}`, `"b.c"`}, {"dirname", `{"input":"/a/b.c"}`, `"/a"`},
		{"base64encode", `{"input":"hi"}`, `"aGk="`}, {"base64decode", `{"input":"aGk="}`, `"hi"`},
		{"md5", `{"input":"a"}`, `"0cc175b9c0f1b6a831c399e269772661"`}, {"sha1", `{"input":"a"}`, `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`},
		{"sha256", `{"input":"a"}`, `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`},
		{"base64sha256", `{"input":"a"}`, `"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="`},
		{"csvdecode", `{"input":"a,b\n1,\"x,y\"\n"}`, `[{"a":"1","b":"x,y"}]`},
		{"distinct", `{"input":["a","b","a"]}`, `["a","b"]`}, {"toset", `{"input":["b","b"]}`, `["b"]`}, {"flatten", `{"input":[["a",["b"]],"c"]}`, `["a","b","c"]`},
		{"reverse", `{"input":[1,2]}`, `[2,1]`}, {"sort", `{"input":["b","a"]}`, `["a","b"]`}, {"compact", `{"input":["a","",null,"b"]}`, `["a","b"]`},
		{"concat", `{"input":[["a"],["b","c"]]}`, `["a","b","c"]`}, {"coalescelist", `{"input":[[],["b"]]}`, `["b"]`}, {"setintersection", `{"input":[["a","b"],["b","c"]]}`, `["b"]`},
		{"contains", `{"input":["a",1],"element":1}`, `true`}, {"element", `{"input":["a","b"],"index":3}`, `"b"`}, {"chunklist", `{"input":[1,2,3],"size":2}`, `[[1,2],[3]]`},
		{"slice", `{"list":[1,2,3],"from":1}`, `[2,3]`}, {"slice", `{"list":[1,2,3],"from":0,"to":1}`, `[1]`},
		{"keys", `{"input":{"b":1,"a":2}}`, `["a","b"]`}, {"values", `{"input":{"b":1,"a":2}}`, `[2,1]`}, {"lookup", `{"map":{"a":1},"key":"a"}`, `1`}, {"lookup", `{"map":{},"key":"a","default":"d"}`, `"d"`},
		{"merge", `{"input":[{"a":1},{"a":2,"b":3}]}`, `{"a":2,"b":3}`}, {"zipmap", `{"keys":["a"],"values":[1]}`, `{"a":1}`}, {"transpose", `{"input":{"a":["x","y"],"b":["x"]}}`, `{"x":["a","b"],"y":["a"]}`},
		{"length", `{"input":"hällo"}`, `5`}, {"length", `{"input":[1]}`, `1`}, {"jsonencode", `{"input":{"a":[1,null]}}`, `"{\"a\":[1,null]}"`}, {"jsondecode", `{"input":"[1]"}`, `[1]`},
		{"tobool", `{"input":"true"}`, `true`}, {"tonumber", `{"input":"1.5"}`, `1.5`},
		{"timestamp", `{}`, `"2026-01-02T03:04:05Z"`}, {"timeadd", `{"timestamp":"2026-01-01T00:00:00Z","duration":"90m"}`, `"2026-01-01T01:30:00Z"`},
		{"timecmp", `{"timestampa":"2026-01-01T00:00:00Z","timestampb":"2026-01-01T01:00:00+01:00"}`, `0`},
	} {
		got, err := stdCall(t, Options{Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}, c.name, c.args)
		require.NoError(t, err, "%s %s", c.name, c.args)
		text, err := value.AppendJSON(nil, got)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(text), "%s %s", c.name, c.args)
	}
}

func TestStdRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, why string }{
		{"base64decode", `{"input":"%"}`, "is not base64"}, {"max", `{"input":[]}`, "no maximum"}, {"log", `{"input":-1,"base":2}`, "no such number"},
		{"range", `{"limit":5,"step":0}`, "does not lead"}, {"range", `{"limit":1e12}`, "too many"}, {"substr", `{"input":"a","offset":0,"length":5}`, "has 1 characters"},
		{"element", `{"input":[],"index":0}`, "no such element"}, {"slice", `{"list":[1],"from":2}`, "none from 2"}, {"lookup", `{"map":{},"key":"a"}`, `no key "a"`},
		{"zipmap", `{"keys":["a"],"values":[]}`, "1 keys and 0 values"}, {"jsondecode", `{"input":"{"}`, "is not JSON"}, {"tonumber", `{"input":"0x1"}`, "is no number"},
		{"tobool", `{"input":"yes"}`, "are booleans"}, {"timeadd", `{"timestamp":"x","duration":"1h"}`, "no timestamp"}, {"file", `{"input":"/no/such"}`, "cannot be read"},
		{"format", `{"input":"%s","args":[]}`, "not built in"},
	} {
		_, err := stdCall(t, Options{}, c.name, c.args)
		require.ErrorContains(t, err, c.why, "%s %s", c.name, c.args)
	}
}

// Each function of the schema is either built in or refused with a way out, and nothing else is there.
func TestStdIsComplete(t *testing.T) {
	t.Parallel()
	text, ok := Schema("std")
	require.True(t, ok)
	parsed, err := value.FromJSON(string(text))
	require.NoError(t, err)
	k := stdKinds(Options{}.withDefaults())
	tokens := parsed.Get("functions").Keys()
	for _, token := range tokens {
		_, built := k.functions[token]
		_, refused := k.refused[token]
		require.NotEqual(t, built, refused, token)
	}
	require.Len(t, tokens, len(k.functions)+len(k.refused))
}

func TestStdFilesAndSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("a"), 0o600))
	o := Options{Dir: dir, Environ: []string{"HOME=/home/x"}}
	for name, want := range map[string]string{"file": "a", "filebase64": "YQ==", "filemd5": "0cc175b9c0f1b6a831c399e269772661", "abspath": filepath.Join(dir, "f")} {
		got, err := stdCall(t, o, name, `{"input":"f"}`)
		require.NoError(t, err)
		require.True(t, value.Equal(value.String(want), got), name)
	}
	got, err := stdCall(t, o, "fileexists", `{"input":"g"}`)
	require.NoError(t, err)
	require.True(t, value.Equal(value.Bool(false), got))
	got, err = stdCall(t, o, "pathexpand", `{"input":"~/a"}`)
	require.NoError(t, err)
	require.True(t, value.Equal(value.String("/home/x/a"), got))
	got, err = stdCall(t, o, "uuid", `{}`)
	require.NoError(t, err)
	id, _ := got.AsString()
	require.Len(t, strings.Split(id, "-"), 5)

	p, err := NewLoader(Options{}).Load(t.Context(), provider.Package{Name: "std"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{})
	require.NoError(t, err)
	r, err := c.Invoke(t.Context(), provider.InvokeRequest{Token: "std:index:upper", Args: value.MapOf(value.Entry{Key: "input", Value: value.String("x").Secret()})})
	require.NoError(t, err)
	require.True(t, r.Result.Get("result").IsSecret())
}
