package eval_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
)

// L10.C19: an optional step that finds nothing makes the whole chain null.
func TestOptionalSteps(t *testing.T) {
	t.Parallel()
	const head = `variables:
  cert: {options: [{value: x}, {}], empty: [], none: null, deep: {a: {b: 1}}, key: {fn::secret: {in: s}}}
  data: {fn::fromJSON: '{"list": [{"name": "first"}], "none": null}'}
  which: list
  hidden: {fn::secret: {fn::fromJSON: '{"in": 1}'}}
  n: 3
resources:
  gone: {type: 'pkg:Thing', if: false}
  'odd?': {type: 'pkg:Thing', properties: {b: odd}}
outputs:
  o: `
	for expression, want := range map[string]string{
		`${cert?.options?[0]?.value}`:              `"x"`,
		`${cert?.options?[1]?.value}`:              `null`,
		`${cert.options?[9]?.value}`:               `null`,
		`${data.list?[9].name.more}`:               `null`,
		`${cert.empty?[0]?.value}`:                 `null`,
		`${cert.none?.value.more[3]}`:              `null`,
		`${cert.none?["va lue"]}`:                  `null`,
		`${cert.options[0]?.value}`:                `"x"`,
		`${gone?.b}`:                               `null`,
		`${gone?.b.c}`:                             `null`,
		`${odd?.b}`:                                `"odd"`,
		`a-${cert.none?.value}-b`:                  `"a--b"`,
		`${data.none?.x == null ? 1 : 2}`:          `1`,
		`${data[which]?[0]?.name}`:                 `"first"`,
		`${data[which]?[n]?.name}`:                 `null`,
		`${data[which]?[n].name.more}`:             `null`,
		`${fromJSON("{\"a\":null}").a?.b.c}`:       `null`,
		`${n > 2 ?[1,2]:[3]}`:                      `[1, 2]`,
		`${n > 2?[1,2]:[3]}`:                       `[1, 2]`,
		`${n > 2 ? cert.empty?[0] : 5}`:            `null`,
		`${[for x in cert.options : x?.value][1]}`: `null`,
		`${try(cert.nothing?.x, 7)}`:               `7`,
		`${"a?.b"}`:                                `"a?.b"`,
		`${cert.key?.in}`:                          `secret("s")`,
		`${hidden?.out?.more}`:                     `secret(null)`,

		`${n > 2 ? "a-${cert?.options?[0]?.value}?.b" : "c"}`: `"a-x?.b"`,
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(head+"'"+expression+"'\n")), parser.Options{})
			require.False(t, diags.HasErrors(), diags)
			program, diags := check.Check(t.Context(), file, check.Options{Project: "p"})
			require.False(t, diags.HasErrors(), diags)
			m := &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}}
			result, diags := eval.Run(t.Context(), program, m, eval.Options{Cwd: "/dir", ParseData: parser.Data})
			require.Empty(t, diags)
			got := result.Outputs.Get("o")
			text := got.Bare().String()
			if got.ContainsSecret() {
				text = "secret(" + text + ")"
			}
			require.Equal(t, want, text)
		})
	}
}

// L10.C19: optional steps may stand wherever a value may, also in the expressions of a text in quotes: an expression with
// a chain gives what it gives with a variable of the chain's value in its place.
func TestOptionalStepsAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chain := rapid.SampledFrom([]string{"v.a?.b", "v.none?.b", "v?.list?[1]", "v.none?[0].more", `v?["a"]?.b`,
			"v.list?[i]"}).Draw(t, "chain")
		text := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", "?.", "?[", "}", "{", "]", "(", `\"`, `\\`,
				"$${", "'", ":", "? "}), 0, 4).Draw(t, "text"), "")
		}
		expression, single := "CHAIN", true
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			around := rapid.IntRange(0, 6).Draw(t, "around")
			if around == 0 && !single {
				around = 5
			}
			single = around == 0 || around == 5 || around == 3 && single
			switch around {
			case 0:
				expression = `"` + text() + "${" + expression + "}" + text() + `"`
			case 1:
				expression = `["` + text() + `", ` + expression + "]"
			case 2:
				expression = `{"` + text() + `" = ` + expression + "}"
			case 3:
				expression = `(i == 1 ? ` + expression + ` : "` + text() + `")`
			case 4:
				expression = `(i == 0 ?["` + text() + `"]: ` + expression + ")"
			case 5:
				expression = `toJSON(["` + text() + `", ` + expression + "])"
			case 6:
				expression = `[for x in ["` + text() + `"] : ` + expression + "]"
			}
		}
		quoted := func(value string) string {
			return "'${" + strings.ReplaceAll(strings.ReplaceAll(expression, "CHAIN", value), "'", "''") + "}'\n"
		}
		program := "variables:\n  i: 1\n  v: {a: {b: x}, none: null, list: [3, 4]}\n  value: ${" + chain + "}\n" +
			"outputs:\n  chain: " + quoted(chain) + "  variable: " + quoted("value")
		file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(program)), parser.Options{})
		require.False(t, diags.HasErrors(), "%s%v", program, diags)
		checked, diags := check.Check(t.Context(), file, check.Options{Project: "p"})
		require.False(t, diags.HasErrors(), "%s%v", program, diags)
		m := &monitortest.Recorder{Deployment: monitor.Info{Project: "p", Stack: "s"}}
		result, diags := eval.Run(t.Context(), checked, m, eval.Options{Cwd: "/dir", ParseData: parser.Data})
		require.Empty(t, diags, program)
		require.Equal(t, result.Outputs.Get("variable").String(), result.Outputs.Get("chain").String(), program)
	})
}

// L10.C19: a step that is not optional fails on null, and a misspelt name is still reported.
func TestOptionalStepsStayStrict(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]diag.Code{
		"variables: {a: {b: null}}\noutputs: {o: '${a?.c}'}\n": diag.NoMember,
		"variables: {a: {b: 1}}\noutputs: {o: '${a?.b?.c}'}\n": diag.NotIndexable,
		"outputs: {o: '${none?.c}'}\n":                         diag.Undeclared,
		"variables: {a: {b: 1}}\noutputs: {o: '${a?.}'}\n":     diag.BadInterpolation,
		"variables: {a: {b: 1}}\noutputs: {o: '${a??.b}'}\n":   diag.BadInterpolation,
	} {
		file, diags := parser.Parse(diag.NewSource("Main.yaml", []byte(text)), parser.Options{})
		_, more := check.Check(t.Context(), file, check.Options{Project: "p", ConfigKnown: true})
		diags.Add(more...)
		var codes []diag.Code
		for _, d := range diags {
			if d.Severity == diag.Error {
				codes = append(codes, d.Code)
			}
		}
		require.Equal(t, []diag.Code{code}, codes, "%s%v", text, diags)
	}
}
