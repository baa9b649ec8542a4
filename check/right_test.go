package check_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/schema"
)

// plainSchema describes a component with plain inputs at several depths.
const plainSchema = `{"name": "plain", "version": "1.0.0", "types": {
"plain:index:Tag": {"type": "object", "properties": {"key": {"type": "string"}, "value": {"type": "string"}}, "required": ["key", "value"]},
"plain:index:Spec": {"type": "object", "properties": {"replicas": {"type": "integer"}, "paused": {"type": "boolean"}}},
"plain:index:Container": {"type": "object", "properties": {
  "image": {"type": "string"}, "name": {"type": "string", "plain": true}}, "required": ["image"]},
"plain:index:Task": {"type": "object", "properties": {
  "container": {"$ref": "#/types/plain:index:Container", "plain": true},
  "sidecars": {"type": "array", "plain": true, "items": {"$ref": "#/types/plain:index:Container", "plain": true}}}}},
"functions": {"plain:index:get": {"inputs": {"properties": {"a": {"type": "string"}}}, "outputs": {"properties": {"b": {"type": "string"}}}}},
"resources": {"plain:index:Tagged": {"inputProperties": {
  "tags": {"type": "array", "items": {"$ref": "#/types/plain:index:Tag"}},
  "spec": {"$ref": "#/types/plain:index:Spec"}}, "properties": {"arn": {"type": "string"}}},
"plain:index:Group": {"inputProperties": {"resourceGroupName": {"type": "string"}}, "requiredInputs": ["resourceGroupName"]},
"plain:index:Service": {"isComponent": true, "inputProperties": {
  "task": {"$ref": "#/types/plain:index:Task", "plain": true},
  "tags": {"type": "object", "plain": true, "additionalProperties": {"type": "string"}},
  "names": {"type": "array", "plain": true, "items": {"type": "string", "plain": true}},
  "count": {"type": "integer", "plain": true}}}}}`

// wordsLoader loads the plain package and the built-in ones.
func wordsLoader() schema.Loader {
	others := builtinLoader()
	return loaderFunc(func(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
		if d.Name == "plain" {
			return plainLoader().Load(ctx, d)
		}
		return others.Load(ctx, d)
	})
}

type loaderFunc func(context.Context, schema.Descriptor) (*schema.Package, error)

func (f loaderFunc) Load(ctx context.Context, d schema.Descriptor) (*schema.Package, error) {
	return f(ctx, d)
}

func plainLoader() schema.Loader {
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.Name == "plain" {
			return []byte(plainSchema), nil
		}
		return readTestdata(d.PackageName())
	})
}

// Correct programs that a less exact checker would reject.
func TestRightPrograms(t *testing.T) {
	t.Parallel()
	const pet = "resources:\n  pet: {type: 'random:RandomPet'}\n"
	for name, c := range map[string]struct {
		text    string
		options func(*check.Options)
	}{
		// L8.18
		"inputs inside of plain objects": {text: pet + `  s:
    type: plain:Service
    properties:
      task: {container: {image: "${pet.id}", name: x}, sidecars: [{image: "${pet.id}"}]}
      tags: {owner: "${pet.id}"}
`},
		"plain objects by way of variables": {text: `variables:
  task: {container: {image: "${pet.id}"}}
  sizes: {known: 3, late: "${pet.length}"}
` + pet + `  s: {type: 'plain:Service', properties: {task: "${task}", count: "${sizes.known}"}}
`},
		// L2.35: without a stack, its configuration is unknown.
		"configuration of some stack": {text: "outputs:\n  a: ${region}\n  b: ${p:region}\n",
			options: func(o *check.Options) { o.StackKeys = []string{"p:region"} }},
		// L4.20
		"a provider for a package without a schema": {text: `resources:
  prov: {type: 'pulumi:providers:zoo'}
  a: {type: 'nosuch:Thing', options: {provider: "${prov}"}} #! Y204
`},
		// L8.D
		"items of several types": {text: `variables:
  arr: [[x, {foo: y}], z]
  v: {a: [x], n: null, "k-${pulumi.stack}": y}
  w: {"${pulumi.stack}": {deep: 1}}
outputs:
  a: ${arr[0][1].foo}
  b: ${v.a[0]}
  c: ${w.dev.deep}
  d: ${arr[1]}
`},
		"days": {text: "resources:\n  pet: {type: 'random:RandomPet', options: {customTimeouts: {create: 1d, delete: " +
			"1d12h}}}\n"},
		"a declaration without a type": {text: "config:\n  inputs: {}\n  other:\noutputs:\n  a: ${inputs}\n  b: ${other}\n",
			options: func(o *check.Options) {
				o.ConfigKnown = true
				o.Config = map[string]check.ConfigText{"p:inputs": {Text: `{"a":1}`, Structured: true}, "p:other": {Text: "x"}}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := checkText(t, "Main.yaml", c.text, func(o *check.Options) {
				o.Schemas = plainLoader()
				if c.options != nil {
					c.options(o)
				}
			})
			expectFaults(t, c.text, diags)
		})
	}
}

// Each mistake in these programs has a finding, and there are no others.
func TestWrongBesideRight(t *testing.T) {
	t.Parallel()
	const pet = "resources:\n  pet: {type: 'random:RandomPet'}\n"
	for name, text := range map[string]string{
		"plain members": pet + `  s:
    type: plain:Service
    properties:
      task: {container: {image: x, name: "${pet.id}"}} #! Y221 task.container.name
      names: ["${pet.id}"] #! Y221 names[0]
      tags: {"${pet.id}": x} #! Y221 tags
      count: ${sizes.late} #! Y221 count
variables:
  sizes: {known: 3, late: "${pet.length}"}
`,
		"items of several types": `variables:
  arr: [[x, {foo: y}], z]
outputs:
  a: ${arr[1].foo} #! Y216 arr[1] is a string
  b: ${arr[0][2]} #! Y300 index 2, list has 2 elements
  c: ${arr[0][1].bar} #! Y215 arr[0][1] has no member "bar"
`,
		"an escape in a list of arguments": `outputs:
  a:
    fn::regexReplace: ["\d+", "a1", "x"] #! Y101 there is no escape
  b: 5
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := checkText(t, "Main.yaml", text, func(o *check.Options) { o.Schemas = plainLoader() })
			expectFaults(t, text, diags)
		})
	}
}

// An undeclared name is an error. Without a stack, a full configuration key only gives a warning, since some stack may
// set it.
func TestUndeclaredWithoutStack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		stack    bool
		severity diag.Severity
		detail   string
	}{
		{"region", false, diag.Error, "declare it under variables, resources or config"},
		{"p:region", false, diag.Warning, "check with that stack: yamlhost check --stack NAME"},
		{"region", true, diag.Error, "set it for the stack: yamlhost config set region VALUE"},
		{"zonee", false, diag.Error, "did you mean `zone`?"},
	} {
		_, diags := checkText(t, "Main.yaml", "variables: {zone: 1}\noutputs: {a: '${"+c.name+"}'}\n",
			func(o *check.Options) { o.ConfigKnown = c.stack })
		require.Len(t, diags, 1)
		require.Equal(t, diag.Undeclared, diags[0].Code)
		require.Equal(t, c.severity, diags[0].Severity)
		require.Contains(t, diags[0].Detail, c.detail)
	}
}

// Terraform's form TYPE.NAME of a resource, `self` in a transform, and an undeclared name in a place for resources give
// one error each, with the correct form.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, summary, detail string }{
		{"resources: {pw: {type: zoo:Echo}}\noutputs: {a: '${random_password.pw.id}'}\n",
			"`random_password` is not declared", "a name is written without its type: write `${pw.id}`"},
		{"resources: {pw: {type: zoo:Echo, options: {dependsOn: ['${database}']}}}\n",
			"option dependsOn must be a resource, not the configuration value `database`", "declare the resource"},
		{"resources: {pw: {type: zoo:Echo, options: {parent: '${database}'}}}\n",
			"option parent must be a resource, not the configuration value `database`", "declare the resource"},
		{"resources:\n  pw:\n    type: zoo:Echo\n    options: {transforms: [{properties: {value: '${self.value}'}}]}\n",
			"`self` is not declared", "`${args.properties.NAME}`"},
	} {
		_, diags := checkText(t, "Main.yaml", c.text, func(o *check.Options) { o.StackKeys = []string{"p:database"} })
		diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Portability })
		require.Len(t, diags, 1, c.text)
		require.Equal(t, c.summary, diags[0].Summary)
		require.Contains(t, diags[0].Detail, c.detail)
		require.Equal(t, diag.Error, diags[0].Severity)
	}
}

// Mistakes that resemble something else have one finding each, at the right place.
func TestOneFindingForEach(t *testing.T) {
	t.Parallel()
	const pet = "resources:\n  pw: {type: 'random:RandomPet'}\n"
	for name, c := range map[string]struct {
		text, at, want string
		severity       diag.Severity
	}{
		"a call of a variable": {"variables: {m: {a: 1}}\noutputs: {x: '${m(a)}'}\n", "m", "${m.a}", diag.Error},
		"braces of others":     {pet + "outputs: {x: 'it is {{ pw.id }}'}\n", "{{ pw.id }}", "${pw.id}", diag.Warning},
		"capitals of a type": {"resources: {a: {type: 'random:randompet'}}\n", "'random:randompet'", "random:RandomPet",
			diag.Warning},
		"too many arguments":        {"variables: {x: {fn::join: [',', [a], b, c]}}\n", "b, c", "fn::join takes", diag.Error},
		"too many in an expression": {"variables: {x: '${upper(\"a\", \"b\")}'}\n", `"b"`, "takes", diag.Error},
		"a full key where a resource is wanted": {"name: p\n" + pet + "  b: {type: 'random:RandomPet', options: {dependsOn: " +
			"['${p:db}']}}\n", "p:db", "is not declared", diag.Error},
		"a full key as a value": {"name: p\noutputs: {x: '${p:db}'}\n", "p:db", "is not declared", diag.Warning},
		"a list where one secret is wanted": {"resources: {a: {type: 'plain:Tagged', properties: {spec: {replicas: " +
			"{fn::secret: [1]}}}}}\n", "[1]", "without the list", diag.Error},
		"a call beside another key": {"variables: {a: {b: 1, fn::toJSON: {c: 2}}}\n", "fn::toJSON", "the only key", diag.Error},
		"slashes in a type":         {"resources: {a: {type: random/RandomPet}}\n", "random/RandomPet", "`random:RandomPet`", diag.Error},
		"the beginning of a member": {"resources: {a: {type: 'plain:Tagged', properties: {spec: {repl: 1}}}}\n", "repl",
			"`replicas`", diag.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := checkText(t, "Main.yaml", c.text, func(o *check.Options) { o.Schemas = wordsLoader() })
			found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return d.Severity > diag.Warning })
			require.Len(t, found, 1)
			require.Equal(t, c.at, found[0].Subject.Text())
			require.Contains(t, found[0].Summary+"\n"+found[0].Detail, c.want)
			require.Equal(t, c.severity, found[0].Severity)
		})
	}
}

// Text in double braces that does not name a resource belongs to other tools.
func TestBracesOfOtherTools(t *testing.T) {
	t.Parallel()
	_, found := checkText(t, "Main.yaml", "variables: {name: x}\noutputs: {a: '{{ name }} {{ .Values.x }} {{ pw.id }}'}\n")
	require.Empty(t, found)
}
