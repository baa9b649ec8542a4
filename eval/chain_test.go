package eval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
