package policy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/builtins"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/internal/value/urn"
	"github.com/yamlhost/yamlhost/langhost/policy"
	"github.com/yamlhost/yamlhost/runtime/analyzer"
	"github.com/yamlhost/yamlhost/schema"
)

const boxSchema = `{"name": "box", "version": "1.0.0", "resources": {
	"box:index:Box": {"inputProperties": {"size": {"type": "integer"}, "tags": {"type": "object", "additionalProperties":
	{"type": "string"}}, "pin": {"type": "string"}}, "properties": {"size": {"type": "integer"}, "url": {"type": "string"}}},
	"box:index:Lid": {"inputProperties": {"size": {"type": "string"}}}}}`

func open(t testing.TB, policies string) (*policy.Pack, diag.Diagnostics) {
	t.Helper()
	return openWithin(t, policies, builtins.Limits{})
}

// testingT is a test or a check of one.
type testingT interface {
	require.TestingT
	Helper()
}

func openWithin(t testing.TB, policies string, limits builtins.Limits) (*policy.Pack, diag.Diagnostics) {
	t.Helper()
	return openText(t, "policies:\n"+policies, limits)
}

// openText opens a pack with the given sections besides its name.
func openText(t testingT, sections string, limits builtins.Limits) (*policy.Pack, diag.Diagnostics) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pack")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	text := "name: rules\nversion: 1.0.0\nruntime: yaml\n" + sections
	require.NoError(t, os.WriteFile(filepath.Join(dir, "PulumiPolicy.yaml"), []byte(text), 0o644))
	schemas := schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.Name != "box" {
			return nil, schema.ErrNotFound
		}
		return []byte(boxSchema), nil
	})
	pack, found, err := policy.Open(context.Background(), dir, policy.Options{Shown: filepath.Base, Limits: limits,
		Schemas: func() (schema.Loader, func() bool) { return schemas, func() bool { return false } }})
	require.NoError(t, err)
	return pack, found
}

func box(name string, properties value.Value) analyzer.Resource {
	return analyzer.Resource{Reference: analyzer.Reference{URN: urn.URN("urn:pulumi:dev::p::box:index:Box::" + name),
		Type: "box:index:Box", Name: name, Properties: properties}, Provider: &analyzer.Reference{Name: "default"}}
}

func props(entries ...value.Entry) value.Value { return value.MapOf(entries...) }

// TestAnalyze applies single policies to a box.
func TestAnalyze(t *testing.T) {
	t.Parallel()
	size := func(n int) value.Entry { return value.Entry{Key: "size", Value: value.Int(n)} }
	pin := value.Entry{Key: "pin", Value: value.String("sesame-opens").Secret()}
	unknown := value.Entry{Key: "size", Value: value.Unknown(value.KindNumber)}
	for name, c := range map[string]struct {
		policy string
		inputs value.Value
		want   string // messages, one per line
	}{
		"a condition and a text":   {"when: '${resource.size > 1}', violation: 'too ${args.name}'", props(size(2)), "too big"},
		"a condition that is not":  {"when: '${resource.size > 1}', violation: 'too big'", props(size(1)), ""},
		"null":                     {"violation: '${resource.size > 1 ? \"big\" : null}'", props(size(1)), ""},
		"several":                  {"violation: [one, '${resource.size > 1 ? \"two\" : null}']", props(size(2)), "one\ntwo"},
		"a list":                   {"violation: '${[for k in [\"a\", \"b\"] : k if resource.tags[k] == null]}'", props(), "a\nb"},
		"what is not there":        {"when: '${!resource.tags.team}', violation: no team", props(), "no team"},
		"and what is behind it":    {"when: '${resource.tags.team == null}', violation: no team", props(), "no team"},
		"an unknown":               {"when: '${resource.size > 1}', violation: x", props(unknown), "not decided"},
		"a secret is masked":       {"violation: 'the pin is ${resource.pin}'", props(pin), "the pin is [secret]"},
		"what is made of a secret": {"violation: '${upper(resource.pin)}'", props(pin), "[secret]"},
		"a condition on a secret": {"violation: '${resource.pin == \"sesame-opens\" ? \"well known\" : null}'", props(pin),
			"well known"},
		"another name":   {"match: {name: small*}, violation: x", props(), ""},
		"another type":   {"match: {type: 'box:index:Lid'}, violation: x", props(), ""},
		"a short type":   {"match: {type: 'box:B*'}, violation: x", props(), "x"},
		"configuration":  {"config: {most: {type: integer, default: 1}}, when: '${resource.size > config.most}', violation: x", props(size(2)), "x"},
		"the stack":      {"violation: '${pulumi.stack} ${pulumi.config[\"p:k\"]} ${pulumi.dryRun}'", props(), "dev v true"},
		"a part unknown": {"violation: ['${resource.size > 1 ? \"a\" : null}', b]", props(unknown), "not decided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pack, found := open(t, "  one: {"+c.policy+"}\n")
			require.NotNil(t, pack, fmt.Sprint(found))
			require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{Project: "p", Stack: "dev", DryRun: true,
				Config: map[string]string{"p:k": "v"}}))
			list, err := pack.Analyze(t.Context(), box("big", c.inputs))
			require.NoError(t, err)
			var texts []string
			for _, v := range list {
				text := v.Message
				if strings.HasPrefix(text, "not decided") {
					text = "not decided"
				}
				texts = append(texts, text)
			}
			require.Equal(t, c.want, strings.Join(texts, "\n"))
		})
	}
}

// An unknown value in an update is an error: the policy does not pass.
func TestUpdateDecides(t *testing.T) {
	t.Parallel()
	pack, _ := open(t, "  one: {when: '${resource.size > 1}', violation: x}\n")
	require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{}))
	_, err := pack.Analyze(t.Context(), box("b", props(value.Entry{Key: "size", Value: value.Unknown(value.KindNumber)})))
	require.ErrorContains(t, err, "not known in the update either")
}

// A pack has one budget, to which each question about a resource adds.
func TestBudget(t *testing.T) {
	t.Parallel()
	const loop = "violation: '${length([for i in range(%d) : i + 1]) < 0 ? \"x\" : null}'}\n"
	for _, c := range []struct {
		items int
		want  string
	}{{20, ""}, {90, "PulumiPolicy.yaml:5:52: evaluating the program takes more than 200 steps"}} {
		text := fmt.Sprintf("  one: {"+loop+"  two: {"+loop, c.items, c.items)
		pack, found := openWithin(t, text, builtins.Limits{Steps: 100, PerResource: 100})
		require.NotNil(t, pack, fmt.Sprint(found))
		require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{}))
		_, err := pack.Analyze(t.Context(), box("b", props()))
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

// TestRemediate applies remedies to inputs, one after the other.
func TestRemediate(t *testing.T) {
	t.Parallel()
	pack, found := open(t, "  tag: {enforcement: remediate, remedy: {tags: {team: a}}}\n"+
		"  cut: {enforcement: remediate, when: '${resource.tags.team == \"a\"}', violation: x, remedy: {size: 2, pin: null}}\n"+
		"  off: {enforcement: advisory, remedy: {size: 9}}\n")
	require.NotNil(t, pack, fmt.Sprint(found))
	require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{}))
	list, err := pack.Remediate(t.Context(), box("b", props(value.Entry{Key: "pin", Value: value.String("1")})))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, `{"size":2,"tags":{"team":"a"}}`, jsonOf(t, list[1].Properties))

	pack, found = open(t, "  odd: {enforcement: remediate, remedy: '${args.properties.pin}'}\n")
	require.NotNil(t, pack, fmt.Sprint(found))
	require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{}))
	_, err = pack.Remediate(t.Context(), box("b", props(value.Entry{Key: "pin", Value: value.String("1")})))
	require.ErrorContains(t, err, "the properties of a remedy must be a map, not a string")
}

func jsonOf(t *testing.T, v value.Value) string {
	t.Helper()
	text, err := value.AppendJSON(nil, v)
	require.NoError(t, err)
	return string(text)
}

// TestAnalyzeStack applies policies about outputs and policies about all resources.
func TestAnalyzeStack(t *testing.T) {
	t.Parallel()
	pack, found := open(t, "  few: {stack: true, match: {type: 'box:index:Box'}, when: '${length(resources) > 1}', violation: "+
		"'${[for r in resources : {message = \"extra ${r.name}\", urn = r.urn} if r.name != \"a\"]}'}\n"+
		"  url: {after: true, match: {type: 'box:index:Box'}, when: '${resource.url == \"x\"}', violation: bad url}\n")
	require.NotNil(t, pack, fmt.Sprint(found))
	require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{DryRun: true}))
	list, err := pack.AnalyzeStack(t.Context(), []analyzer.Resource{
		box("a", props(value.Entry{Key: "url", Value: value.String("x")})), box("b", props())})
	require.NoError(t, err)
	var texts []string
	for _, v := range list {
		texts = append(texts, v.URN.Name()+": "+v.Message)
	}
	require.Len(t, texts, 3, texts)
	require.Equal(t, "a: bad url", texts[0])
	require.Contains(t, texts[1], "b: not decided in this preview")
	require.Equal(t, "b: extra b", texts[2])
}

// Policies about destroyed resources apply to these only, and other policies do not apply to them.
func TestAnalyzeDestroy(t *testing.T) {
	t.Parallel()
	pack, found := open(t, "  keep: {destroy: true, match: {type: 'box:index:Box'}, when: '${resource.size > 1}', violation: "+
		"'${args.operation} of ${args.name}'}\n  other: {violation: x}\n")
	require.NotNil(t, pack, fmt.Sprint(found))
	require.Equal(t, "keep", pack.Destroys())
	require.NoError(t, pack.ConfigureStack(t.Context(), analyzer.Stack{}))
	large := box("a", props(value.Entry{Key: "size", Value: value.Int(2)}))
	list, err := pack.AnalyzeDestroy(t.Context(), large, analyzer.Replacement)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "replace of a", list[0].Message)
	list, err = pack.AnalyzeDestroy(t.Context(), box("b", props(value.Entry{Key: "size", Value: value.Int(1)})), analyzer.Deletion)
	require.NoError(t, err)
	require.Empty(t, list)
	list, err = pack.Analyze(t.Context(), large)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "other", list[0].Policy)
}

// TestConfigure refuses configuration that does not fit.
func TestConfigure(t *testing.T) {
	t.Parallel()
	const declared = "  one: {violation: x, config: {names: {type: list<string>, minItems: 1}, kind: {type: string, enum: [a], " +
		"optional: true}}}\n"
	for text, want := range map[string]string{
		`{"names": ["a"]}`:              "",
		`{}`:                            "one: names is required",
		`{"names": []}`:                 "names must have at least 1 items",
		`{"names": "a"}`:                "names must be of type array",
		`{"names": [1]}`:                "names has a value that must be of type string",
		`{"names": ["a"], "kind": "b"}`: "kind is none of the allowed values",
		`{"names": ["a"], "kin": "a"}`:  "kin is no configuration value",
	} {
		pack, found := open(t, declared)
		require.NotNil(t, pack, fmt.Sprint(found))
		properties, err := value.FromJSON(text)
		require.NoError(t, err)
		err = pack.Configure(t.Context(), map[string]analyzer.Config{"one": {Level: analyzer.Mandatory, Properties: properties}})
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}

// TestWrongPacks opens packs that must be refused.
func TestWrongPacks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"  one: {}\n":                                                                   "the policy `one` has no message",
		"  one: {violation: ''}\n":                                                      "is empty",
		"  one: {violation: true}\n":                                                    "`violation` must be a text",
		"  one: {violation: '${1 > 2}'}\n":                                              "a violation must be a text",
		"  all: {violation: x}\n":                                                       "cannot be called `all`",
		"  one: {violation: x, when: 1}\n":                                              "`when`",
		"  one: {violation: '${nothing}'}\n":                                            "`nothing` is not declared",
		"  one: {violation: x, levl: mandatory}\n":                                      "levl",
		"  one: {violation: x, stack: true, remedy: {a: 1}}\n":                          "a policy with `stack` has no `remedy`",
		"  one: {violation: x, destroy: true, remedy: {a: 1}}\n":                        "a policy with `destroy` has no `remedy`",
		"  one: {violation: x, destroy: true, after: true}\n":                           "a policy with `destroy` has no `after`",
		"  one: {violation: '${args.operation}'}\n":                                     "operation",
		"  one: {violation: x, enforcement: remediate}\n":                               "has no remedy",
		"  one: {violation: x, match: {type: 'box:index:Bax'}}\n":                       "box:index:Bax",
		"  one: {violation: x, match: {type: 'box:c*'}}\n":                              "no resource type of the package box matches",
		"  one: {violation: '${resource.sise}', match: {type: 'box:index:Box'}}\n":      "has no member `sise`",
		"  one: {violation: '${resource.sise}', match: {type: 'box:*'}}\n":              "has no member `sise`",
		"  one: {remedy: {size: many}, match: {type: 'box:index:Box'}}\n":               "size",
		"  one: {violation: x, config: {n: {type: integer, default: 1, minimum: 2}}}\n": "its default must be at least 2",
	} {
		pack, found := open(t, text)
		require.Nil(t, pack, text)
		require.Contains(t, strings.ReplaceAll(fmt.Sprint(found), "\\", ""), want, text)
	}
}

// TestPacksCallNothing draws calls of providers, methods and other stacks in each place of a pack that an expression may
// be in. The pack is refused, and nothing is evaluated.
func TestPacksCallNothing(t *testing.T) {
	t.Parallel()
	calls := []string{"{fn::invoke: {function: 'box:index:find', arguments: {}, return: a}}",
		"{fn::invoke: {function: 'command:local:run', arguments: {command: ls}}}", "{fn::box:index:find: {}}",
		"{fn::stackReference: [other, a]}", "{fn::call: {resource: '${resource}', method: m}}",
		`'${invoke("box:index:find", {})}'`, `'${stackReference("other", "a")}'`}
	around := []string{"%s", "{fn::toJSON: %s}", "[a, %s]", "{k: %s}", "{fn::secret: {k: [%s]}}"}
	places := []string{
		"variables: {v: %s}\npolicies: {one: {violation: x}}\n",
		"variables: {v: '${w}', w: %s}\npolicies: {one: {violation: '${v}'}}\n",
		"policies: {one: {violation: %s}}\n", "policies: {one: {violation: x, when: %s}}\n",
		"policies: {one: {violation: x, remedy: {size: %s}, enforcement: remediate}}\n",
		"policies: {one: {violation: x, stack: true, when: %s}}\n",
		"policies: {one: {violation: x, config: {c: {default: %s}}}}\n",
		"pulumi: {requiredVersion: %s}\npolicies: {one: {violation: x}}\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		written := rapid.SampledFrom(calls).Draw(t, "call")
		for range rapid.IntRange(0, 2).Draw(t, "depth") {
			written = fmt.Sprintf(rapid.SampledFrom(around).Draw(t, "around"), written)
		}
		pack, found := openText(t, fmt.Sprintf(rapid.SampledFrom(places).Draw(t, "place"), written), builtins.Limits{})
		require.Nil(t, pack)
		require.True(t, found.HasErrors(), fmt.Sprint(found))
	})
}
