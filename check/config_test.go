package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser/ast"
	"github.com/yamlhost/yamlhost/schema"
)

// stack sets the configuration of a stack in the options.
func stack(pairs ...string) func(*check.Options) {
	return func(o *check.Options) {
		o.ConfigKnown = true
		if o.Config == nil {
			o.Config = make(map[string]check.ConfigText)
		}
		for i := 0; i < len(pairs); i += 2 {
			o.Config[pairs[i]] = check.ConfigText{Text: pairs[i+1]}
		}
	}
}

func node(t *testing.T, p *check.Program, name string) *check.Node {
	t.Helper()
	for _, n := range p.Nodes {
		if n.Name == name {
			return n
		}
	}
	t.Fatalf("no node %s", name)
	return nil
}

func TestUndeclaredConfig(t *testing.T) { // L2.30, L2.31
	t.Parallel()
	for text, want := range map[string]value.Value{
		"007": value.String("007"), "0123": value.String("0123"), "0e5": value.String("0e5"), "0": value.Number(0),
		"0.5": value.Number(0.5), "42": value.Number(42), "+44123": value.Number(44123), "1.10": value.Number(1.1),
		"t": value.Bool(true), "F": value.Bool(false), "true": value.Bool(true), "1": value.Number(1),
		"1e5": value.Number(100000),
		".5":  value.Number(0.5), "null": value.Null, `"q"`: value.String("q"), "hello": value.String("hello"),
		"":      value.String(""),
		"[1,2]": value.List(value.Number(1), value.Number(2)), "12345678901234567000": value.Number(12345678901234567168),
		`{"a":1}`: value.MapOf(value.Entry{Key: "a", Value: value.Number(1)}), "yes": value.String("yes"),
	} {
		t.Run(text, func(t *testing.T) {
			p := sound(t, "variables: {v: '${k}'}", stack("p:k", text))
			config := node(t, p, "k").Config
			require.True(t, value.Equal(want, *config.Value), "got %v", *config.Value)
			require.Equal(t, text, *config.Text) // L2.33
		})
	}
}

func TestDeclaredConfig(t *testing.T) { // L2.33, L2.34
	t.Parallel()
	for name, c := range map[string]struct {
		declaration, text string
		want              value.Value // null if an error is expected
	}{
		"string stays text":   {"{type: string}", "1.10", value.String("1.10")},
		"string of digits":    {"{type: String}", "007", value.String("007")},
		"integer":             {"{type: integer}", "+5", value.Number(5)},
		"integral float":      {"{type: integer}", "2.0", value.Number(2)},
		"no integer":          {"{type: integer}", "2.5", value.Null},
		"underscore":          {"{type: integer}", "1_000", value.Null},
		"number":              {"{type: number}", "1e3", value.Number(1000)},
		"no infinity":         {"{type: number}", "inf", value.Null},
		"boolean of any case": {"{type: boolean}", "TRUE", value.Bool(true)},
		"boolean of a digit":  {"{type: boolean}", "0", value.Bool(false)},
		"no boolean":          {"{type: boolean}", "yes", value.Null},
		"list":                {"{type: List<string>}", `["a", 5]`, value.List(value.String("a"), value.String("5"))},
		"list of lists": {"{type: List<List<integer>>}", `[[1],[]]`,
			value.List(value.List(value.Number(1)), value.List())},
		"list of no integers": {"{type: List<integer>}", `["x"]`, value.Null},
		"not a list":          {"{type: List<string>}", "a", value.Null},
		"object":              {"{type: object}", `{"a": "1"}`, value.MapOf(value.Entry{Key: "a", Value: value.String("1")})},
		"not an object":       {"{type: object}", `[1]`, value.Null},
		"kind of the default": {"{default: abc}", "42", value.String("42")},
		"number by default":   {"{default: 3}", "4.5", value.Number(4.5)},
		"map of integers": {"{type: 'Map<integer>'}", `{"a": "1"}`,
			value.MapOf(value.Entry{Key: "a", Value: value.Number(1)})},
		"null among items": {"{type: List<string>}", `["a", null]`, value.List(value.String("a"), value.Null)},
		"other name":       {"{type: string, name: other}", "x", value.String("x")},
	} {
		t.Run(name, func(t *testing.T) {
			p, diags := checkText(t, "Main.yaml", "config: {k: "+c.declaration+"}\nvariables: {v: '${k}'}",
				stack("p:k", c.text, "p:other", c.text))
			config := node(t, p, "k").Config
			if c.want.IsNull() {
				require.Len(t, diags, 1)
				require.Equal(t, diag.ConfigConversion, diags[0].Code)
				return
			}
			require.False(t, diags.HasErrors(), "%v", diags)
			require.True(t, value.Equal(c.want, *config.Value), "got %v", *config.Value)
			require.Nil(t, config.Text)
		})
	}
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"missing": `
config:
  need: {type: string}                     #! Y120 config p:need is required
  hush: {type: string, secret: true}       #! Y120 yamlhost config set --secret p:hush VALUE
  have: {type: string, default: x}
  null1: {default: null}`,
		"default of another type": `
config:
  a: {type: string, default: 42}           #! Y122
  b: {type: integer, default: 2.5}         #! Y122
  c: {type: integer, default: 2.0}
  d: {type: List<string>, default: ['${c}']}   #! Y122 default of "d", "[0]": expected string, got integer
  e: {type: boolean, default: '${l}'}      #! Y122 default of "e": expected bool, got list<integer>
  f: {type: number, default: '${c}'}
  g: {default: []}
  h: {default: {fn::secret: x}}
  i: {optional: true}
  j: {type: integer, default: null}
variables: {l: [1]}`,
		"shadowed": `
variables:
  hidden: 1                                #! Y123 p:hidden is hidden by the variable hidden
  seen: ${p:hidden} ${aws:region}
  gone: ${aws:zone}                        #! Y200 "aws:zone" is not declared`,
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := checkText(t, "Main.yaml", text, stack("p:hidden", "x", "aws:region", "eu"))
			expectFaults(t, text, diags)
		})
	}
}

func TestSecretConfig(t *testing.T) { // L2.32, L2.4
	t.Parallel()
	p, diags := checkText(t, "Main.yaml",
		"config:\n  a: {type: string, secret: true}\n  b: {type: integer}\n  c: {type: integer}\noutputs: {o: '${d}'}",
		stack("p:a", "plain"), func(o *check.Options) {
			o.Config["p:b"] = check.ConfigText{Text: "5", Secret: true}
			o.Config["p:c"] = check.ConfigText{Text: "hunter2", Secret: true}
			o.Config["p:d"] = check.ConfigText{Text: "hunter2", Secret: true}
		})
	require.True(t, node(t, p, "a").Config.Value.IsSecret())
	require.True(t, value.Equal(value.Number(5).Secret(), *node(t, p, "b").Config.Value))
	require.True(t, node(t, p, "d").Config.Value.IsSecret())
	require.Len(t, diags, 1)
	require.Equal(t, diag.ConfigConversion, diags[0].Code)
	require.NotContains(t, diags[0].Summary+diags[0].Detail, "hunter2")
}

func TestConfigWithoutStack(t *testing.T) {
	t.Parallel()
	p := sound(t, "config: {k: {type: integer}}\nvariables: {v: '${k}', w: '${aws:region}'}")
	require.Nil(t, node(t, p, "k").Config.Value)
	require.Equal(t, schema.Type(schema.Integer), node(t, p, "v").Type)
	require.Equal(t, "aws:region", node(t, p, "aws:region").Config.Key)
}

func TestOptionalConfig(t *testing.T) { // L10.C13
	t.Parallel()
	p := sound(t, "config: {k: {type: integer, optional: true}, l: {type: string, default: null}}", stack())
	require.Equal(t, "integer?", schema.TypeName(node(t, p, "k").Type))
	require.True(t, node(t, p, "k").Config.Value.IsNull())
	require.Equal(t, "string?", schema.TypeName(node(t, p, "l").Type))
}

func TestConfigOrder(t *testing.T) { // L2.24
	t.Parallel()
	p := sound(t,
		"config:\n  a: {default: '${v.result}'}\n  b: {default: 'x${a}'}\nvariables: {v: {fn::zoo:echo: {value: 1}}}")
	var names []string
	for _, n := range p.Nodes {
		names = append(names, n.Name)
	}
	require.Equal(t, []string{"v", "a", "b"}, names)
	_, isCall := node(t, p, "v").Variable.Value.(*ast.Call)
	require.True(t, isCall)
}
