package builtins_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
)

// world is an Env with two files and one other stack.
type world struct{}

func (world) ReadFile(path string) ([]byte, error) {
	switch path {
	case "hello.txt":
		return []byte("hello"), nil
	case "binary":
		return []byte{0xff, 0xfe}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: "/home/someone/" + path, Err: fs.ErrNotExist}
}

func (world) StackOutput(_ context.Context, stack, output string) (value.Value, error) {
	if stack == "org/net/dev" && output == "id" {
		return value.String("vpc-1").Secret(), nil
	}
	return value.Null, nil
}

func (world) Env(name string) (value.Value, bool, error) {
	if name == "FORBIDDEN" {
		return value.Null, false, errors.New("the program may not read FORBIDDEN")
	}
	return value.String("/home/me").Secret(), name == "HOME", nil
}

func (world) LosesDigits() {}

func (world) ParseYAML(text string) (value.Value, error) { return value.FromJSON(text) }

func (world) Bundle(_ context.Context, r builtins.BundleRequest) (map[string]string, error) {
	if r.Entry == "missing.ts" {
		return nil, errors.New("missing.ts: there is no such file")
	}
	return map[string]string{"index.js": r.Entry}, nil
}

var errFailed = errors.New("a resource failed")
var errOver = errors.New("over")

func (world) Recoverable(err error) (fault, failure bool) {
	return !errors.Is(err, errFailed) && !errors.Is(err, errOver), errors.Is(err, errFailed)
}

func apply(name string, args ...value.Value) (value.Value, error) {
	f, ok := builtins.Lookup(name)
	if !ok {
		panic("no function " + name)
	}
	return builtins.Apply(context.Background(), world{}, f, args)
}

func s(text string) value.Value             { return value.String(text) }
func n(f float64) value.Value               { return value.Number(f) }
func list(items ...value.Value) value.Value { return value.List(items...) }
func strs(texts ...string) value.Value {
	items := make([]value.Value, len(texts))
	for i, text := range texts {
		items[i] = s(text)
	}
	return list(items...)
}
func m(pairs ...any) value.Value {
	entries := make([]value.Entry, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, value.Entry{Key: pairs[i].(string), Value: pairs[i+1].(value.Value)})
	}
	return value.MapOf(entries...)
}

var (
	yes, no = value.Bool(true), value.Bool(false)
	unknown = value.Unknown(value.KindString)
	pet     = value.Resource(&value.ResourceRef{URN: "urn:pulumi:dev::proj::my:mod:Comp$random:index:Pet::rex",
		ID: s("x")})
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	type args = []value.Value
	for name, tc := range map[string]struct {
		f    string
		args args
		want value.Value
	}{
		"L6.10 join":                        {"join", args{s("-"), strs("a", "b")}, s("a-b")},
		"L6.10 join with null":              {"join", args{value.Null, strs("a", "b")}, s("ab")},
		"L6.10 join of nothing":             {"join", args{s("-"), list()}, s("")},
		"L6.10 join of numbers":             {"join", args{s("-"), list(s("a"), n(1048576), yes)}, s("a-1048576-true")},
		"L6.12 split":                       {"split", args{s(","), s("a,b,,c")}, strs("a", "b", "", "c")},
		"L6.12 split by nothing":            {"split", args{s(""), s("aé")}, strs("a", "é")},
		"L6.12 split of nothing":            {"split", args{s(","), s("")}, strs("")},
		"L6.12 split of nothing by nothing": {"split", args{s(""), s("")}, strs("")},
		"L6.14 select":                      {"select", args{n(1), strs("a", "b")}, s("b")},
		"L6.16 length of list":              {"length", args{list(value.Null, value.Null)}, n(2)},
		"L6.16 length of map":               {"length", args{m("a", n(1))}, n(1)},
		"L6.16 length in grapheme clusters": {"length", args{s("e\u0301\U0001F468\u200D\U0001F469\u200D\U0001F467")}, n(2)},
		"L6.16 length of empty text":        {"length", args{s("")}, n(0)},
		"L6.17 singleOrNone of none":        {"singleOrNone", args{list()}, value.Null},
		"L6.17 singleOrNone of one":         {"singleOrNone", args{list(n(1))}, n(1)},
		"L6.18 toJSON": {"toJSON", args{m("b", list(value.Null), "a", s("<&>"))},
			s(`{"a":"\u003c\u0026\u003e","b":[null]}`)},
		"L6.20 toBase64":   {"toBase64", args{s("hello?>")}, s("aGVsbG8/Pg==")},
		"L6.20 fromBase64": {"fromBase64", args{s("aGVsbG8/Pg==")}, s("hello?>")},
		"L6.21 sha1":       {"sha1", args{s("hello")}, s("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")},
		"L6.22 readFile":   {"readFile", args{s("hello.txt")}, s("hello")},
		"L6.24 filebase64": {"filebase64", args{s("binary")}, s("//4=")},
		"L6.24 filebase64sha256": {"filebase64sha256", args{s("hello.txt")},
			s("LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=")},
		"L6.25 secret":                    {"secret", args{n(1)}, n(1).Secret()},
		"L6.25 secret of unknown":         {"secret", args{unknown}, unknown.Secret()},
		"L6.26 unsecret is deep":          {"unsecret", args{m("a", s("x").Secret()).Secret()}, m("a", s("x"))},
		"L6.26 unsecret of public":        {"unsecret", args{s("x")}, s("x")},
		"L6.28 pulumiResourceName":        {"pulumiResourceName", args{pet}, s("rex")},
		"L6.28 pulumiResourceType":        {"pulumiResourceType", args{pet}, s("random:index:Pet")},
		"L6.30 stackReference":            {"stackReference", args{s("org/net/dev"), s("id")}, s("vpc-1").Secret()},
		"L6.30 stackReference, no output": {"stackReference", args{s("org/net/dev"), s("nope")}, value.Null},
		"L6.50 stringAsset":               {"stringAsset", args{s("")}, value.NewAsset(&value.Asset{HasText: true})},
		"L6.51 fileAsset":                 {"fileAsset", args{s("a/b")}, value.NewAsset(&value.Asset{Path: "a/b"})},
		"L6.52 remoteAsset": {"remoteAsset", args{s("https://x/y")},
			value.NewAsset(&value.Asset{URI: "https://x/y"})},
		"L6.52 fileArchive": {"fileArchive", args{s("a")}, value.NewArchive(&value.Archive{Path: "a"})},
		"L6.52 remoteArchive": {"remoteArchive", args{s("file://a.zip")},
			value.NewArchive(&value.Archive{URI: "file://a.zip"})},
		"L6.53 assetArchive": {"assetArchive", args{m("a/b", value.NewAsset(&value.Asset{Path: "p"}))},
			value.NewArchive(&value.Archive{Assets: m("a/b", value.NewAsset(&value.Asset{Path: "p"}))})},
		"L10.C1 if true":  {"if", args{yes, n(1), n(2)}, n(1)},
		"L10.C1 if false": {"if", args{no, n(1), n(2)}, n(2)},
		"L10.C1 if unknown": {"if", args{value.Unknown(value.KindBool), n(1), n(2)},
			value.Unknown(value.KindAny)},
		"L10.C1 if secret":                    {"if", args{yes.Secret(), n(1), n(2)}, n(1).Secret()},
		"L10.C1 coalesce":                     {"coalesce", args{value.Null, n(0), n(1)}, n(0)},
		"L10.C1 coalesce of a list":           {"coalesce", args{list(value.Null, s("x"))}, s("x")},
		"L10.C1 coalesce of nulls":            {"coalesce", args{value.Null, value.Null}, value.Null},
		"L10.C1 coalesce stops at unknown":    {"coalesce", args{value.Null, unknown, n(1)}, unknown},
		"L10.C1 coalesce passes secrets over": {"coalesce", args{value.Null.Secret(), n(1)}, n(1).Secret()},
		"L10.C4 fromJSON":                     {"fromJSON", args{s(`{"a":[1,null]}`)}, m("a", list(n(1), value.Null))},
		"L10.C5 try":                          {"try", args{value.Null, n(1)}, value.Null},
		"L10.C5 can":                          {"can", args{n(1).Secret()}, yes.Secret()},
		"L10.C5 can of unknown":               {"can", args{unknown}, value.Unknown(value.KindBool)},
		"L10.C5 recover":                      {"recover", args{n(1), n(2)}, n(1)},
		"L10.C6 entries": {"entries", args{m("b", n(2), "a", n(1))},
			list(m("key", s("a"), "value", n(1)), m("key", s("b"), "value", n(2)))},
		"L10.C6 entries keep unknown parts": {"entries", args{m("b", unknown)}, list(m("key", s("b"), "value", unknown))},
		"L10.C6 keys":                       {"keys", args{m("b", unknown, "a", n(1))}, strs("a", "b")},
		"L10.C6 values":                     {"values", args{m("b", unknown, "a", n(1))}, list(n(1), unknown)},
		"L10.C6 lookup":                     {"lookup", args{m("a", n(1)), s("a")}, n(1)},
		"L10.C6 lookup with default":        {"lookup", args{m("a", n(1)), s("b"), n(2)}, n(2)},
		"L10.C6 lookup of null is found":    {"lookup", args{m("a", value.Null), s("a"), n(2)}, value.Null},
		"L10.C6 lookup beside unknown":      {"lookup", args{m("a", n(1), "b", unknown), s("a")}, n(1)},
		"L10.C6 merge": {"merge", args{list(m("a", n(1), "b", n(1)), m("b", n(2)))},
			m("a", n(1), "b", n(2))},
		"L10.C6 merge of arguments": {"merge", args{m("a", n(1)), m("b", unknown), value.EmptyMap()},
			m("a", n(1), "b", unknown)},
		"L10.C6 merge with unknown": {"merge", args{list(m("a", n(1)), value.Unknown(value.KindMap))},
			value.Unknown(value.KindMap)},
		"L10.C6 concat": {"concat", args{list(list(n(1)), list(), list(n(2), unknown))},
			list(n(1), n(2), unknown)},
		"L10.C6 concat of arguments": {"concat", args{list(n(1)), list(n(2))}, list(n(1), n(2))},
		"L10.C6 flatten": {"flatten", args{list(list(n(1), list(n(2))), n(3), m("a", list()))},
			list(n(1), n(2), n(3), m("a", list()))},
		"L10.C6 flatten with unknown text": {"flatten", args{list(unknown, list(n(2)))}, list(unknown, n(2))},
		"L10.C6 flatten with unknown list": {"flatten", args{list(value.Unknown(value.KindAny), n(2))},
			value.Unknown(value.KindList)},
		"L10.C6 distinct": {"distinct", args{list(n(1), s("1"), n(1), list(n(1)), list(n(1)), value.Null,
			s(""), value.Null)}, list(n(1), s("1"), list(n(1)), value.Null, s(""))},
		"L10.C6 sort texts":       {"sort", args{strs("b", "B", "a")}, strs("B", "a", "b")},
		"L10.C6 sort numbers":     {"sort", args{list(n(10), n(9), n(-1))}, list(n(-1), n(9), n(10))},
		"L10.C6 sort nothing":     {"sort", args{list()}, list()},
		"L10.C6 range":            {"range", args{n(3)}, list(n(0), n(1), n(2))},
		"L10.C6 range 0":          {"range", args{n(0)}, list()},
		"L10.C6 contains item":    {"contains", args{list(n(1), m("a", n(1))), m("a", n(1))}, yes},
		"L10.C6 contains key":     {"contains", args{m("a", value.Null), s("a")}, yes},
		"L10.C6 contains part":    {"contains", args{s("abc"), s("bd")}, no},
		"L10.C7 min":              {"min", args{list(n(3), n(-1), n(2))}, n(-1)},
		"L10.C7 max of arguments": {"max", args{n(3), n(-1)}, n(3)},
		"L10.C7 max of one":       {"max", args{n(3)}, n(3)},
		"L10.C7 format": {"format", args{s("%s|%d|%05d|%f|%.2f|%x|%x|%%|%5s|%-5s|"), s("a"), n(7),
			n(42), n(1.5), n(1.005), n(255), s("hi"), s("r"), s("l")}, s("a|7|00042|1.500000|1.00|ff|6869|%|    r|l    |")},
		"L10.C7 format a number as text": {"format", args{s("%s"), n(1048576)}, s("1048576")},
		"L10.C7 replace":                 {"replace", args{s("a.b.c"), s("."), s("")}, s("abc")},
		"L10.C7 trim":                    {"trim", args{s(" \ta b\n")}, s("a b")},
		"L10.C7 trim characters":         {"trim", args{s("--a-"), s("-")}, s("a")},
		"L10.C7 trim with null":          {"trim", args{s(" a "), value.Null}, s("a")},
		"L10.C7 lower":                   {"lower", args{s("ÀB")}, s("àb")},
		"L10.C7 upper":                   {"upper", args{s("àb")}, s("ÀB")},
		"L10.C7 substr":                  {"substr", args{s("abcdef"), n(1), n(2)}, s("bc")},
		"L10.C7 substr to the end":       {"substr", args{s("abc"), n(1)}, s("bc")},
		"L10.C7 substr from the end":     {"substr", args{s("abc"), n(-2), n(-1)}, s("bc")},
		"L10.C7 substr beyond":           {"substr", args{s("abc"), n(9), n(1e300)}, s("")},
		"L10.C7 substr of clusters":      {"substr", args{s("e\u0301x"), n(1)}, s("x")},
		"L10.C7 toNumber":                {"toNumber", args{s(" -1.5e1 ")}, n(-15)},
		"L10.C7 toNumber of a number":    {"toNumber", args{n(2)}, n(2)},
		"L10.C7 toString":                {"toString", args{n(1048576)}, s("1048576")},
		"L10.C7 toBool":                  {"toBool", args{s("True")}, yes},
		"L6.5 unknown argument":          {"sha1", args{unknown.Secret()}, unknown.Secret()},
		"L6.5 kind of an unknown result": {"length", args{unknown}, value.Unknown(value.KindAny)},
		"L6.5 secret argument":           {"toBase64", args{s("").Secret()}, s("").Secret()},
		"L6.11 secret item":              {"join", args{s(""), list(s("a"), s("b").Secret())}, s("ab").Secret()},
		"L6.11 unknown item":             {"join", args{s(""), list(s("a"), unknown)}, unknown},
		"L6.54 unknown member": {"assetArchive", args{m("a", value.Unknown(value.KindAsset))},
			value.Unknown(value.KindArchive)},
		"L6.54 secret member": {"assetArchive",
			args{m("a", value.NewAsset(&value.Asset{Path: "p"}).Secret())},
			value.NewArchive(&value.Archive{Assets: m("a", value.NewAsset(&value.Asset{Path: "p"}))}).Secret()},
		"L9.31 select from a list with one": {"select", args{n(0), list(s("a"), s("b").Secret())}, s("a").Secret()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(tc.f, tc.args...)
			require.NoError(t, err)
			require.True(t, value.Equal(tc.want, got), "want %v, got %v (kind %s)", tc.want, got, got.Kind())
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	type args = []value.Value
	for name, tc := range map[string]struct {
		f    string
		args args
		arg  int
		want string
	}{
		"too few":               {"join", args{s("")}, -1, "takes 2 arguments, not 1"},
		"too many":              {"trim", args{s(""), s(""), s("")}, -1, "takes 1 to 2 arguments, not 3"},
		"too few of any number": {"format", args{}, -1, "takes at least 1 argument, not 0"},
		"L6.10 delimiter":       {"join", args{n(1), list()}, 0, "delimiter: must be a string, not a number"},
		"L6.10 item": {"join", args{s(""), list(s("a"), list())}, 1,
			"items: item 1 must be a string, a number or a boolean, not a list"},
		"L6.10 not a list":   {"join", args{s(""), s("a")}, 1, "items: must be a list, not a string"},
		"L6.12 not a string": {"split", args{s(","), list()}, 1, "text: must be a string, not a list"},
		"L6.14 negative":     {"select", args{n(-1), list(n(1))}, 0, "index: must not be negative"},
		"L6.14 fraction":     {"select", args{n(1.5), list(n(1))}, 0, "index: must be a whole number"},
		"L6.14 text":         {"select", args{s("a"), list(n(1))}, 0, "index: must be a whole number, not a string"},
		"L6.14 out of range": {"select", args{n(1), list(n(1))}, 0,
			"index: is past the end of the list"},
		"L6.16 null": {"length", args{value.Null}, 0, "value: must be a list, a map or a string, not null"},
		"L6.17 two":  {"singleOrNone", args{list(n(1), n(2))}, 0, "items: must have at most one item, not 2"},
		"L6.18 asset": {"toJSON", args{list(value.NewAsset(&value.Asset{Path: "a"}))}, 0,
			"an asset has no JSON form"},
		"L6.18 resource": {"toJSON", args{pet}, 0,
			"a resource has no JSON form; use one of its properties, such as .id"},
		"L6.18 infinity":   {"toJSON", args{n(math.Inf(1))}, 0, "JSON has no +Inf"},
		"L6.20 not Base64": {"fromBase64", args{s("a*b=")}, 0, `text: is not Base64 (fault at byte 1): "a*b="`},
		"L6.20 no padding": {"fromBase64", args{s("aGVsbG8")}, 0,
			`text: is not Base64 (fault at byte 4): "aGVsbG8"`},
		"L6.20 not UTF-8": {"fromBase64", args{s("//4=")}, 0, `text: the decoded bytes are not UTF-8: "//4="`},
		"L6.22 no file":   {"readFile", args{s("nope")}, 0, `the file does not exist: "nope"`},
		"L6.22 not UTF-8": {"readFile", args{s("binary")}, 0,
			`the file is not UTF-8 text; use fn::filebase64: "binary"`},
		"L6.28 not a resource": {"pulumiResourceName", args{s("x")}, 0, "resource: must be a resource, not a string"},
		"L6.52 scheme": {"remoteAsset", args{s("ftp://x")}, 0,
			`uri: must start with http://, https:// or file://: "ftp://x"`},
		"L6.53 not an asset": {"assetArchive", args{m("a", s("x"))}, 0,
			"assets: the value of a key must be an asset or archive, not a string"},
		"L9.34 secret text": {"fromBase64", args{s("hunter2").Secret()}, 0, "text: is not Base64 (fault at byte 4)"},
		"L9.34 secret path": {"readFile", args{s("nope").Secret()}, 0, "the file does not exist"},
		"L9.34 secret key": {"lookup", args{m(), s("hunter2").Secret()}, 1,
			"key: the map has no such key, and there is no default"},
		"L10.C1 condition": {"if", args{s("true"), n(1), n(2)}, 0, "condition: must be a boolean, not a string"},
		"L10.C4 not JSON": {"fromJSON", args{s("{")}, 0,
			`text: is not JSON, line 1, column 2: the text ends where a key is expected: "{"`},
		"L10.C5 try nothing": {"try", args{}, -1, "needs at least one argument"},
		"L10.C6 lookup": {"lookup", args{m("a", n(1)), s("b")}, 1,
			`key: the map has no such key, and there is no default: "b"`},
		"L10.C6 merge":            {"merge", args{list(m(), s("x"))}, 0, "maps: item 1 must be a map, not a string"},
		"L10.C6 concat":           {"concat", args{list(), m()}, 1, "lists: must be a list, not a map"},
		"L10.C6 range":            {"range", args{n(-1)}, 0, "start: must not be negative if it is the only argument"},
		"L10.C6 endless range":    {"range", args{n(0), n(5), n(-1)}, 2, "step: never reaches the limit"},
		"L10.C6 range at a stand": {"range", args{n(0), n(5), n(0)}, 2, "step: must not be 0"},
		"L10.C6 range without end": {"range", args{n(0), n(math.Inf(1))}, 0,
			"the result would have more than 1000000 items"},
		"L10.C6 sort": {"sort", args{list(s("a"), n(1))}, 0,
			"items: item 1 is a number, unlike the items before it"},
		"L10.C7 min of nothing": {"min", args{list()}, -1, "needs at least one number"},
		"L10.C7 max of texts":   {"max", args{s("1")}, 0, "numbers: must be a number or a list, not a string"},
		"L10.C7 verb": {"format", args{s("%v"), s("x")}, 0,
			"format: there is no verb %v; the verbs are %s %d %f %x %%"},
		"L10.C7 no argument": {"format", args{s("%s")}, 0, "format: has more verbs than there are arguments"},
		"L10.C7 extra argument": {"format", args{s("%s"), s("a"), s("b")}, 2,
			"arguments: there is no verb for argument 2"},
		"L10.C7 wrong argument": {"format", args{s("%d"), n(1.5)}, 1, "arguments: %d takes a whole number, not a number"},
		"L10.C7 half a verb": {"format", args{s("100%")}, 0,
			"format: ends within a verb; a percent sign is written %%"},
		"L10.C7 replace nothing":    {"replace", args{s("a"), s(""), s("b")}, 1, "old: must not be empty"},
		"L10.C7 toNumber":           {"toNumber", args{s("0x10")}, 0, `value: is not a number: "0x10"`},
		"L10.C7 toNumber of bool":   {"toNumber", args{yes}, 0, `value: is not a number`},
		"L10.C7 toBool":             {"toBool", args{s("yes")}, 0, `value: must be true or false: "yes"`},
		"L10.C7 toBool of a number": {"toBool", args{n(1)}, 0, `value: must be true or false: "1"`},
		"L10.C7 toString": {"toString", args{list()}, 0,
			"value: a list cannot be put into a text; use fn::join or fn::toJSON"},
		"L10.C7 substr": {"substr", args{s("a"), n(0), n(-2)}, 2,
			"length: must not be negative, except -1 for the rest"},
		"invoke is the evaluator's": {"invoke", args{s("a:b:c")}, -1, "cannot be called here"},
		"long texts are cut to a line": {"toBool", args{s(string(make([]byte, 100)))}, 0,
			`value: must be true or false: "` + repeat(`\x00`, 60) + `"…`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := apply(tc.f, tc.args...)
			require.EqualError(t, err, tc.want)
			var failure *builtins.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, tc.arg, failure.Arg)
			require.Equal(t, tc.f, failure.Func.Name)
		})
	}
}

func repeat(text string, times int) (all string) {
	for range times {
		all += text
	}
	return all
}

func TestFileFault(t *testing.T) {
	t.Parallel()
	_, err := apply("filebase64", s("nope"))
	require.ErrorIs(t, err, builtins.ErrFile)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotContains(t, err.Error(), "/home")
}

// L6.5, L9.44: a computed result has the dependencies of all arguments. An item that is only moved keeps its own, and
// the whole result has those of the items that it omits.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const a, b = urn.URN("urn:pulumi:s::p::t::a"), urn.URN("urn:pulumi:s::p::t::b")
	items := list(s("x").DependingOn(a), s("y")).DependingOn(b)

	got, err := apply("join", s("-"), items)
	require.NoError(t, err)
	require.Equal(t, []urn.URN{a, b}, got.Deps())

	got, err = apply("select", n(1), items)
	require.NoError(t, err)
	require.Equal(t, []urn.URN{a, b}, got.Deps(), "of what was not chosen too")

	got, err = apply("concat", items, list(s("z")))
	require.NoError(t, err)
	require.Equal(t, []urn.URN{b}, got.Deps())
	require.Equal(t, []urn.URN{a}, got.At(0).Deps())

	got, err = apply("sha1", unknown.DependingOn(a))
	require.NoError(t, err)
	require.False(t, got.IsKnown())
	require.Equal(t, []urn.URN{a}, got.Deps())
}

// L10.C1, L10.C5: arguments that are not needed are not evaluated, and only faults are ignored.
func TestLazy(t *testing.T) {
	t.Parallel()
	good := func(v value.Value) builtins.Thunk {
		return func(context.Context) (value.Value, error) { return v, nil }
	}
	bad := func(err error) builtins.Thunk {
		return func(context.Context) (value.Value, error) { return value.Null, err }
	}
	forbidden := func(context.Context) (value.Value, error) { panic("evaluated") }
	errFault := errors.New("a fault")
	for name, tc := range map[string]struct {
		f    string
		args []builtins.Thunk
		want value.Value
		err  error
	}{
		"if takes one branch": {"if", []builtins.Thunk{good(yes), good(n(1)), forbidden}, n(1), nil},
		"if takes the other":  {"if", []builtins.Thunk{good(no), forbidden, good(n(2))}, n(2), nil},
		"if takes none": {"if", []builtins.Thunk{good(unknown), forbidden, forbidden},
			value.Unknown(value.KindAny), nil},
		"if fails": {"if", []builtins.Thunk{bad(errFault), forbidden, forbidden}, value.Null,
			errFault},
		"try stops at the first":          {"try", []builtins.Thunk{bad(errFault), good(n(1)), forbidden}, n(1), nil},
		"try stops at unknown":            {"try", []builtins.Thunk{good(unknown), forbidden}, unknown, nil},
		"try with no success":             {"try", []builtins.Thunk{bad(errFault), bad(errFault)}, value.Null, errFault},
		"try does not hide failures":      {"try", []builtins.Thunk{bad(errFailed), forbidden}, value.Null, errFailed},
		"can":                             {"can", []builtins.Thunk{bad(errFault)}, no, nil},
		"can does not hide failures":      {"can", []builtins.Thunk{bad(errFailed)}, value.Null, errFailed},
		"recover from a fault":            {"recover", []builtins.Thunk{bad(errFault), good(n(1))}, n(1), nil},
		"recover from a failure":          {"recover", []builtins.Thunk{bad(errFailed), good(n(1))}, n(1), nil},
		"recover needs no fallback":       {"recover", []builtins.Thunk{good(n(2)), forbidden}, n(2), nil},
		"recover does not hide the end":   {"recover", []builtins.Thunk{bad(errOver), forbidden}, value.Null, errOver},
		"others evaluate their arguments": {"lower", []builtins.Thunk{good(s("A"))}, s("a"), nil},
		"and stop at the first error":     {"join", []builtins.Thunk{bad(errFault), forbidden}, value.Null, errFault},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := builtins.Lookup(tc.f)
			got, err := builtins.ApplyLazy(context.Background(), world{}, f, tc.args)
			require.ErrorIs(t, err, tc.err)
			require.True(t, value.Equal(tc.want, got), "%v", got)
		})
	}
}

// FuzzFormat looks for layouts that put Go's own complaints, such as %!d, into the result.
func FuzzFormat(f *testing.F) {
	for _, seed := range []string{"%s", "%05d", "%.2f", "%%", "%", "%-+9.9x", "%é", "%99999999s"} {
		f.Add(seed, "x", 1.5)
	}
	f.Fuzz(func(t *testing.T, layout, text string, number float64) {
		got, err := apply("format", s(layout), s(text), n(number))
		if err == nil {
			str, _ := got.AsString()
			require.NotContains(t, str, "%!", "Go's own complaints must not reach users: %q %q", layout, text)
		}
	})
}
