package convert_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/cmd/internal/convert"
	"github.com/yamlhost/yamlhost/eval"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/runtime/monitor"
	"github.com/yamlhost/yamlhost/runtime/monitor/monitortest"
	"github.com/yamlhost/yamlhost/schema"
)

// oddTexts generates texts of the characters that mean something in a program.
func oddTexts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pieces := []string{"$", "$$", "${", "${web}", "}", "%{", "{", `"`, `\`, "'", " ", "\n", ": ", "#", "fn::", "x", "name", "yes",
			"1", "-", "[", "\t", "é", "😀", "<<", "|", "!", "\u0085", "\u2028", "\ufeff", "\x7f", "🏴\U000e0067"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "text"), "")
	})
}

// oddValues generates data of odd texts, at most depth deep.
func oddValues(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 0:
			return rapid.Bool().Draw(t, "bool")
		case kind == 1 && depth > 0:
			return rapid.SliceOfN(oddValues(depth-1), 1, 3).Draw(t, "list")
		case kind == 2 && depth > 0:
			return rapid.MapOfN(oddTexts(), oddValues(depth-1), 1, 3).Draw(t, "map")
		}
		return oddTexts().Draw(t, "text")
	})
}

// What a program gives to a provider is what the manifest says, whatever its texts and keys are.
func TestTextsOfManifests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		objects := []map[string]any{
			{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": oddValues(2).Draw(t, "data")},
			{"apiVersion": "example.com/v1", "kind": "Odd", "metadata": map[string]any{"name": "odd"},
				"spec": oddValues(2).Draw(t, "spec")},
		}
		list := map[string]any{"apiVersion": "v1", "kind": "List", "items": objects}
		text, err := json.Marshal(list)
		require.NoError(t, err)
		if rapid.Bool().Draw(t, "yaml") && !bytes.Contains(text, []byte("<<")) { // which the YAML library does not quote
			blocks, err := yaml.Marshal(list)
			require.NoError(t, err)
			if read, err := manifests(blocks); err == nil { // it does not read all that it writes
				text, objects = blocks, read
			}
		}
		requireSame(t, text, anySchema(objects), objects)
	})
}

const thingSchema = `{"name": "aws-native", "version": "1.0.0", "resources": {"aws-native:test:Thing": {
  "properties": {"value": {"$ref": "pulumi.json#/Any"}}, "inputProperties": {"value": {"$ref": "pulumi.json#/Any"}}}},
  "functions": {}}`

// templated is a value in a template and what CloudFormation makes of it.
type templated struct{ node, want any }

// templatedTexts generates values with functions of CloudFormation; Ref: P gives parameter.
func templatedTexts(parameter string) *rapid.Generator[templated] {
	text := rapid.Custom(func(t *rapid.T) templated {
		text := oddTexts().Draw(t, "literal")
		return templated{text, text}
	})
	sub := rapid.Custom(func(t *rapid.T) templated {
		written, want := "", ""
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			part := oddTexts().Draw(t, "part")
			if rapid.Bool().Draw(t, "reference") {
				written, want = written+"${P}", want+parameter
				continue
			}
			if strings.HasSuffix(part, "$") || slices.ContainsFunc(strings.Split(part, "${")[1:], func(rest string) bool {
				return !strings.Contains(rest, "}")
			}) {
				continue // has, or makes with the next part, a brace that closes more than one
			}
			written, want = written+strings.ReplaceAll(part, "${", "${!"), want+part
		}
		return templated{map[string]any{"Fn::Sub": written}, want}
	})
	simple := rapid.OneOf(text, sub, rapid.Just(templated{map[string]any{"Ref": "P"}, parameter}))
	return rapid.OneOf(simple, rapid.Custom(func(t *rapid.T) templated {
		delimiter := oddTexts().Draw(t, "delimiter")
		var nodes []any
		var wants []string
		for _, item := range rapid.SliceOfN(simple, 1, 3).Draw(t, "items") {
			nodes, wants = append(nodes, item.node), append(wants, item.want.(string))
		}
		return templated{map[string]any{"Fn::Join": []any{delimiter, nodes}}, strings.Join(wants, delimiter)}
	}), rapid.Custom(func(t *rapid.T) templated {
		of := simple.Draw(t, "of")
		return templated{map[string]any{"Fn::Base64": of.node}, base64.StdEncoding.EncodeToString([]byte(of.want.(string)))}
	}), rapid.Custom(func(t *rapid.T) templated {
		then := simple.Draw(t, "then")
		node := any(map[string]any{"Fn::If": []any{"Always", then.node, map[string]any{"Ref": "AWS::NoValue"}}})
		return templated{[]any{node, "last"}, []any{then.want, "last"}}
	}), rapid.Custom(func(t *rapid.T) templated {
		data := oddValues(2).Filter(func(v any) bool { return !calls(v) }).Draw(t, "data")
		return templated{data, data}
	}))
}

// calls reports whether data has a key that begins with fn::, which CloudFormation takes for a function of its own.
func calls(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if calls(item) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if strings.HasPrefix(strings.ToLower(key), "fn::") || calls(item) {
				return true
			}
		}
	}
	return false
}

// What a program gives to a provider is what CloudFormation makes of the template.
func TestTextsOfTemplates(t *testing.T) {
	t.Parallel()
	loader := schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) { return []byte(thingSchema), nil })
	loaded, err := loader.Load(t.Context(), schema.Descriptor{Name: "aws-native"})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		parameter := oddTexts().Filter(func(text string) bool { return text != "" }).Draw(t, "parameter")
		drawn := templatedTexts(parameter).Draw(t, "value")
		text, err := json.Marshal(map[string]any{
			"Parameters": map[string]any{"P": map[string]any{"Type": "String", "Default": parameter, "Description": parameter,
				"AllowedValues": []any{parameter}}},
			"Conditions": map[string]any{"Always": map[string]any{"Fn::Equals": []any{map[string]any{"Ref": "P"}, parameter}}},
			"Resources": map[string]any{"R": map[string]any{"Type": "AWS::Test::Thing",
				"Properties": map[string]any{"Value": drawn.node}}}})
		require.NoError(t, err)
		program, diags := convert.CloudFormation(diag.NewSource("t.json", text), convert.Options{Name: "converted",
			Schema: func(string) *schema.Package { return loaded }})
		require.Empty(t, diags)
		content, err := program.Text()
		require.NoError(t, err)
		file, found := parser.Parse(diag.NewSource("Pulumi.yaml", content), parser.Options{Project: true})
		require.False(t, found.HasErrors(), "%v\n%s", found, content)
		checked, found := check.Check(context.Background(), file, check.Options{Project: "converted", ConfigKnown: true,
			Schemas: loader})
		require.False(t, found.HasErrors(), "%v\n%s", found, content)
		recorder := &monitortest.Recorder{Deployment: monitor.Info{Project: "converted", Stack: "dev"}}
		_, found = eval.Run(context.Background(), checked, recorder, eval.Options{Workers: 1})
		require.False(t, found.HasErrors(), "%v\n%s", found, content)
		for _, request := range recorder.Requests() {
			if r, ok := request.(monitor.RegisterRequest); ok && strings.HasPrefix(string(r.Type), "aws-native:") {
				got, err := value.AppendJSON(nil, r.Inputs.Get("value"))
				require.NoError(t, err)
				want, err := json.Marshal(drawn.want)
				require.NoError(t, err)
				require.JSONEq(t, string(want), string(got), "%s", content)
			}
		}
	})
}

// Blanks in `${!name}` of Fn::Sub belong to the text that it stands for.
func TestBlanksOfLiteralsInSub(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"${!a}", "${! }", "${! a }", "${!}"} {
		program, diags := convertText("cloudformation", "t.yaml",
			"Resources: {R: {Type: AWS::SQS::Queue, Properties: {QueueName: {Fn::Sub: '"+text+"'}}}}\n")
		require.Empty(t, diags)
		content, err := program.Text()
		require.NoError(t, err)
		require.Contains(t, string(content), "queueName: $"+strings.Replace(text, "!", "", 1)+"\n")
	}
}

// Objects in JSON have the lines of the text, whatever must be escaped in it, or need not be, for the YAML parser.
func TestLinesOfJSON(t *testing.T) {
	t.Parallel()
	for pairs := range 4 {
		for breaks := range 8 {
			program, diags := convertText("kubernetes", "list.json", `{"apiVersion": "v1", "kind": "List", "items": [`+
				"\n"+`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "`+
				strings.Repeat(`\ud83d\ude00`, pairs)+"\"}},\n"+
				`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"k": "`+
				strings.Repeat("\u0085", breaks)+"\"}}]}\n")
			require.Empty(t, diags)
			require.Len(t, program.Items, 2)
			require.Equal(t, []int{2, 3}, []int{program.Items[0].Line, program.Items[1].Line}, "%d %d", pairs, breaks)
		}
	}
}

// An object that cannot be passed on counts as left out, and no group of nothing remains.
func TestObjectsWithoutABodyAreLeftOut(t *testing.T) {
	t.Parallel()
	program, diags := convertText("kubernetes", "odd.yaml", "apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: odd}\n"+
		"spec: {size: 1}\n")
	require.Empty(t, diags)
	content, err := program.Text()
	require.NoError(t, err)
	src := diag.NewSource("Pulumi.yaml", content)
	at := bytes.Index(content, []byte("size"))
	require.True(t, program.Repair(diag.Diagnostic{Summary: "it is odd", Subject: diag.NewRange(src, at, at+1)}))
	content, err = program.Text()
	require.NoError(t, err)
	require.Empty(t, program.Items[0].As)
	require.NotContains(t, string(content), "ConfigGroup")
	require.Contains(t, string(content), "#     spec: {size: 1}")
}
