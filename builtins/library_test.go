package builtins_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/value"
)

// library maps each function of cty's library to its name in the table, or to the reason why it has none (D6).
var library = map[string]struct {
	of     function.Function
	name   string
	reason string
}{
	"Absolute": {of: stdlib.AbsoluteFunc, name: "abs"}, "Ceil": {of: stdlib.CeilFunc, name: "ceil"},
	"Floor": {of: stdlib.FloorFunc, name: "floor"}, "Int": {of: stdlib.IntFunc, name: "int"},
	"Log": {of: stdlib.LogFunc, name: "log"},
	"Pow": {of: stdlib.PowFunc, name: "pow"}, "Signum": {of: stdlib.SignumFunc, name: "signum"},
	"ParseInt": {of: stdlib.ParseIntFunc, name: "parseInt"}, "Min": {of: stdlib.MinFunc, name: "min"},
	"Max":        {of: stdlib.MaxFunc, name: "max"},
	"FormatDate": {of: stdlib.FormatDateFunc, name: "formatDate"}, "TimeAdd": {of: stdlib.TimeAddFunc, name: "timeAdd"},
	"Regex": {of: stdlib.RegexFunc, name: "regex"}, "RegexAll": {of: stdlib.RegexAllFunc, name: "regexAll"},
	"RegexReplace": {of: stdlib.RegexReplaceFunc, name: "regexReplace"},
	"Replace":      {of: stdlib.ReplaceFunc, name: "replace"},
	"Coalesce":     {of: stdlib.CoalesceFunc, name: "coalesce"}, "CoalesceList": {of: stdlib.CoalesceListFunc,
		name: "coalesceList"},
	"Length": {of: stdlib.LengthFunc, name: "length"}, "Element": {of: stdlib.ElementFunc, name: "element"},
	"Compact": {of: stdlib.CompactFunc, name: "compact"}, "Contains": {of: stdlib.ContainsFunc, name: "contains"},
	"Distinct": {of: stdlib.DistinctFunc, name: "distinct"}, "Chunklist": {of: stdlib.ChunklistFunc, name: "chunkList"},
	"Flatten": {of: stdlib.FlattenFunc, name: "flatten"}, "Keys": {of: stdlib.KeysFunc, name: "keys"},
	"Lookup": {of: stdlib.LookupFunc, name: "lookup"},
	"Merge":  {of: stdlib.MergeFunc, name: "merge"}, "ReverseList": {of: stdlib.ReverseListFunc, name: "reverse"},
	"SetProduct": {of: stdlib.SetProductFunc, name: "setProduct"}, "Slice": {of: stdlib.SliceFunc, name: "slice"},
	"Values": {of: stdlib.ValuesFunc, name: "values"}, "Zipmap": {of: stdlib.ZipmapFunc, name: "zipmap"},
	"Upper": {of: stdlib.UpperFunc, name: "upper"}, "Lower": {of: stdlib.LowerFunc, name: "lower"},
	"Reverse": {of: stdlib.ReverseFunc, name: "reverse"},
	"Strlen":  {of: stdlib.StrlenFunc, name: "length"}, "Substr": {of: stdlib.SubstrFunc, name: "substr"},
	"Join": {of: stdlib.JoinFunc, name: "join"},
	"Sort": {of: stdlib.SortFunc, name: "sort"}, "Split": {of: stdlib.SplitFunc, name: "split"},
	"Chomp":  {of: stdlib.ChompFunc, name: "chomp"},
	"Indent": {of: stdlib.IndentFunc, name: "indent"}, "Title": {of: stdlib.TitleFunc, name: "title"},
	"TrimSpace": {of: stdlib.TrimSpaceFunc, name: "trim"},
	"Trim":      {of: stdlib.TrimFunc, name: "trim"}, "TrimPrefix": {of: stdlib.TrimPrefixFunc, name: "trimPrefix"},
	"TrimSuffix": {of: stdlib.TrimSuffixFunc, name: "trimSuffix"}, "JSONEncode": {of: stdlib.JSONEncodeFunc,
		name: "toJSON"},
	"JSONDecode": {of: stdlib.JSONDecodeFunc, name: "fromJSON"}, "Format": {of: stdlib.FormatFunc, name: "format"},
	"FormatList": {of: stdlib.FormatListFunc, name: "formatList"},
	"CSVDecode":  {of: stdlib.CSVDecodeFunc, name: "fromCSV"},
	"SetUnion":   {of: stdlib.SetUnionFunc, name: "setUnion"}, "SetIntersection": {of: stdlib.SetIntersectionFunc,
		name: "setIntersection"},
	"SetSubtract":            {of: stdlib.SetSubtractFunc, name: "setSubtract"},
	"SetSymmetricDifference": {of: stdlib.SetSymmetricDifferenceFunc, name: "setSymmetricDifference"},
	"SetHasElement":          {of: stdlib.SetHasElementFunc, name: "contains"},
	"Concat":                 {of: stdlib.ConcatFunc, name: "concat"},
	"Range":                  {of: stdlib.RangeFunc, name: "range"},

	"Add": {reason: "operator +"}, "Subtract": {reason: "operator -"}, "Multiply": {reason: "operator *"},
	"Divide": {reason: "operator /"},
	"Modulo": {reason: "operator %"}, "Negate": {reason: "operator -"}, "GreaterThan": {reason: "operator >"},
	"GreaterThanOrEqualTo": {reason: "operator >="}, "LessThan": {reason: "operator <"},
	"LessThanOrEqualTo": {reason: "operator <="},
	"Equal":             {reason: "operator =="}, "NotEqual": {reason: "operator !="}, "Not": {reason: "operator !"},
	"And": {reason: "operator &&"},
	"Or":  {reason: "operator ||"}, "Index": {reason: "x[i]"}, "HasIndex": {reason: "contains for maps, can for lists"},
	"BytesLen": {reason: "there is no value of bytes"}, "BytesSlice": {reason: "there is no value of bytes"},
	"AssertNotNull": {reason: "the checker knows what may be null"},
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	for theirs, entry := range library {
		if entry.name == "" {
			require.NotEmpty(t, entry.reason, theirs)
			continue
		}
		_, ok := builtins.Lookup(entry.name)
		require.True(t, ok, theirs)
	}
}

// TestLikeTheLibrary compares our own bodies to cty's functions, for texts in composed form.
func TestLikeTheLibrary(t *testing.T) {
	t.Parallel()
	texts := []value.Value{s(""), s("hello world"), s("a-b c_d"), s("Ünï\r\n\n"), s("x=1, yy=22"), s("  v1.2.3 "),
		s("3rd x")}
	lists := []value.Value{strs("a"), strs("b", "a", "", "b"), strs("c", "d", "e", "f", "g")}
	try := func(theirs string, args ...value.Value) {
		t.Helper()
		entry := library[theirs]
		ours, err := apply(entry.name, args...)
		given := make([]cty.Value, len(args))
		for i, arg := range args {
			given[i] = crossing(t, arg)
		}
		want, wantErr := entry.of.Call(given)
		if wantErr != nil {
			require.Error(t, err, "%s %v: theirs says %s", theirs, args, wantErr)
			return
		}
		require.NoError(t, err, "%s %v", theirs, args)
		expected, err := ctyjson.Marshal(want, want.Type())
		require.NoError(t, err)
		got, err := value.AppendJSON(nil, ours)
		require.NoError(t, err)
		require.JSONEq(t, string(expected), string(got), "%s %v", theirs, args)
	}
	for _, text := range texts {
		for _, f := range []string{"Chomp", "Title", "Upper", "Lower", "Reverse", "Strlen", "TrimSpace"} {
			try(f, text)
		}
		for _, pattern := range []string{"[a-z]+", "([a-z]+)=([0-9]+)", "(?P<k>[a-z]+)=(?P<v>[0-9]+)", "(a)|(b)", "(",
			"(?P<k>a)(b)", "^$"} {
			try("Regex", s(pattern), text)
			try("RegexAll", s(pattern), text)
			try("RegexReplace", text, s(pattern), s("<$1>"))
		}
		for _, part := range []string{"", "h", " ", "v1", "\n", "  "} {
			try("TrimPrefix", text, s(part))
			try("TrimSuffix", text, s(part))
		}
		for _, width := range []float64{0, 3} {
			try("Indent", n(width), text)
		}
	}
	for _, l := range lists {
		for i := -7.0; i < 12; i++ {
			try("Element", l, n(i))
		}
		try("ReverseList", l)
		for _, other := range lists {
			try("SetProduct", l, other)
			try("CoalesceList", l, other)
			try("Concat", l, other)
			try("Zipmap", l, other)
		}
		for i := range 5 {
			try("Chunklist", l, n(float64(i+1)))
			try("Slice", l, n(0), n(float64(i)))
			try("Slice", l, n(float64(i)), n(4))
		}
	}
	for _, args := range [][]value.Value{{n(5)}, {n(0)}, {n(2), n(5)}, {n(5), n(2)}, {n(0), n(10), n(3)},
		{n(10), n(0), n(-4)}, {n(0), n(1), n(0.25)}} {
		try("Range", args...)
	}
	try("FormatList", s("%s/%d"), strs("a", "b"), n(3))
	try("FormatList", s("%s"), s("a"))
	try("FormatList", s("%s%s"), strs("a", "b"), strs("c"))
	try("CSVDecode", s("a,b\n1,\"2\n3\"\n"))
	try("CSVDecode", s("a,a\n1,2\n"))
	try("CSVDecode", s("a,b\n1\n"))
	try("CSVDecode", s(""))
}

// crossing converts a plain value to cty.
func crossing(t *testing.T, v value.Value) cty.Value {
	t.Helper()
	text, err := value.AppendJSON(nil, v)
	require.NoError(t, err)
	if v.Is(value.KindList) { // functions on lists take lists of strings
		items, _ := v.AsList()
		given := make([]cty.Value, len(items))
		for i, item := range items {
			given[i] = crossing(t, item)
		}
		return cty.ListVal(given)
	}
	kind, err := ctyjson.ImpliedType(text)
	require.NoError(t, err)
	given, err := ctyjson.Unmarshal(text, kind)
	require.NoError(t, err)
	return given
}

func TestMoreFunctions(t *testing.T) {
	t.Parallel()
	type args = []value.Value
	composed, decomposed := "\u00e9", "e\u0301"
	for name, tc := range map[string]struct {
		f    string
		args args
		want value.Value
	}{
		"texts keep their bytes":         {"regex", args{s("."), s(decomposed)}, s("e")},
		"chomp keeps inner line ends":    {"chomp", args{s("a\nb\r\n")}, s("a\nb")},
		"title knows apostrophes":        {"title", args{s("it's o'clock")}, s("It's O'clock")},
		"title keeps the rest":           {"title", args{s("hELLO " + decomposed)}, s("HELLO E\u0301")},
		"indent of one line":             {"indent", args{n(4), s(composed)}, s(composed)},
		"regex without groups":           {"regex", args{s("[0-9]+"), s("a12b3")}, s("12")},
		"regex with names":               {"regex", args{s("(?P<a>x)|(?P<b>y)"), s("y")}, m("a", value.Null, "b", s("y"))},
		"regexAll without a match":       {"regexAll", args{s("x"), s("y")}, list()},
		"regexReplace with groups":       {"regexReplace", args{s("a-b"), s("(.)-(.)"), s("${2}-$1")}, s("b-a")},
		"formatList of empty lists":      {"formatList", args{s("%s"), list()}, list()},
		"urlDecode undoes urlEncode":     {"urlDecode", args{s("%C3%A9+%2B")}, s("é +")},
		"round halves away from zero":    {"round", args{n(-2.5)}, n(-3)},
		"round what people see":          {"round", args{n(1.005), n(2)}, n(1.01)},
		"round a whole number":           {"round", args{n(7), n(2)}, n(7)},
		"round up to the next digit":     {"round", args{n(9.99), n(1)}, n(10)},
		"round to nothing":               {"round", args{n(0.4)}, n(0)},
		"round keeps infinity":           {"round", args{n(math.Inf(1)), n(2)}, n(math.Inf(1))},
		"sum of nothing":                 {"sum", args{}, n(0)},
		"sum of a list":                  {"sum", args{list(n(1), n(2))}, n(3)},
		"element keeps unknown parts":    {"element", args{list(unknown, n(1)), n(-1)}, n(1)},
		"slice keeps unknown parts":      {"slice", args{list(n(1), unknown), n(1)}, list(unknown)},
		"reverse keeps unknown parts":    {"reverse", args{list(n(1), unknown)}, list(unknown, n(1))},
		"setProduct keeps unknown parts": {"setProduct", args{list(n(1)), list(unknown)}, list(list(n(1), unknown))},
		"zipmap keeps unknown values":    {"zipmap", args{strs("a"), list(unknown)}, m("a", unknown)},
		"setUnion tells kinds apart": {"setUnion", args{list(n(1), s("1")), list(yes, s("true"), list(n(1)))},
			list(n(1), s("1"), yes, s("true"), list(n(1)))},
		"setUnion of assets":     {"setUnion", args{list(pet, pet)}, list(pet)},
		"setIntersection of one": {"setIntersection", args{strs("a", "a")}, strs("a")},
		"coalesceList stops at unknown": {"coalesceList", args{list(), value.Unknown(value.KindList), strs("a")},
			value.Unknown(value.KindList)},
		"coalesceList passes secrets over": {"coalesceList", args{list().Secret(), strs("a")}, strs("a").Secret()},
		"coalesceList of nothing":          {"coalesceList", args{list(), value.Null}, list()},
		"allTrue of nothing":               {"allTrue", args{list()}, yes},
		"anyTrue of nothing":               {"anyTrue", args{list()}, no},
		"indexOf nothing":                  {"indexOf", args{strs("a"), s("b")}, n(-1)},
		"toYAML of a text":                 {"toYAML", args{s("plain text")}, s("plain text\n")},
		"toYAML of words with a meaning": {"toYAML", args{strs("yes", "No", "null", "12", "1e3", "~", "", "a: b", "- a",
			"#x", "y")},
			s(
				"- \"yes\"\n- \"No\"\n- \"null\"\n- \"12\"\n- \"1e3\"\n- \"~\"\n- \"\"\n- \"a: b\"\n- \"- a\"\n- \"#x\"\n- \"y\"\n")},
		"toYAML nested": {"toYAML", args{list(m("a", list(n(1), list(n(2))), "b", m()), list())},
			s("- a:\n    - 1\n    - - 2\n  b: {}\n- []\n")},
		"toYAML of lines": {"toYAML", args{m("run", s("#!/bin/sh\n\necho hi\n"), "end", s("a\nb"), "odd",
			s(" a\nb"), "tail", s("a\n\n"))},
			s("end: |-\n  a\n  b\nodd: \" a\\nb\"\nrun: |\n  #!/bin/sh\n\n  echo hi\ntail: \"a\\n\\n\"\n")},
		"toYAML escapes nothing for pages": {"toYAML", args{s("<a> & \\u003c")}, s("\"<a> & \\\\u003c\"\n")},
		"cidrHost from the end":            {"cidrHost", args{s("10.0.0.0/24"), n(-2)}, s("10.0.0.254")},
		"cidrHost of IPv6": {"cidrHost", args{s("fd00:fd12:3456:7890::/56"), n(34)},
			s("fd00:fd12:3456:7800::22")},
		"cidrNetmask of everything": {"cidrNetmask", args{s("0.0.0.0/0")}, s("0.0.0.0")},
		"cidrSubnet of IPv6": {"cidrSubnet", args{s("fd00:fd12:3456:7890::/56"), n(16), n(162)},
			s("fd00:fd12:3456:7800:a200::/72")},
		"cidrSubnet of itself": {"cidrSubnet", args{s("10.1.2.3/24"), n(0), n(0)}, s("10.1.2.0/24")},
		"cidrSubnets start at their size": {"cidrSubnets", args{s("10.1.0.0/16"), n(8), n(4), n(8)},
			strs("10.1.0.0/24", "10.1.16.0/20", "10.1.32.0/24")},
		"cidrContains a network":            {"cidrContains", args{s("10.0.0.0/8"), s("10.1.0.0/16")}, yes},
		"cidrContains a greater one":        {"cidrContains", args{s("10.1.0.0/16"), s("10.0.0.0/8")}, no},
		"cidrContains of the other version": {"cidrContains", args{s("10.1.0.0/16"), s("::1")}, no},
		"timeCompare": {"timeCompare", args{s("2026-08-03T10:30:00Z"), s("2026-08-03T10:30:00.5Z")},
			n(-1)},
		"uuidv5 in a namespace": {"uuidv5", args{s("6ba7b810-9dad-11d1-80b4-00c04fd430c8"), s("www.example.com")},
			s("2ed6657d-e927-568b-95e1-2665a8aea6a2")},
		"unknown arguments": {"upper", args{unknown.Secret()}, unknown.Secret()},
		"secret arguments": {"sha256", args{s("").Secret()},
			s("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").Secret()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(tc.f, tc.args...)
			require.NoError(t, err)
			require.True(t, value.Equal(tc.want, got), "got %s, want %s", got, tc.want)
		})
	}
}

func TestMoreFaults(t *testing.T) {
	t.Parallel()
	type args = []value.Value
	for name, tc := range map[string]struct {
		f    string
		args args
		arg  int
		want string
	}{
		"pattern": {"regex", args{s("a("), s("x")}, 0,
			"pattern: is not a regular expression, missing closing ): \"a(\""},
		"secret pattern": {"regex", args{s("a(").Secret(), s("x")}, 0,
			"pattern: is not a regular expression, missing closing )"},
		"groups": {"regexAll", args{s("(a)(?P<b>c)"), s("x")}, 0,
			"pattern: name all of its groups, or none; write a group that captures nothing as (?:…)"},
		"no match": {"regex", args{s("a"), s("x")}, 1,
			"text: nothing in it matches the pattern; use fn::regexAll if that may happen: \"x\""},
		"moment": {"timeAdd", args{s("yesterday"), s("1h")}, 0, ""},
		"secret moment": {"timeAdd", args{s("yesterday").Secret(), s("1h")}, 0,
			"moment: must be a timestamp such as 2026-08-03T10:30:00Z"},
		"duration": {"timeAdd", args{s("2026-08-03T10:30:00Z"), s("soon")}, 1,
			"duration: must be numbers with the units h, m and s, such as 1h30m: \"soon\""},
		"digits": {"parseInt", args{s("xyz"), n(10)}, 0, ""},
		"too many digits": {"parseInt", args{s("ffffffffffffffffff1"), n(16)}, -1,
			"the result has more digits than a number can hold"},
		"decomposed text": {"formatDate", args{s("'e\u0301'"), s("2026-08-03T10:30:00Z")}, 0,
			"must be valid UTF-8 in Unicode's composed form (NFC)"},
		"slice backwards": {"slice", args{strs("a", "b"), n(2), n(1)}, 2,
			"end: must be from 2, the start, to 2, the length of the list"},
		"element of nothing": {"element", args{list(), n(0)}, 0, "items: must not be empty"},
		"zipmap":             {"zipmap", args{strs("a"), list()}, 1, "values: there are 0 for 1 key"},
		"network": {"cidrHost", args{s("10.0.0.0"), n(1)}, 0,
			"network: must be an address and the length of its prefix, such as 10.0.0.0/16: \"10.0.0.0\""},
		"host": {"cidrHost", args{s("10.0.0.0/30"), n(4)}, 1,
			"number: the network has no such address: its prefix has 30 bits"},
		"bits": {"cidrSubnet", args{s("10.0.0.0/30"), n(4), n(0)}, 1,
			"bits: the prefix would be 34 bits long, from 30 to 32 are possible"},
		"subnet": {"cidrSubnet", args{s("10.0.0.0/24"), n(2), n(4)}, 2, "number: 2 bits make fewer networks"},
		"subnets": {"cidrSubnets", args{s("10.0.0.0/24"), n(1), n(1), n(1)}, 3,
			"bits: there is no room for network 3 after the others"},
		"mask of IPv6": {"cidrNetmask", args{s("::/64")}, 0,
			"network: must be an IPv4 network; IPv6 has no masks: \"::/64\""},
		"YAML": {"fromYAML", args{s("{")}, 0,
			"text: is not YAML: line 1, column 2: the text ends where a key is expected"},
		"secret YAML": {"fromYAML", args{s("{").Secret()}, 0, "text: is not YAML"},
		"CSV": {"fromCSV", args{s("a,b\n1\n")}, 0,
			"text: is not CSV: record on line 2: wrong number of fields"},
		"lists of two lengths": {"formatList", args{s("%s%s"), strs("a"), strs("b", "c")}, 2,
			"arguments: the length of this list is 2, of an earlier one 1"},
		"an asset as YAML": {"toYAML", args{pet}, 0,
			"a resource has no JSON form; use one of its properties, such as .id"},
		"products without end": {"setProduct", args{numbers(2000), numbers(2000)}, -1,
			"the result would have more than 1000000 items"},
		"repeated without end": {"repeat", args{s("abc"), n(1e9)}, 1,
			"times: must not be negative, and the result at most 16 MiB"},
		"namespace": {"uuidv5", args{s("x"), s("y")}, 0,
			"namespace: must be dns, url, oid, x500 or a UUID: \"x\""},
		"conditions": {"allTrue", args{s("true")}, 0, "conditions: must be a boolean or a list, not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := apply(tc.f, tc.args...)
			var failure *builtins.Error
			require.ErrorAs(t, err, &failure)
			if tc.want != "" {
				require.EqualError(t, err, tc.want)
			}
			require.Equal(t, tc.arg, failure.Arg)
			require.NotRegexp(t, `cty|function\.|panic|\.go`, err.Error())
		})
	}
}

func numbers(count int) value.Value {
	items := make([]value.Value, count)
	for i := range items {
		items[i] = n(float64(i))
	}
	return list(items...)
}

// FuzzCalls calls every function with unusual arguments. Each returns a result or a builtins.Error, and none panics.
func FuzzCalls(f *testing.F) {
	odd := []value.Value{value.Null, yes, n(0), n(-1), n(1.5), n(math.NaN()), n(math.Inf(-1)), n(1e300), s(""), s("\xff"),
		list(), m(), pet, unknown, list(unknown), m("a", unknown), s("x").Secret(), value.NewAsset(&value.Asset{Path: "p"})}
	table := builtins.Table()
	for i := range table {
		for j := range odd {
			f.Add(uint8(i), uint8(j), uint8(j+1), uint8(j+2), "x", 1.0)
		}
	}
	f.Fuzz(func(t *testing.T, which, a, b, c uint8, text string, number float64) {
		fn := table[int(which)%len(table)]
		items := append(odd[:len(odd):len(odd)], s(text), n(number), list(s(text), n(number)), list(s(text)), list(n(number)),
			m(text, n(number)))
		args := []value.Value{items[int(a)%len(items)], items[int(b)%len(items)], items[int(c)%len(items)]}
		for count := range len(args) + 1 {
			result, err := apply(fn.Name, args[:count]...)
			if err != nil {
				var failure *builtins.Error
				require.ErrorAs(t, err, &failure)
				require.NotEmpty(t, failure.Reason)
				continue
			}
			if fn.Name != "unsecret" && fn.Eval != nil {
				for _, arg := range args[:count] {
					require.False(t, arg.ContainsSecret() && !result.ContainsSecret() && fn.Name != "lookup" &&
						fn.Name != "coalesce" && fn.Name != "coalesceList",
						"%s lost a secret", fn.Name)
				}
			}
		}
	})
}
