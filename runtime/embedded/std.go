package embedded

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/yamlhost/yamlhost/runtime/provider"
	"github.com/yamlhost/yamlhost/value"
)

// standard is the package std: functions and nothing else. Each takes named arguments and answers with the one output
// result, which is secret when an argument is.
type standard struct{ o Options }

type formula = func(args value.Value) (value.Value, error)

// stdKinds is the package std.
func stdKinds(o Options) kinds {
	s := standard{o}
	k := kinds{functions: map[string]function{}, refused: map[string]string{}}
	for _, table := range []map[string]formula{stdTexts(), stdDigests(), stdNumbers(), stdLists(), stdMaps(), stdConversions(), s.world()} {
		for name, f := range table {
			k.functions["std:index:"+name] = func(_ context.Context, args value.Value) (value.Value, error) {
				result, err := f(args)
				if err != nil {
					return value.Null, &provider.Error{Message: "std:index:" + name + ": " + err.Error()}
				}
				if args.ContainsSecret() {
					result = result.Secret()
				}
				return value.MapOf(value.Entry{Key: "result", Value: result}), nil
			}
		}
	}
	for name, instead := range stdElsewhere {
		k.refused["std:index:"+name] = "it is not built in; " + instead
	}
	return k
}

// stdElsewhere are functions of the package that are not built in, with what to use instead.
var stdElsewhere = map[string]string{
	"format": "use the function format of the language, or install the plugin", "formatlist": "install the plugin",
	"cidrhost": "use the function cidrhost of the language, or install the plugin", "cidrnetmask": "use the function cidrnetmask of the language, or install the plugin",
	"cidrsubnet": "use the function cidrsubnet of the language, or install the plugin", "cidrsubnets": "install the plugin",
	"rsadecrypt": "install the plugin", "regex": "use the function regex of the language, or install the plugin",
	"regexall": "use the function regexall of the language, or install the plugin", "matchkeys": "install the plugin",
	"map": "write a map", "parseint": "use the function parseint of the language, or install the plugin", "title": "use the function title of the language, or install the plugin",
	"replace": "use the function replace of the language, or install the plugin", "index": "install the plugin",
	"coalesce": "use the function coalesce of the language, or install the plugin", "tostring": "use an interpolation",
}

func textArg(args value.Value, name string) string {
	v, _ := args.Lookup(name)
	s, _ := v.AsString()
	return s
}

func numberArg(args value.Value, name string) float64 {
	v, _ := args.Lookup(name)
	f, _ := v.AsNumber()
	return f
}

// whole is a number without a fraction, of a size that lists and texts can have.
func whole(args value.Value, name string) (int, error) {
	f := numberArg(args, name)
	if f != math.Trunc(f) || math.Abs(f) > 1<<31 {
		return 0, fmt.Errorf("%s must be a whole number, not %s", name, value.FormatNumber(f))
	}
	return int(f), nil
}

func listArg(args value.Value, name string) []value.Value {
	v, _ := args.Lookup(name)
	items, _ := v.AsList()
	return items
}

// fromText is a function of the text input.
func fromText(fn func(string) (string, error)) formula {
	return func(args value.Value) (value.Value, error) {
		s, err := fn(textArg(args, "input"))
		return value.String(s), err
	}
}

func always1(fn func(string) string) formula {
	return fromText(func(s string) (string, error) { return fn(s), nil })
}

// withText is a function of the text input and a text of another name.
func withText(other string, fn func(s, other string) value.Value) formula {
	return func(args value.Value) (value.Value, error) {
		return fn(textArg(args, "input"), textArg(args, other)), nil
	}
}

func stdTexts() map[string]formula {
	return map[string]formula{
		"lower":     always1(strings.ToLower),
		"upper":     always1(strings.ToUpper),
		"trimspace": always1(strings.TrimSpace),
		"chomp":     always1(func(s string) string { return strings.TrimRight(s, "\r\n") }),
		"strrev": always1(func(s string) string {
			runes := []rune(s)
			slices.Reverse(runes)
			return string(runes)
		}),
		"urlencode":  always1(url.QueryEscape),
		"basename":   always1(filepath.Base),
		"dirname":    always1(filepath.Dir),
		"trim":       withText("cutset", func(s, set string) value.Value { return value.String(strings.Trim(s, set)) }),
		"trimprefix": withText("prefix", func(s, p string) value.Value { return value.String(strings.TrimPrefix(s, p)) }),
		"trimsuffix": withText("suffix", func(s, p string) value.Value { return value.String(strings.TrimSuffix(s, p)) }),
		"startswith": withText("prefix", func(s, p string) value.Value { return value.Bool(strings.HasPrefix(s, p)) }),
		"endswith":   withText("suffix", func(s, p string) value.Value { return value.Bool(strings.HasSuffix(s, p)) }),
		"split": func(args value.Value) (value.Value, error) {
			return textList(strings.Split(textArg(args, "text"), textArg(args, "separator"))), nil
		},
		"join": func(args value.Value) (value.Value, error) {
			parts, err := textsOf(listArg(args, "input"))
			return value.String(strings.Join(parts, textArg(args, "separator"))), err
		},
		"indent": func(args value.Value) (value.Value, error) {
			n, err := whole(args, "spaces")
			if err != nil || n < 0 || n > 1000 {
				return value.Null, errors.New("spaces must be a whole number from 0 to 1000")
			}
			return value.String(strings.ReplaceAll(textArg(args, "input"), "\n", "\n"+strings.Repeat(" ", n))), nil
		},
		"substr":       substring,
		"base64encode": always1(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"base64decode": fromText(func(s string) (string, error) {
			data, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return "", errors.New("the input is not base64")
			}
			return string(data), nil
		}),
		"base64gzip": fromText(func(s string) (string, error) {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, err := w.Write([]byte(s))
			return base64.StdEncoding.EncodeToString(b.Bytes()), errors.Join(err, w.Close())
		}),
		"csvdecode": csvDecode,
	}
}

// substring counts in characters; a negative offset counts from the end, and a length of -1 means all the rest.
func substring(args value.Value) (value.Value, error) {
	runes := []rune(textArg(args, "input"))
	offset, err := whole(args, "offset")
	if err != nil {
		return value.Null, err
	}
	length, err := whole(args, "length")
	if err != nil {
		return value.Null, err
	}
	if offset < 0 {
		offset += len(runes)
	}
	if length == -1 {
		length = len(runes) - offset
	}
	if offset < 0 || length < 0 || offset > len(runes) || offset+length > len(runes) {
		return value.Null, fmt.Errorf("the input has %d characters, and from %d on there are not %d", len(runes), offset, length)
	}
	return value.String(string(runes[offset : offset+length])), nil
}

func csvDecode(args value.Value) (value.Value, error) {
	rows, err := csv.NewReader(strings.NewReader(textArg(args, "input"))).ReadAll()
	if err != nil {
		return value.Null, fmt.Errorf("the input is not CSV: %w", err)
	}
	if len(rows) == 0 {
		return value.Null, errors.New("the input has no header line")
	}
	var list []value.Value
	for _, row := range rows[1:] {
		entry := value.EmptyMap()
		for i, name := range rows[0] {
			entry = entry.With(name, value.String(row[i]))
		}
		list = append(list, entry)
	}
	return value.List(list...), nil
}

func stdDigests() map[string]formula {
	hash := func(fn func([]byte) []byte) formula {
		return always1(func(s string) string { return hex.EncodeToString(fn([]byte(s))) })
	}
	return map[string]formula{
		"md5": hash(md5Of), "sha1": hash(sha1Of), "sha256": hash(sha256Of), "sha512": hash(sha512Of),
		"base64sha256": always1(func(s string) string { return base64.StdEncoding.EncodeToString(sha256Of([]byte(s))) }),
		"base64sha512": always1(func(s string) string { return base64.StdEncoding.EncodeToString(sha512Of([]byte(s))) }),
		"bcrypt": func(args value.Value) (value.Value, error) {
			cost := bcrypt.DefaultCost
			if args.Has("cost") {
				var err error
				if cost, err = whole(args, "cost"); err != nil {
					return value.Null, err
				}
			}
			hashed, err := bcrypt.GenerateFromPassword([]byte(textArg(args, "input")), cost)
			return value.String(string(hashed)), err
		},
	}
}

func md5Of(b []byte) []byte    { sum := md5.Sum(b); return sum[:] }
func sha1Of(b []byte) []byte   { sum := sha1.Sum(b); return sum[:] }
func sha256Of(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] }
func sha512Of(b []byte) []byte { sum := sha512.Sum512(b); return sum[:] }

func stdNumbers() map[string]formula {
	one := func(fn func(float64) float64) formula {
		return func(args value.Value) (value.Value, error) { return finite(fn(numberArg(args, "input"))) }
	}
	fold := func(what string, fn func(a, b float64) float64) formula {
		return func(args value.Value) (value.Value, error) {
			numbers, err := numbersOf(listArg(args, "input"))
			if err != nil {
				return value.Null, err
			}
			if len(numbers) == 0 {
				return value.Null, errors.New("an empty list has no " + what)
			}
			for _, n := range numbers[1:] {
				numbers[0] = fn(numbers[0], n)
			}
			return finite(numbers[0])
		}
	}
	return map[string]formula{
		"abs": one(math.Abs), "ceil": one(math.Ceil), "floor": one(math.Floor),
		"signum": one(func(f float64) float64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return 0
		}),
		"max": fold("maximum", math.Max), "min": fold("minimum", math.Min),
		"sum": fold("sum", func(a, b float64) float64 { return a + b }),
		"pow": func(args value.Value) (value.Value, error) {
			return finite(math.Pow(numberArg(args, "base"), numberArg(args, "exponent")))
		},
		"log": func(args value.Value) (value.Value, error) {
			return finite(math.Log(numberArg(args, "input")) / math.Log(numberArg(args, "base")))
		},
		"range": numberRange,
	}
}

func finite(f float64) (value.Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value.Null, errors.New("there is no such number")
	}
	return value.Number(f), nil
}

func numberRange(args value.Value) (value.Value, error) {
	start, limit, step := numberArg(args, "start"), numberArg(args, "limit"), 1.0
	if limit < start {
		step = -1
	}
	if args.Has("step") {
		step = numberArg(args, "step")
	}
	if step == 0 || step > 0 && limit < start || step < 0 && limit > start {
		return value.Null, errors.New("the step does not lead from the start to the limit")
	}
	if math.Abs((limit-start)/step) > largestRandom {
		return value.Null, errors.New("the range has too many numbers")
	}
	var list []value.Value
	for f := start; step > 0 && f < limit || step < 0 && f > limit; f += step {
		list = append(list, value.Number(f))
	}
	return value.List(list...), nil
}

func textList(list []string) value.Value {
	items := make([]value.Value, len(list))
	for i, s := range list {
		items[i] = value.String(s)
	}
	return value.List(items...)
}

func textsOf(items []value.Value) ([]string, error) {
	list := make([]string, len(items))
	for i, item := range items {
		s, ok := item.AsString()
		if !ok {
			return nil, fmt.Errorf("member %d of the list is no text", i)
		}
		list[i] = s
	}
	return list, nil
}

func numbersOf(items []value.Value) ([]float64, error) {
	list := make([]float64, len(items))
	for i, item := range items {
		f, ok := item.AsNumber()
		if !ok {
			return nil, fmt.Errorf("member %d of the list is no number", i)
		}
		list[i] = f
	}
	return list, nil
}

func memberOf(list []value.Value, v value.Value) bool {
	return slices.ContainsFunc(list, func(x value.Value) bool { return value.SameContent(x, v) })
}

func distinct(list []value.Value) []value.Value {
	var kept []value.Value
	for _, v := range list {
		if !memberOf(kept, v) {
			kept = append(kept, v)
		}
	}
	return kept
}

func stdLists() map[string]formula {
	of := func(fn func([]value.Value) (value.Value, error)) formula {
		return func(args value.Value) (value.Value, error) { return fn(listArg(args, "input")) }
	}
	truth := func(v value.Value) bool {
		b, _ := v.AsBool()
		s, _ := v.AsString()
		return b || s == "true"
	}
	return map[string]formula{
		"alltrue": of(func(l []value.Value) (value.Value, error) {
			return value.Bool(!slices.ContainsFunc(l, func(v value.Value) bool { return !truth(v) })), nil
		}),
		"anytrue":  of(func(l []value.Value) (value.Value, error) { return value.Bool(slices.ContainsFunc(l, truth)), nil }),
		"distinct": of(func(l []value.Value) (value.Value, error) { return value.List(distinct(l)...), nil }),
		"toset":    of(func(l []value.Value) (value.Value, error) { return value.List(distinct(l)...), nil }),
		"tolist":   of(func(l []value.Value) (value.Value, error) { return value.List(l...), nil }),
		"flatten":  of(func(l []value.Value) (value.Value, error) { return value.List(flat(nil, l)...), nil }),
		"reverse": of(func(l []value.Value) (value.Value, error) {
			l = slices.Clone(l)
			slices.Reverse(l)
			return value.List(l...), nil
		}),
		"sort": of(func(l []value.Value) (value.Value, error) {
			list, err := textsOf(l)
			slices.Sort(list)
			return textList(list), err
		}),
		"compact": of(func(l []value.Value) (value.Value, error) {
			return value.List(slices.DeleteFunc(slices.Clone(l), func(v value.Value) bool {
				s, text := v.AsString()
				return v.IsNull() || text && s == ""
			})...), nil
		}),
		"concat": of(func(l []value.Value) (value.Value, error) {
			var all []value.Value
			for _, part := range l {
				items, _ := part.AsList()
				all = append(all, items...)
			}
			return value.List(all...), nil
		}),
		"coalescelist": of(func(l []value.Value) (value.Value, error) {
			for _, part := range l {
				if part.Len() > 0 {
					return part, nil
				}
			}
			return value.Null, errors.New("all lists are empty")
		}),
		"setintersection": of(func(l []value.Value) (value.Value, error) {
			var common []value.Value
			for i, part := range l {
				items, _ := part.AsList()
				if i == 0 {
					common = distinct(items)
				}
				common = slices.DeleteFunc(common, func(v value.Value) bool { return !memberOf(items, v) })
			}
			return value.List(common...), nil
		}),
		"contains": func(args value.Value) (value.Value, error) {
			return value.Bool(memberOf(listArg(args, "input"), args.Get("element"))), nil
		},
		"element": func(args value.Value) (value.Value, error) {
			l := listArg(args, "input")
			i, err := whole(args, "index")
			if err == nil && (len(l) == 0 || i < 0) {
				err = errors.New("there is no such element")
			}
			if err != nil {
				return value.Null, err
			}
			return l[i%len(l)], nil
		},
		"chunklist": func(args value.Value) (value.Value, error) {
			size, err := whole(args, "size")
			if err != nil || size < 1 {
				return value.Null, errors.New("size must be a whole number from 1")
			}
			var chunks []value.Value
			for chunk := range slices.Chunk(listArg(args, "input"), size) {
				chunks = append(chunks, value.List(chunk...))
			}
			return value.List(chunks...), nil
		},
		"slice": func(args value.Value) (value.Value, error) {
			l := listArg(args, "list")
			from, err := whole(args, "from")
			to := len(l)
			if args.Has("to") && err == nil {
				to, err = whole(args, "to")
			}
			if err == nil && (from < 0 || to < from || to > len(l)) {
				err = fmt.Errorf("the list has %d members, and none from %d to %d", len(l), from, to)
			}
			if err != nil {
				return value.Null, err
			}
			return value.List(l[from:to]...), nil
		},
	}
}

func flat(dst, l []value.Value) []value.Value {
	for _, v := range l {
		if items, ok := v.AsList(); ok {
			dst = flat(dst, items)
			continue
		}
		dst = append(dst, v)
	}
	return dst
}

func stdMaps() map[string]formula {
	sorted := func(m value.Value) []string {
		keys := slices.Clone(m.Keys())
		slices.Sort(keys)
		return keys
	}
	return map[string]formula{
		"keys": func(args value.Value) (value.Value, error) { return textList(sorted(args.Get("input"))), nil },
		"values": func(args value.Value) (value.Value, error) {
			m := args.Get("input")
			var list []value.Value
			for _, k := range sorted(m) {
				list = append(list, m.Get(k))
			}
			return value.List(list...), nil
		},
		"lookup": func(args value.Value) (value.Value, error) {
			if v, found := args.Get("map").Lookup(textArg(args, "key")); found {
				return v, nil
			}
			if v, given := args.Lookup("default"); given {
				return v, nil
			}
			return value.Null, fmt.Errorf("the map has no key %q, and there is no default", textArg(args, "key"))
		},
		"merge": func(args value.Value) (value.Value, error) {
			all := value.EmptyMap()
			for _, m := range listArg(args, "input") {
				all = overlay(all, m)
			}
			return all, nil
		},
		"zipmap": func(args value.Value) (value.Value, error) {
			keys, err := textsOf(listArg(args, "keys"))
			values := listArg(args, "values")
			if err == nil && len(keys) != len(values) {
				err = fmt.Errorf("there are %d keys and %d values", len(keys), len(values))
			}
			if err != nil {
				return value.Null, err
			}
			m := value.EmptyMap()
			for i, k := range keys {
				m = m.With(k, values[i])
			}
			return m, nil
		},
		"transpose": func(args value.Value) (value.Value, error) {
			m, turned := args.Get("input"), map[string][]value.Value{}
			for _, k := range sorted(m) {
				items, _ := m.Get(k).AsList()
				members, err := textsOf(items)
				if err != nil {
					return value.Null, err
				}
				for _, s := range members {
					turned[s] = append(turned[s], value.String(k))
				}
			}
			out := value.EmptyMap()
			for k, l := range turned {
				out = out.With(k, value.List(l...))
			}
			return out, nil
		},
		"length": func(args value.Value) (value.Value, error) {
			v := args.Get("input")
			if s, ok := v.AsString(); ok {
				return value.Int(utf8.RuneCountInString(s)), nil
			}
			if !v.Is(value.KindList) && !v.Is(value.KindMap) {
				return value.Null, errors.New("only a list, a map or a text has a length")
			}
			return value.Int(v.Len()), nil
		},
	}
}

func stdConversions() map[string]formula {
	return map[string]formula{
		"jsonencode": func(args value.Value) (value.Value, error) {
			text, err := value.JSON(args.Get("input"))
			return text, err
		},
		"jsondecode": func(args value.Value) (value.Value, error) {
			v, err := value.FromJSON(textArg(args, "input"))
			if err != nil {
				return value.Null, fmt.Errorf("the input is not JSON: %w", err)
			}
			return v, nil
		},
		"tobool": func(args value.Value) (value.Value, error) {
			v := args.Get("input")
			s, _ := v.AsString()
			switch {
			case v.Is(value.KindBool) || v.IsNull():
				return v, nil
			case s == "true" || s == "false":
				return value.Bool(s == "true"), nil
			}
			return value.Null, errors.New("only true, false and the texts of these are booleans")
		},
		"tonumber": func(args value.Value) (value.Value, error) {
			v := args.Get("input")
			if v.Is(value.KindNumber) || v.IsNull() {
				return v, nil
			}
			s, text := v.AsString()
			f, err := strconv.ParseFloat(s, 64)
			if !text || err != nil || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) && r != 'e' && r != 'E' || r == '_' }) {
				return value.Null, errors.New("the input is no number")
			}
			return finite(f)
		},
	}
}

// world are functions that look at the machine: its clock, its files, its chance.
func (s standard) world() map[string]formula {
	now := func() time.Time { return s.o.Now().UTC() }
	stamp := func(args value.Value, name string) (time.Time, error) {
		t, err := time.Parse(time.RFC3339, textArg(args, name))
		if err != nil {
			return t, fmt.Errorf("%s %q is no timestamp such as 2006-01-02T15:04:05Z", name, textArg(args, name))
		}
		return t, nil
	}
	table := map[string]formula{
		"timestamp": func(value.Value) (value.Value, error) { return value.String(now().Format(time.RFC3339)), nil },
		"timeadd": func(args value.Value) (value.Value, error) {
			t, err := stamp(args, "timestamp")
			if err != nil {
				return value.Null, err
			}
			d, err := time.ParseDuration(textArg(args, "duration"))
			if err != nil {
				return value.Null, fmt.Errorf("duration %q is no duration such as 1h30m", textArg(args, "duration"))
			}
			return value.String(t.Add(d).Format(time.RFC3339)), nil
		},
		"timecmp": func(args value.Value) (value.Value, error) {
			a, err := stamp(args, "timestampa")
			if err != nil {
				return value.Null, err
			}
			b, err := stamp(args, "timestampb")
			return value.Int(a.Compare(b)), err
		},
		"uuid": func(value.Value) (value.Value, error) {
			data, err := generator{s.o}.fill(16)
			if err != nil {
				return value.Null, err
			}
			uuid4(data, now())
			h := hex.EncodeToString(data)
			return value.String(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")), nil
		},
		"abspath":    always1(s.path),
		"pathexpand": fromText(s.expand),
		"fileexists": func(args value.Value) (value.Value, error) {
			info, err := os.Stat(s.path(textArg(args, "input")))
			return value.Bool(err == nil && !info.IsDir()), nil
		},
	}
	for name, form := range map[string]func([]byte) string{
		"file":             func(b []byte) string { return string(b) },
		"filebase64":       base64.StdEncoding.EncodeToString,
		"filebase64sha256": func(b []byte) string { return base64.StdEncoding.EncodeToString(sha256Of(b)) },
		"filebase64sha512": func(b []byte) string { return base64.StdEncoding.EncodeToString(sha512Of(b)) },
		"filemd5":          func(b []byte) string { return hex.EncodeToString(md5Of(b)) },
		"filesha1":         func(b []byte) string { return hex.EncodeToString(sha1Of(b)) },
		"filesha256":       func(b []byte) string { return hex.EncodeToString(sha256Of(b)) },
		"filesha512":       func(b []byte) string { return hex.EncodeToString(sha512Of(b)) },
	} {
		table[name] = fromText(func(path string) (string, error) {
			data, err := os.ReadFile(s.path(path))
			if err != nil {
				return "", fmt.Errorf("the file cannot be read: %w", err)
			}
			return form(data), nil
		})
	}
	return table
}

// path is a path as the program means it: relative ones begin in its directory.
func (s standard) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(s.o.Dir, p)
}

func (s standard) expand(p string) (string, error) {
	if p != "~" && !strings.HasPrefix(p, "~/") {
		return p, nil
	}
	for _, variable := range s.o.Environ {
		if home, found := strings.CutPrefix(variable, "HOME="); found {
			return filepath.Join(home, p[1:]), nil
		}
	}
	return "", errors.New("it is not known where the home folder is")
}
