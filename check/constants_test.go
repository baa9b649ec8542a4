package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// The checker evaluates calls with literal arguments.
func TestConstants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		options func(*check.Options)
	}{
		"calls of constants": {text: `variables:
  bad: {fn::fromJSON: '{"a": }'} #! Y302 fn::fromJSON: text: is not JSON, line 1, column 7
  text: '{"b"}'
  far: ${fromJSON(text)} #! Y302 fromJSON: text: is not JSON
  sel: {fn::select: [5, [a, b]]} #! Y302 is past the end of the list
  b64: {fn::fromBase64: 'a*b='} #! Y302 is not Base64
  rx: {fn::regex: ['[', x]} #! Y302 fn::regex
  host: ${cidrHost("10.0.0.0/30", 9)} #! Y302 the network has no such address
  sub: {fn::cidrSubnets: [10.0.0.0/24, 1, 1, 1]} #! Y302 there is no room for network 3
  url: ${urlDecode("%zz")} #! Y302 is not URL-encoded
  csv: {fn::fromCSV: ''} #! Y302 has no header line
  later: ${timeAdd("2026-08-03T10:30:00Z", "soon")} #! Y302 duration
  id: ${uuidv5("x", "y")} #! Y302 namespace
  yaml: {fn::fromYAML: '{"a": ['} #! Y302 text: is not YAML: line 1, column 7
  long: {fn::fromYAML: 'a: 9007199254740993'} #! Y114 loses digits
  zip: ${zipmap(["a"], [])} #! Y302 there are 0 for 1 key
  may: ${try(fromJSON("{"), 1)}
  if: '${pulumi.stack == "dev" ? fromJSON("{") : 1}'
  good: {fn::fromJSON: '{"a": 1}'}
`},
		"indexes of constants": {text: "variables: {deep: {a: [1]}}\noutputs:\n  a: ${deep.a[3]} #! Y300 index 3, list has " +
			"1 element\n" +
			"  b: ${[1, 2][4]} #! Y300 index 4, list has 2 elements\n  c: ${[1, 2][1]}\n"},
		"variables of the environment": {text: "pulumi: {allowEnv: [HOME], publicEnv: [LANG]}\noutputs:\n  a: {fn::env: " +
			"HOME}\n  b: {fn::env: LANG}\n" +
			"  c: {fn::env: HOMR} #! Y302 did you mean \"HOME\"?\n  d: {fn::env: OTHER} #! Y302 or run `yamlhost up --allow-env`\n"},
		"variables of the environment, all allowed": {text: "outputs: {a: {fn::env: OTHER}}\n",
			options: func(o *check.Options) { o.AllowEnv = true }},
		"paths out of the project": {text: "outputs:\n  a: {fn::readFile: ../x} #! Y306 \"../x\" is outside of the " +
			"project\n  b: {fn::readFile: sub/../x}\n  c: {fn::readFile: /etc/x}\n" +
			"  d: {fn::readFile: \"x://../../y\"} #! Y306 \"x://../../y\" is outside of the project\n",
			options: func(o *check.Options) { o.RestrictPaths, o.ProgramDir = true, "/some/where" }},
		"defaults of the shell": {text: "outputs:\n  a: ${region:-us} #! Y200 write the default in the declaration: " +
			"\"config: {region: {default: us}}\"\n"},
		"tags": {text: "outputs:\n  a: !GetAtt x.y #! Y115 write \"${resource.property}\"\n  b: !!str 5\n " +
			" c: !other [1] #! Y115 the tag \"!other\" has no effect\n"},
		"options": {text: `resources:
  n:
    type: random:RandomInteger
    properties:
      min: 1.5 #! Y212 expected integer, got 1.5
      max: 2.0
    options:
      ignoreChanges: seed #! Y107 is a list of strings
      replaceOnChanges: [sede] #! Y210 did you mean "seed"?
      hideDiffs: [nothing] #! Y210 there is no input "nothing"
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := checkText(t, "Main.yaml", c.text, func(o *check.Options) {
				o.Schemas = builtinLoader()
				if c.options != nil {
					c.options(o)
				}
			})
			expectFaults(t, c.text, diags)
		})
	}
}

// A stack key that nothing reads gives a warning if it resembles a declared key that the stack does not set.
func TestUnreadConfiguration(t *testing.T) {
	t.Parallel()
	src := diag.NewSource("Pulumi.dev.yaml", []byte("p:siez p:other"))
	_, found := checkText(t, "Main.yaml",
		"config: {size: {type: integer, default: 3}, other: {default: x}}\noutputs: {a: '${size}'}\n",
		func(o *check.Options) {
			o.ConfigKnown = true
			o.Config = map[string]check.ConfigText{"p:siez": {Text: "5", Key: diag.NewRange(src, 0, 6)},
				"p:other": {Text: "y", Key: diag.NewRange(src, 7, 14)},
				"p:size":  {Text: "3", Project: true}} // a default from the project file
		})
	require.Len(t, found, 1)
	require.Equal(t, "nothing reads the configuration p:siez", found[0].Summary)
	require.Equal(t, diag.Warning, found[0].Severity)
	require.Equal(t, "p:size", found[0].Fixes[0].Edits[0].Text)
}

// A placeholder or call in a file of the stack stays as it is, whatever it names; a text of several lines may be a
// script. A key in a namespace that is almost the project's is a warning beside the right one, too.
func TestLiteralConfiguration(t *testing.T) {
	t.Parallel()
	src := diag.NewSource("Pulumi.dev.yaml", []byte("shop:a shop:b shop:c shop:d shpo:a other:a shop:e pulumi:autonaming shop:f"))
	config := map[string]check.ConfigText{
		"shop:a":            {Text: "${TOKEN}", Key: diag.NewRange(src, 0, 6)},
		"shop:b":            {Text: "x-${a.b} $${c}", Key: diag.NewRange(src, 7, 13)},
		"shop:c":            {Text: "#!/bin/sh\necho ${HOME}", Key: diag.NewRange(src, 14, 20)},
		"shop:d":            {Text: "$${TOKEN} ${ x }", Key: diag.NewRange(src, 21, 27)},
		"shpo:a":            {Text: "1", Key: diag.NewRange(src, 28, 34)},
		"other:a":           {Text: "1", Key: diag.NewRange(src, 35, 42)},
		"shop:e":            {Text: `{"run":"#!/bin/sh\necho ${HOME}"}`, Structured: true, Key: diag.NewRange(src, 43, 49)},
		"pulumi:autonaming": {Text: `{"pattern":"${name}-${hex(4)}"}`, Structured: true, Key: diag.NewRange(src, 50, 67)},
		"shop:f":            {Text: `{"a":[{"fn::secret":"x"}]}`, Structured: true, Key: diag.NewRange(src, 68, 74)},
	}
	_, found := checkText(t, "Main.yaml", "config: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}, e: {type: object}, "+
		"f: {type: object}}\n",
		func(o *check.Options) { o.Project, o.ConfigKnown, o.Config = "shop", true, config })
	var told []string
	for _, d := range found {
		require.Equal(t, diag.Warning, d.Severity)
		told = append(told, d.Subject.Text()+": "+d.Summary)
	}
	require.ElementsMatch(t, []string{
		"shop:a: `${TOKEN}` in the configuration shop:a is plain text",
		"shop:b: `${a}` in the configuration shop:b is plain text",
		"shop:f: `fn::secret` in the configuration shop:f is plain data",
		"shpo:a: nothing reads the configuration shpo:a",
	}, told)
}
