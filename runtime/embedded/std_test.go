package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/runtime/provider"
)

func stdCall(t *testing.T, o Options, name, args string) (value.Value, error) {
	t.Helper()
	p, err := NewLoader(o).Load(t.Context(), provider.Package{Name: "std"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c, err := p.Configure(t.Context(), provider.ConfigureRequest{})
	require.NoError(t, err)
	v, err := value.FromJSON(args)
	require.NoError(t, err, args)
	r, err := c.Invoke(t.Context(), provider.InvokeRequest{Token: "std:index:" + name, Args: v})
	require.Empty(t, r.Failures, "%s %s", name, args)
	if err != nil {
		return value.Null, err
	}
	return r.Result.Get("result"), nil
}

func TestStd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, want string }{
		{"abs", `{"input":-2.5}`, `2.5`}, {"ceil", `{"input":1.2}`, `2`}, {"floor", `{"input":-1.2}`, `-2`},
		{"signum", `{"input":-7}`, `-1`},
		{"max", `{"input":[1,5,3]}`, `5`}, {"min", `{"input":[1,5,-3]}`, `-3`}, {"sum", `{"input":[1,2,3.5]}`, `6.5`},
		{"pow", `{"base":2,"exponent":10}`, `1024`}, {"log", `{"input":8,"base":2}`, `3`},
		{"range", `{"limit":3}`, `[0,1,2]`}, {"range", `{"limit":5,"start":1,"step":2}`, `[1,3]`},
		{"range", `{"limit":-2}`, `[0,-1]`}, {"range", `{"limit":0.8,"step":0.1}`,
			`[0,0.1,0.2,0.30000000000000004,0.4,0.5,0.6000000000000001,0.7000000000000001]`},
		{"alltrue", `{"input":[true,"true"]}`, `true`}, {"alltrue", `{"input":[]}`, `true`},
		{"anytrue", `{"input":[]}`, `false`}, {"anytrue", `{"input":[false,"true"]}`, `true`},
		{"lower", `{"input":"ÄB"}`, `"äb"`}, {"upper", `{"input":"äb"}`, `"ÄB"`}, {"chomp", `{"input":"a\n\r\n"}`, `"a"`},
		{"strrev", `{"input":"añb"}`, `"bña"`},
		{"trim", `{"input":"xxaxx","cutset":"x"}`, `"a"`}, {"trimprefix", `{"input":"aab","prefix":"a"}`, `"ab"`},
		{"trimsuffix", `{"input":"abb","suffix":"b"}`, `"ab"`},
		{"trimspace", `{"input":" a "}`, `"a"`}, {"startswith", `{"input":"ab","prefix":"a"}`, `true`},
		{"endswith", `{"input":"ab","suffix":"a"}`, `false`},
		{"split", `{"separator":",","text":"a,b"}`, `["a","b"]`}, {"join", `{"input":["a","b"],"separator":"-"}`, `"a-b"`},
		{"indent", `{"input":"a\nb","spaces":2}`, `"a\n  b"`}, {"substr", `{"input":"hällo","offset":1,"length":2}`, `"äl"`},
		{"substr", `{"input":"hello","offset":-2,"length":-1}`, `"lo"`},
		{"urlencode", `{"input":"a b&c"}`, `"a+b%26c"`}, {"basename", `{"input":"/a/b.c"}`, `"b.c"`},
		{"dirname", `{"input":"/a/b.c"}`, `"/a"`},
		{"base64encode", `{"input":"hi"}`, `"aGk="`}, {"base64decode", `{"input":"aGk="}`, `"hi"`},
		{"md5", `{"input":"a"}`, `"0cc175b9c0f1b6a831c399e269772661"`},
		{"sha1", `{"input":"a"}`, `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`},
		{"sha256", `{"input":"a"}`, `"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`},
		{"base64sha256", `{"input":"a"}`, `"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="`},
		{"csvdecode", `{"input":"a,b\n1,\"x,y\"\n"}`, `[{"a":"1","b":"x,y"}]`},
		{"distinct", `{"input":["a","b","a"]}`, `["a","b"]`}, {"toset", `{"input":["b","b"]}`, `["b"]`},
		{"flatten", `{"input":[["a",["b"]],"c"]}`, `["a","b","c"]`},
		{"reverse", `{"input":[1,2]}`, `[2,1]`}, {"sort", `{"input":["b","a"]}`, `["a","b"]`},
		{"compact", `{"input":["a","",null,"b"]}`, `["a","b"]`},
		{"concat", `{"input":[["a"],["b","c"]]}`, `["a","b","c"]`}, {"coalescelist", `{"input":[[],["b"]]}`, `["b"]`},
		{"setintersection", `{"input":[["a","b"],["b","c"]]}`, `["b"]`},
		{"contains", `{"input":["a",1],"element":1}`, `true`}, {"element", `{"input":["a","b"],"index":3}`, `"b"`},
		{"chunklist", `{"input":[1,2,3],"size":2}`, `[[1,2],[3]]`},
		{"slice", `{"list":[1,2,3],"from":1}`, `[2,3]`}, {"slice", `{"list":[1,2,3],"from":0,"to":1}`, `[1]`},
		{"keys", `{"input":{"b":1,"a":2}}`, `["a","b"]`}, {"values", `{"input":{"b":1,"a":2}}`, `[2,1]`},
		{"lookup", `{"map":{"a":1},"key":"a"}`, `1`}, {"lookup", `{"map":{},"key":"a","default":"d"}`, `"d"`},
		{"merge", `{"input":[{"a":1},{"a":2,"b":3}]}`, `{"a":2,"b":3}`}, {"zipmap", `{"keys":["a"],"values":[1]}`, `{"a":1}`},
		{"transpose", `{"input":{"a":["x","y"],"b":["x"]}}`, `{"x":["a","b"],"y":["a"]}`},
		{"length", `{"input":"hällo"}`, `5`}, {"length", `{"input":[1]}`, `1`}, {"jsonencode", `{"input":{"a":[1,null]}}`,
			`"{\"a\":[1,null]}"`}, {"jsondecode", `{"input":"[1]"}`, `[1]`},
		{"tobool", `{"input":"true"}`, `true`}, {"tonumber", `{"input":"1.5"}`, `1.5`},
		{"format", `{"input":"%s-%03d %5.1f%% %v %q %t","args":["a",7,99.44,1.5,"x",true]}`, `"a-007  99.4% 1.5 \"x\" true"`},
		{"format", `{"input":"%x %X %x %o %b %c %e","args":[255,255,"hi",8,5,65,1500]}`,
			`"ff FF 6869 10 101 A 1.500000e+03"`},
		{"format", `{"input":"%[2]s %[1]s %s","args":["a","b"]}`, `"b a b"`},
		{"format", `{"input":"%s %v","args":[[1,"a"],null]}`, `"[1,\"a\"] null"`},
		{"format", `{"input":"%-4s|%+d|% d","args":["a",1,2]}`, `"a   |+1| 2"`},
		{"format", `{"input":"100%% of %d","args":["12"]}`, `"100% of 12"`},
		{"formatlist", `{"input":"%s=%d","args":[["a","b"],1]}`, `["a=1","b=1"]`}, {"formatlist", `{"input":"x","args":[]}`,
			`["x"]`}, {"formatlist", `{"input":"%s","args":[[]]}`, `[]`},
		{"regex", `{"pattern":"b+","string":"abbb"}`, `"bbb"`}, {"regex", `{"pattern":"(a)(x)?","string":"ab"}`, `["a",""]`},
		{"regex", `{"pattern":"(?P<n>[0-9]+)","string":"a12"}`, `{"n":"12"}`},
		{"regexall", `{"pattern":"[a-z]","string":"a1b"}`, `["a","b"]`}, {"regexall", `{"pattern":"x","string":"a"}`, `[]`},
		{"replace", `{"text":"a.b.c","search":".","replace":"-"}`, `"a-b-c"`},
		{"replace", `{"text":"a1b2","search":"/([a-z])([0-9])/","replace":"$2$1"}`, `"1a2b"`},
		{"replace", `{"text":"a/b","search":"/","replace":":"}`, `"a:b"`},
		{"index", `{"input":["a",1],"element":1}`, `1`}, {"coalesce", `{"input":[null,"","b"]}`, `"b"`},
		{"coalesce", `{"input":[null,0,1]}`, `0`}, {"coalesce", `{"input":["",7]}`, `"7"`},
		{"map", `{"args":["a",1,"b",[2]]}`, `{"a":1,"b":[2]}`}, {"parseint", `{"input":"-42"}`, `-42`},
		{"parseint", `{"input":"ff","base":16}`, `255`}, {"parseint", `{"input":"Z","base":62}`, `61`},
		{"title", `{"input":"hello wörld, it_is 3d über-äll"}`, `"Hello Wörld, It_is 3d Über-Äll"`},
		{"tostring", `{"input":1.5}`, `"1.5"`}, {"tostring", `{"input":true}`, `"true"`},
		{"tostring", `{"input":null}`, `null`},
		{"cidrhost", `{"input":"10.0.0.0/8","host":2}`, `"10.0.0.2"`}, {"cidrhost", `{"input":"10.0.0.0/8","host":-2}`,
			`"10.255.255.254"`}, {"cidrhost", `{"input":"fd00:fd12:3456:7890::/72","host":34}`, `"fd00:fd12:3456:7890::22"`},
		{"cidrnetmask", `{"input":"172.16.0.0/12"}`, `"255.240.0.0"`}, {"cidrnetmask", `{"input":"0.0.0.0/0"}`, `"0.0.0.0"`},
		{"cidrsubnet", `{"input":"10.0.0.0/8","newbits":8,"netnum":2}`, `"10.2.0.0/16"`},
		{"cidrsubnet", `{"input":"2607:f298:6051:516c::/64","newbits":8,"netnum":2}`, `"2607:f298:6051:516c:200::/72"`},
		{"cidrsubnets", `{"input":"10.1.0.0/16","newbits":[4,4,8,4]}`,
			`["10.1.0.0/20","10.1.16.0/20","10.1.32.0/24","10.1.48.0/20"]`},
		{"cidrsubnets", `{"input":"fd00:fd12:3456:7890::/56","newbits":[16,16,16,32]}`,
			`["fd00:fd12:3456:7800::/72","fd00:fd12:3456:7800:100::/72","fd00:fd12:3456:7800:200::/72","fd00:fd12:3456:7800:300::/88"]`},
		{"timestamp", `{}`, `"2026-01-02T03:04:05Z"`}, {"timeadd", `{"timestamp":"2026-01-01T00:00:00Z","duration":"90m"}`,
			`"2026-01-01T01:30:00Z"`},
		{"timecmp", `{"timestampa":"2026-01-01T00:00:00Z","timestampb":"2026-01-01T01:00:00+01:00"}`, `0`},
	} {
		got, err := stdCall(t, Options{Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}, c.name,
			c.args)
		require.NoError(t, err, "%s %s", c.name, c.args)
		text, err := value.AppendJSON(nil, got)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(text), "%s %s", c.name, c.args)
	}
}

func TestStdRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, why string }{
		{"base64decode", `{"input":"%"}`, "is not base64"}, {"max", `{"input":[]}`, "no maximum"},
		{"log", `{"input":-1,"base":2}`, "no such number"},
		{"range", `{"limit":5,"step":0}`, "the step never reaches the limit"}, {"range", `{"limit":1e12}`, "too many"},
		{"substr", `{"input":"a","offset":0,"length":5}`, "whose length is 1"},
		{"element", `{"input":[],"index":0}`, "no such element"}, {"slice", `{"list":[1],"from":2}`, "none from 2"},
		{"lookup", `{"map":{},"key":"a"}`, `no key "a"`},
		{"zipmap", `{"keys":["a"],"values":[]}`, "equally many, but are 1 and 0"}, {"jsondecode", `{"input":"{"}`, "is not JSON"},
		{"tonumber", `{"input":"0x1"}`, "is not a number"},
		{"tobool", `{"input":"yes"}`, "are booleans"}, {"timeadd", `{"timestamp":"x","duration":"1h"}`, "not a timestamp"},
		{"file", `{"input":"/no/such"}`, "cannot be read"},
		{"matchkeys", `{"values":[],"searchList":[]}`, "its inputs lack the keys"},
		{"format", `{"input":"%s","args":[]}`, `no argument 1 for "%s"`},
		{"format", `{"input":"a","args":[1]}`, "no place for argument 1"},
		{"format", `{"input":"%d","args":[1.5]}`, `argument 1 for "%d" is not a whole number`},
		{"format", `{"input":"%f","args":["x"]}`, "is not a number"},
		{"format", `{"input":"%t","args":["x"]}`, "is not a boolean"}, {"format", `{"input":"%z","args":["x"]}`, "no " +
			"such verb"},
		{"format", `{"input":"%","args":["x"]}`, "no such verb"}, {"format", `{"input":"%999999999d","args":[1]}`,
			"wider than"},
		{"format", `{"input":"%.99999s","args":[1]}`, "wider than"}, {"format", `{"input":"%[0]s","args":["x"]}`,
			"no argument 0"},
		{"formatlist", `{"input":"%s","args":[["a"],["b","c"]]}`, "equally long"}, {"regex", `{"pattern":"(","string":""}`,
			"not a regular expression"},
		{"regex", `{"pattern":"b","string":"a"}`, "matches nowhere"}, {"regexall", `{"pattern":"(?P<a>x)(y)","string":""}`,
			"with names and groups without"},
		{"replace", `{"text":"a","search":"/(/","replace":""}`, "not a regular expression"},
		{"index", `{"input":["a"],"element":"b"}`, "no such element"},
		{"coalesce", `{"input":[null,""]}`, "all values are empty"},
		{"coalesce", `{"input":[1,[2]]}`, "of one kind, not a number and a list"},
		{"coalesce", `{"input":[[1],"a"]}`, "with a string among them"}, {"map", `{"args":["a"]}`, "args must alternate " +
			"keys and values"},
		{"map", `{"args":[1,2]}`, "must be strings"},
		{"parseint", `{"input":"12x"}`, "not a whole number in base 10"},
		{"parseint", `{"input":"1","base":63}`, "from 2 to 62"},
		{"parseint", `{"input":"zzzzzzzzzzzzzzzz","base":36}`, "too large"},
		{"tostring", `{"input":[]}`, "only a string, a number or a boolean can become a string"},
		{"cidrhost", `{"input":"10.0.0.0","host":1}`, "must be a network"}, {"cidrhost", `{"input":"10.0.0.0/30","host":4}`,
			"has 4 addresses"},
		{"cidrhost", `{"input":"10.0.0.0/30","host":-5}`, "none with the number -5"},
		{"cidrnetmask", `{"input":"fd00::/8"}`, "only networks of IPv4"},
		{"cidrsubnet", `{"input":"10.0.0.0/8","newbits":25,"netnum":0}`, "cannot be longer by 25"},
		{"cidrsubnet", `{"input":"10.0.0.0/8","newbits":1,"netnum":2}`, "the number 2 does not fit into a prefix that is longer by 1"},
		{"cidrsubnet", `{"input":"10.0.0.0/8","newbits":1,"netnum":-1}`, "the number -1 does not fit"},
		{"cidrsubnets", `{"input":"10.0.0.0/30","newbits":[1,1,1]}`, "newbits[2]: the rest of"},
		{"cidrsubnets", `{"input":"10.0.0.0/30","newbits":[3]}`, "by 1 to 2, not by 3"},
		{"cidrsubnets", `{"input":"10.0.0.0/30","newbits":[0]}`, "not by 0"},
		{"rsadecrypt", `{"cipherText":"%","key":""}`, "not base64"}, {"rsadecrypt", `{"cipherText":"","key":"x"}`,
			"not a private key"},
	} {
		_, err := stdCall(t, Options{}, c.name, c.args)
		require.ErrorContains(t, err, c.why, "%s %s", c.name, c.args)
	}
}

// Each function of the schema is either implemented or refused with advice, and there are no others.
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
	for name, want := range map[string]string{"file": "a", "filebase64": "YQ==",
		"filemd5": "0cc175b9c0f1b6a831c399e269772661", "abspath": filepath.Join(dir, "f")} {
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
	r, err := c.Invoke(t.Context(), provider.InvokeRequest{Token: "std:index:upper",
		Args: value.MapOf(value.Entry{Key: "input", Value: value.String("x").Secret()})})
	require.NoError(t, err)
	require.True(t, r.Result.Get("result").IsSecret())
}

// TestStdDecrypts decrypts a text that openssl encrypted.
func TestStdDecrypts(t *testing.T) {
	t.Parallel()
	args := value.MapOf(value.Entry{Key: "cipherText", Value: value.String(sample("rsa.sealed"))},
		value.Entry{Key: "key", Value: value.String(sample("rsa.pem"))})
	text, err := value.AppendJSON(nil, args)
	require.NoError(t, err)
	got, err := stdCall(t, Options{}, "rsadecrypt", string(text))
	require.NoError(t, err)
	require.True(t, value.Equal(value.String("geheim"), got))
	for key, why := range map[string]string{"p256.pem": "not an RSA key", "locked.pem": "encrypted"} {
		text, err := value.AppendJSON(nil, args.With("key", value.String(sample(key))))
		require.NoError(t, err)
		_, err = stdCall(t, Options{}, "rsadecrypt", string(text))
		require.ErrorContains(t, err, why)
	}
}

func FuzzStdTexts(f *testing.F) {
	for _, text := range []string{"%s-%03d", "%[2]s %-4v%%", "10.0.0.0/8", "fd00::/8", "/(a)/", "zz", "a,b\n1,2"} {
		f.Add(text, "a", 7.5)
	}
	k := stdKinds(Options{}.withDefaults())
	f.Fuzz(func(t *testing.T, text, other string, number float64) {
		v := func(pairs ...any) value.Value { return obj(pairs...) }
		list := value.List(value.String(other), value.Number(number), value.Null)
		for name, args := range map[string]value.Value{
			"format": v("input", text, "args", list), "formatlist": v("input", text, "args", value.List(list, list)),
			"replace": v("text", other, "search", text, "replace", other), "regexall": v("pattern", text, "string", other),
			"cidrhost": v("input", text, "host", value.Number(number)), "cidrsubnets": v("input", text, "newbits",
				value.List(value.Number(number))),
			"cidrsubnet": v("input", text, "newbits", value.Number(number), "netnum", 1),
			"parseint":   v("input", text, "base", value.Number(number)),
			"csvdecode":  v("input", text), "jsondecode": v("input", text), "timeadd": v("timestamp", text, "duration", other),
			"title": v("input", text),
		} {
			_, _ = k.functions["std:index:"+name](t.Context(), args)
		}
	})
}
