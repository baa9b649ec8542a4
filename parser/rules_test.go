package parser

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/parser/ast/asttest"
)

// only returns the value of a program's first variable. It accepts only findings about portability, and warnings of the
// tag !custom.
func only(t *testing.T, text string) ast.Expr {
	t.Helper()
	file, diags := parse(text)
	for _, d := range diags {
		if strings.Contains(text, "!custom") && d.Code == diag.Ignored {
			continue
		}
		require.Equal(t, diag.Portability, d.Severity, d.Summary)
	}
	require.NotEmpty(t, file.Variables)
	return file.Variables[0].Value
}

func TestScalars(t *testing.T) { // L1.25
	t.Parallel()
	number := func(v float64, integer bool) ast.Expr { return &ast.Number{Value: v, Integer: integer} }
	text := func(s string) ast.Expr { return &ast.String{Value: s} }
	for source, want := range map[string]ast.Expr{
		"12": number(12, true), "0x1F": number(31, true), "0o17": number(15, true), "017": number(15, true),
		"0b11": number(3, true), "1_000": number(1000, true), "1e3": number(1000, false), "!!float 3": number(3, false),
		".5": number(.5, false), ".inf": number(math.Inf(1), false), "-.inf": number(math.Inf(-1), false),
		"-12": number(-12, true), "+12": number(12, true), "-0x10": number(-16, true), "0": number(0, true),
		"-0":   number(0, true),
		"1.50": number(1.5, false), "089": number(89, false), "!!int '12'": number(12, true),
		"2020-01-01": text("2020-01-01"), "12:30:45": text("12:30:45"), "yes": text("yes"), "no": text("no"),
		"on":  text("on"),
		"off": text("off"), "true": &ast.Bool{Value: true}, "True": &ast.Bool{Value: true}, "TRUE": &ast.Bool{Value: true},
		"false": &ast.Bool{}, "~": &ast.Null{}, "null": &ast.Null{}, "": &ast.Null{}, "!!str 12": text("12"),
		"'12'":        text("12"),
		"!custom foo": text("foo"), "!custom 12": text("12"), "!!binary aGVsbG8=": text("aGVsbG8="), "! 12": number(12, true),
		"!!str": text(""), "'null'": text("null"), "<<": text("<<"), "1.2.3": text("1.2.3"), "0x": text("0x"),
		"1e999": text("1e999"),
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			got := only(t, "variables:\n  v: "+source+"\n")
			require.IsType(t, want, got)
			switch want := want.(type) {
			case *ast.Number:
				want.Place = got.(*ast.Number).Place
			case *ast.String:
				want.Place = got.(*ast.String).Place
			case *ast.Bool:
				want.Place = got.(*ast.Bool).Place
			case *ast.Null:
				want.Place = got.(*ast.Null).Place
			}
			require.Equal(t, want, got)
			require.Equal(t, source, got.Range().Text())
		})
	}
	nan, ok := only(t, "variables: {v: .nan}").(*ast.Number)
	require.True(t, ok)
	require.True(t, math.IsNaN(nan.Value))
	tagged, ok := only(t, "variables: {v: !custom {k: v}}").(*ast.Map)
	require.True(t, ok)
	require.Equal(t, "!custom {k: v}", tagged.Range().Text())
}

func TestNumbersThatLoseDigits(t *testing.T) { // L1.26
	t.Parallel()
	for source, want := range map[string]float64{
		"9007199254740993": 9007199254740992, "12345678901234567890": 12345678901234567168,
		"-9007199254740993": -9007199254740992, "123456789012345678901234567890": 123456789012345677877719597056,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			file, diags := parse("variables: {v: " + source + "}")
			require.Len(t, diags, 1)
			require.Equal(t, diag.BadNumber, diags[0].Code)
			require.Equal(t, diag.Warning, diags[0].Severity)
			require.Equal(t, source, diags[0].Subject.Text())
			number, ok := file.Variables[0].Value.(*ast.Number)
			require.True(t, ok)
			require.InDelta(t, want, number.Value, 0)
			require.True(t, number.Integer)
		})
	}
	for _, exact := range []string{"9007199254740992", "12345678901234567000", "0.1", "1e300"} {
		_, diags := parse("variables: {v: " + exact + "}")
		require.Empty(t, diags, exact)
	}
}

// TestFindings parses small programs with one fault each.
func TestFindings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		severity diag.Severity
		code     diag.Code
		at       string
		summary  string // a part of it
	}{
		"L1.15 empty":         {"", diag.Warning, diag.NoProgram, "", "the file is empty"},
		"L1.15 comments only": {"# nothing\n", diag.Warning, diag.NoProgram, "", "the file is empty"},
		"L1.18 list":          {"- a\n", diag.Error, diag.WrongKind, "- a", "a program must be a map, found a list"},
		"L1.18 text":          {"a\n", diag.Error, diag.WrongKind, "a", "found a string"},
		"L1.16 section of a list": {"variables: [a]", diag.Error, diag.WrongKind, "[a]",
			"`variables` must be a map, found a list"},
		"L1.14 number as a name": {"name: 5", diag.Error, diag.WrongKind, "5", "`name` must be a string, found a number"},
		"L1.17 near miss":        {"output: {}", diag.Warning, diag.UnknownKey, "output", "unknown key `output`"},
		"L1.17 sdks":             {"sdks: 5", diag.Warning, diag.UnknownKey, "sdks", "unknown key `sdks`"},
		"L1.20 capitals": {"Variables: {}", diag.Warning, diag.Capitalisation, "Variables",
			"write `Variables` as `variables`"},
		"L1.22 two spellings": {"variables: {}\nVariables: {}", diag.Error, diag.Duplicate, "Variables",
			"declared twice (first at line 1)"},
		"L1.27 number as a key": {"variables: {v: {1: a}}", diag.Warning, diag.KeyNotString, "1",
			"the key `1` is read as text"},
		"L1.27 list as a key": {"variables: {v: {[a]: b}}", diag.Error, diag.KeyNotString, "[a]",
			"mapping keys must be strings, found a list"},
		"L1.29 further document": {"variables: {}\n---\nresources: {}\n", diag.Warning, diag.Ignored, "---",
			"only the first document"},
		"L1.29 text behind end": {"variables: {}\n...\nresources: {}\n", diag.Warning, diag.Ignored, "res",
			"only the first document"},
		"L1.E key of a map": {"variables: {v: {a: 1, 'a': 2}}", diag.Error, diag.Duplicate, "'a'",
			"`a` is declared twice"},
		"L1.E output": {"outputs: {a: 1, a: 2}", diag.Error, diag.Duplicate, "a", "`a` is declared twice"},
		"L2.22 neither": {"config: {a: {secret: true}}", diag.Error, diag.ConfigDefault, "a",
			"needs a type or a default"},
		"L2.22 kinds differ": {"config: {a: {type: String, default: 42}}", diag.Error, diag.ConfigDefault, "42",
			"is a number, its type is string"},
		"L2.23 several kinds": {"config: {a: {default: [1, a]}}", diag.Error, diag.ConfigDefault, "a",
			"of several kinds"},
		"L2.26 configuration": {"configuration: {}", diag.Warning, diag.Deprecated, "configuration", "write `config`"},
		"L3.10 one part": {"resources: {a: {type: zoo}}", diag.Error, diag.BadTypeToken, "zoo",
			"`zoo` is not a type"},
		"L3.10 expression": {"resources: {a: {type: '${b}'}}", diag.Error, diag.NotLiteral, "'${b}'",
			"`type` must be a literal string"},
		"L3.34 get without an id": {"resources: {a: {type: 'a:b', get: {state: {}}}}", diag.Error, diag.RequiredMissing,
			"get", "`get` needs an id"},
		"L3.60 number": {"pulumi: {requiredVersion: 5}", diag.Error, diag.WrongKind, "5", "must be a string"},
		"L4.7 options": {"resources:\n  options: {protect: true}", diag.Error, diag.WrongKind, "options",
			"is not a resource here"},
		"L5.9 empty": {"variables: {v: 'x ${}'}", diag.Error, diag.BadInterpolation, "${}", "empty `${}`"},
		"L5.7 dots": {"variables: {v: '${e..c}'}", diag.Error, diag.BadInterpolation, "..",
			"a name is missing after `.`"},
		"L6.1 siblings": {"variables: {v: {fn::a: 1, b: 2}}", diag.Error, diag.CallHasSiblings, "fn::a",
			"must be the only key"},
		"not a number": {"variables: {v: !!int x}", diag.Error, diag.WrongKind, "!!int x", "`x` is not a number"},
		"not a boolean": {"variables: {v: !!bool x}", diag.Error, diag.WrongKind, "!!bool x",
			"`x` is not a boolean"},
		"merge of a text":        {"variables: {v: {<<: x}}", diag.Error, diag.WrongKind, "x", "`<<` must be a map"},
		"hook without a command": {"hooks: {h: {onDryRun: true}}", diag.Error, diag.RequiredMissing, "h", "needs a command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, all := parse(c.text)
			var diags diag.Diagnostics
			for _, d := range all {
				if d.Severity != diag.Portability {
					diags.Add(d)
				}
			}
			require.Len(t, diags, 1)
			d := diags[0]
			require.Equal(t, c.severity, d.Severity)
			require.Equal(t, c.code, d.Code)
			require.Equal(t, c.at, d.Subject.Text())
			require.Contains(t, d.Summary, c.summary)
			require.False(t, d.Subject.IsZero())
		})
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"L1.15 shortest":          "{}",
		"L1.16 null sections":     "variables:\nresources:\noutputs: ~\nconfig:\n",
		"L1.B project fields":     "name: a\nruntime: {name: yaml}\nmain: x\nbackend: {url: x}\nplugins: {}\npackages: {}\n",
		"L1.29 trailing marker":   "--- {variables: {a: b}}\n...\n",
		"L1.27 yes is text":       "variables: {v: {yes: a, on: b}}",
		"L2.21 bare default":      "config: {a: 3, b: [], c: [1, 2]}",
		"L2.23 null default":      "config: {a: {default: ~}}",
		"L3.2 any name":           "variables: {'a b': 1, '1x': 2, 'ünï': 3, a.b: 4, '': 5}",
		"L4.6 null options":       "resources: {a: {type: 'a:b', options: {parent: ~, dependsOn: ~, protect: ~}}}",
		"CRLF":                    "variables:\r\n  a: |\r\n    b\r\n  c: 'd\r\n    e'\r\n",
		"byte order mark":         "\uFEFFvariables: {a: b}",
		"a key of white space":    "variables: {m: {some key: 1}, v: '${m.some key}'}",
		"L1.28 anchor alone":      "variables: {a: &b c}",
		"a colon in a plain text": "variables:\n  a: b:c http://x\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := parse(text)
			require.Empty(t, diags)
		})
	}
	for project, findings := range map[bool]int{true: 0, false: 1} { // L1.B old config
		_, diags := Parse(diag.NewSource("Pulumi.yaml", []byte("config: stacks")), Options{Project: project})
		require.Len(t, diags, findings)
	}
}

// TestTwoReadings checks the choice between Pulumi's grammar and HCL's (decision D6).
func TestTwoReadings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a":                   "access a",
		"undeclared":          "access undeclared",
		"a-b":                 "access a-b", // a name, declared or not (L5.5)
		"a - b":               "binary",
		"a + 1.25":            "binary", // Pulumi's grammar reads a name "a + 1" and a member "25"
		"un + 1":              "binary",
		"sp + ace":            "access sp + ace", // declared
		"a.b + 1":             "binary",
		"a.b + un":            "binary",   // un is not declared, which is for the checker to say (L5.42)
		"a.odd + key":         "access a", // the text has that key
		"a.odd key":           "access a",
		"a/b":                 "binary", // both declared
		"un/b":                "access un/b",
		"org/x/dev.outputs":   "access org/x/dev",
		"true":                "bool",
		"un known":            "access un known",
		"!a":                  "unary",
		"a[b]":                "index",
		"a[0]":                "access a",
		"a[-1]":               "access a",
		"a[*].x":              "splat",
		"f(a)":                "call",
		"ns:key":              "access ns:key",
		"a == null ? 1 : 2":   "conditional",
		"[a, b]":              "list",
		"[\"x y\"]":           "access x y",
		"{x = a}":             "map",
		"opt.x":               "access opt",
		"a ? \"x.y\" : \"}\"": "conditional",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			program := "variables:\n  v: '${" + text + "}'\n  a: 1\n  b: 2\n  key: 3\n  sp + ace: 4\n  m: {odd + key: 5}\n"
			file, diags := Parse(diag.NewSource("Main.yaml", []byte(program)), Options{Declared: []string{"opt"}})
			require.False(t, diags.HasErrors(), "%v", diags)
			var dump strings.Builder
			require.NoError(t, asttest.Dump(&dump, &ast.File{Body: ast.Body{Variables: file.Variables[:1]}}))
			got := strings.TrimSpace(strings.Split(dump.String(), "\n")[1])
			if access, ok := file.Variables[0].Value.(*ast.Access); ok {
				got = "access " + access.Root.Value
				require.Equal(t, "${"+text+"}", access.Range().Text())
			}
			require.True(t, strings.HasPrefix(got, want), got)
		})
	}
}

// TestRanges checks the exact ranges of an access in every style of scalar.
func TestRanges(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"plain":          "variables:\n  v: é ${a.b[0]} z\n",
		"plain, folded":  "variables:\n  v: é\n    ${a.b[0]}\n\n    z\n",
		"single":         "variables:\n  v: 'é'' ${a.b[0]} z'\n",
		"double":         "variables:\n  v: \"\\u00e9\\\"\\t ${a.b[0]} z\"\n",
		"double, folded": "variables:\n  v: \"é \\\n     ${a.b[0]}\n\n   z\"\n",
		"literal":        "variables:\n  v: |\n    é\n\n      ${a.b[0]}\n    z\n",
		"literal, wide":  "variables:\n  v: |1-\n      é ${a.b[0]}\n",
		"folded":         "variables:\n  v: >\n    é\n    é ${a.b[0]}\n      more\n\n    z\n",
		"folded, kept":   "variables:\n  v: >+\n\n    é ${a.b[0]}\n\n\n",
		"flow":           "{variables: {v: \"é ${a.b[0]}\"}}",
		"list":           "variables:\n  v:\n  - é\n  - - \"é ${a.b[0]}\"\n",
		"tagged":         "variables:\n  v: !!str é ${a.b[0]}\n",
		"anchored":       "variables:\n  v: &x\n    é ${a.b[0]}\n",
		"Windows":        "variables:\r\n  v: |\r\n    é\r\n    ${a.b[0]}\r\n",
		"Macintosh":      "variables:\r  v: >\r    é\r    ${a.b[0]}\r",
		"separators":     "variables:\n  v: é\u2028    é ${a.b[0]}\u0085\n",
		"mark":           "\uFEFFvariables:\n  v: é ${a.b[0]}\n",
		"key":            "variables:\n  v: {'é ${a.b[0]}': 1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			ast.Walk(only(t, program), func(e ast.Expr) bool {
				if access, ok := e.(*ast.Access); ok {
					found++
					require.Equal(t, "a.b[0]", access.Range().Text())
					require.Equal(t, "a", access.Root.Range.Text())
					require.Equal(t, ".b", access.Steps[0].Range.Text())
					require.Equal(t, "[0]", access.Steps[1].Range.Text())
				}
				return true
			})
			require.Equal(t, 1, found)
		})
	}
}

// TestRangesReadAgain parses the text of each node's range on its own. The result must be a node of the same type with
// the same text.
func TestRangesReadAgain(t *testing.T) {
	t.Parallel()
	program := `variables:
  v:
    - [a, "b ${c}", {d: e, 'f': [g, ~]}, "h": i]
    - {j: 'k', "l": 1.5, m: [n,
        o], p: true}
    - fn::join: [",", ["${q}", r]]
    - plain text
    - "quoted \"text\""
    - [ ]
    - { }
    - !!str 12
`
	file, diags := parse(program)
	require.False(t, diags.HasErrors())
	count := 0
	ast.Walk(file.Variables[0].Value, func(e ast.Expr) bool {
		switch e.(type) {
		case *ast.Template: // its parts are inside of its quotes
			return false
		case *ast.Access:
			return true
		}
		text := e.Range().Text()
		if strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "\"h\": ") || strings.HasPrefix(text, "h") {
			return true // only valid inside of its collection
		}
		again := only(t, "variables:\n  v:\n    "+text+"\n")
		require.IsType(t, e, again, text)
		require.Equal(t, text, again.Range().Text())
		count++
		return true
	})
	require.Greater(t, count, 25)
}
