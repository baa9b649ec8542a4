package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/check"
	"github.com/yamlhost/yamlhost/internal/diag"
)

// One mistake gives one finding. If the meaning is certain, its fix gives the correct program.
func TestOneMistakeOneFinding(t *testing.T) {
	t.Parallel()
	const pet = "resources:\n  pet:\n    type: random:RandomPet\n"
	for name, c := range map[string]struct {
		text, fixed string // fixed is empty if there is no fix
		code        diag.Code
		want        string
	}{
		"the field type": {"resources:\n  pet:\n    tpye: random:RandomPet\n    properties: {length: 3}\noutputs: {a: " +
			"'${pet.id}'}\n",
			"resources:\n  pet:\n    type: random:RandomPet\n    properties: {length: 3}\noutputs: {a: '${pet.id}'}\n",
			diag.UnknownKey, "did you mean `type`"},
		"the field properties": {"resources:\n  n: {type: 'random:RandomInteger', propeties: {min: 1, max: 2}}\n",
			"resources:\n  n: {type: 'random:RandomInteger', properties: {min: 1, max: 2}}\n", diag.UnknownKey,
			"did you mean `properties`"},
		"a section": {"resurces:\n  pet: {type: random:RandomPet}\noutputs: {a: '${pet.id}', b: '${pet.length}'}\n",
			"resources:\n  pet: {type: random:RandomPet}\noutputs: {a: '${pet.id}', b: '${pet.length}'}\n", diag.UnknownKey,
			"did you mean `resources`"},
		"a field in JSON": {`{"resources": {"pet": {"tpye": "random:RandomPet"}}}`,
			`{"resources": {"pet": {"type": "random:RandomPet"}}}`,
			diag.UnknownKey, "did you mean `type`"},
		"a required property by a part of its name": {"resources:\n  n: {type: 'random:RandomInteger', properties: " +
			"{minimum: 1, max: 2}}\n",
			"resources:\n  n: {type: 'random:RandomInteger', properties: {min: 1, max: 2}}\n", diag.UnknownProperty,
			"did you mean `min`?"},
		"a key of a call": {"outputs:\n  a: {fn::assertBool: {vallue: true}}\n", "", diag.UnknownFunction, ""},
		"a version that is none": {strings.TrimSuffix(pet, "\n") + "\n    options: {version: latest}\n", "", diag.Malformed,
			"looks like 1.2.3"},
		"swapped arguments of join": {"outputs:\n  a: {fn::join: [[a, b], ',']}\n",
			"outputs:\n  a: {fn::join: [',', [a, b]]}\n",
			diag.NotAssignable, "in the wrong order"},
		"swapped arguments of select": {"outputs:\n  a: {fn::select: [[a, b], 0]}\n",
			"outputs:\n  a: {fn::select: [0, [a, b]]}\n",
			diag.NotAssignable, "in the wrong order"},
		"an old spelling": {"outputs:\n  a: {Fn::ToBase64: x}\n", "outputs:\n  a: {fn::toBase64: x}\n", diag.Capitalisation,
			"write `Fn::ToBase64` as `fn::toBase64`"},
		"a function of CloudFormation": {"outputs:\n  a: {Fn::Sub: x}\n", "", diag.UnknownFunction,
			"a string needs no function: write `${name}`"},
		"a name in several sections": {"variables: {bukcet: 1}\noutputs: {a: '${bucket}', b: '${bucket}'}\n",
			"variables: {bucket: 1}\noutputs: {a: '${bucket}', b: '${bucket}'}\n", diag.Undeclared,
			"the declaration of `bukcet` looks misspelt"},
		"a use of a name": {"variables: {bucket: 1}\noutputs: {a: '${bukcet}', b: '${bucket}'}\n",
			"variables: {bucket: 1}\noutputs: {a: '${bucket}', b: '${bucket}'}\n", diag.Undeclared, "did you mean `bucket`?"},
		"a name that occurs elsewhere": {"variables: {bukcet: 1}\noutputs: {bucketName: '${bucket}'}\n",
			"variables: {bucket: 1}\noutputs: {bucketName: '${bucket}'}\n", diag.Undeclared, "looks misspelt"},
		"a name that nothing decides": {"variables: {bukcet: 1}\noutputs: {a: '${bucket}'}\n", "", diag.Undeclared,
			"did you mean `bukcet`? If not, its declaration is misspelt"},
		"a property beside the right one": {pet + "    properties: {length: 3, lenght: 4}\n", "", diag.UnknownProperty,
			"`length` is set already"},
		"a field beside the right one": {pet + "    tpye: random:RandomPet\n", "", diag.UnknownKey,
			"`type` is already given"},
		"words joined in another way": {"resources:\n  s: {type: 'random:RandomShuffle', properties: {inputs: [a], " +
			"result_count: 1}}\n",
			"resources:\n  s: {type: 'random:RandomShuffle', properties: {inputs: [a], resultCount: 1}}\n", diag.UnknownProperty,
			"did you mean `resultCount`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := checkText(t, "Main.yaml", c.text, func(o *check.Options) { o.Schemas = builtinLoader() })
			var kept diag.Diagnostics
			for _, d := range found {
				if d.Severity <= diag.Warning {
					kept.Add(d)
				}
			}
			require.Len(t, kept, 1, "%v", kept)
			require.Equal(t, c.code, kept[0].Code)
			require.Contains(t, kept[0].Summary+"\n"+kept[0].Detail, c.want)
			fixed, n := applied(c.text, kept)
			if c.fixed == "" {
				require.Zero(t, n, fixed)
				return
			}
			require.Equal(t, c.fixed, fixed)
		})
	}
}

// A document of another tool in the place of a program gives one finding, in every order of its keys.
func TestDocumentOfAnotherTool(t *testing.T) {
	t.Parallel()
	for want, keys := range map[string]string{ // the entries of the document, separated by semicolons
		"a Kubernetes manifest": "apiVersion: v1;kind: Service;metadata: {name: a};spec: {ports: [{port: 80}]}",
		"a template of CloudFormation": "AWSTemplateFormatVersion: '2010-09-09';Description: x;" +
			"Parameters: {Size: {Type: String}};Resources: {B: {Type: 'AWS::S3::Bucket', Properties: {BucketName: !Ref Size}}};" +
			"Outputs: {O: {Value: !GetAtt B.Arn}};Conditions: {C: !Equals [a, b]}",
		"a template of Azure Resource Manager": "$schema: 'https://schema.management.azure.com/x#';" +
			"contentVersion: 1.0.0.0;parameters: {a: {type: string}};variables: {v: \"[parameters('a')]\"};" +
			"resources: [{type: Microsoft.Storage/storageAccounts, name: s}];outputs: {o: {type: string, value: x}}",
		"a workflow of GitHub Actions": "name: ci;on: {push: {}};permissions: {contents: read};" +
			"jobs: {build: {runs-on: ubuntu-latest, steps: [{run: make, if: \"${{ github.event_name == 'push' }}\"}]}}",
		"a configuration of Terraform": "terraform: {};provider: {aws: {region: x}};resource: {aws_s3_bucket: {b: {}}};" +
			"output: {o: {value: '${aws_s3_bucket.b.arn}'}};locals: {a: 1}",
		"a file of Docker Compose": "version: '3.8';services: {web: {image: '${IMAGE}', ports: ['80:80']}};" +
			"volumes: {data: {}};networks: {n: {}};secrets: {s: {file: ./s}}",
		"an environment of Pulumi ESC": "imports: [base];values: {pulumiConfig: {a: '${b}'}}",
	} {
		rapid.Check(t, func(rt *rapid.T) {
			text := strings.Join(rapid.Permutation(strings.Split(keys, ";")).Draw(rt, "keys"), "\n") + "\n"
			_, found := checkText(t, "Main.yaml", text, func(o *check.Options) { o.Schemas = builtinLoader() })
			require.Len(rt, found, 1, "%s\n%v", text, found)
			require.Equal(rt, want+" is not a program", found[0].Summary)
		})
	}
}

// resourceGroup means resourceGroupName, the only missing required member.
func TestRequiredMemberByPart(t *testing.T) {
	t.Parallel()
	const text = "resources:\n  s: {type: 'plain:Group', properties: {resourceGroup: x}}\n  o: {type: 'plain:Group', " +
		"properties: {resourceGroup: [x]}}\n"
	_, found := checkText(t, "Main.yaml", text, func(o *check.Options) { o.Schemas = plainLoader() })
	require.Len(t, found, 3)
	require.Equal(t, "did you mean `resourceGroupName`?", found[0].Detail)
	fixed, _ := applied(text, found)
	require.Contains(t, fixed, "s: {type: 'plain:Group', properties: {resourceGroupName: x}}")
	require.Equal(t, diag.UnknownProperty, found[1].Code, "a list is not a name")
	require.Equal(t, diag.RequiredMissing, found[2].Code)
}

// Declarations that only the old section can hold give no warning.
func TestConfigurationOfFurtherTypes(t *testing.T) {
	t.Parallel()
	for declaration, warned := range map[string]bool{"{type: 'list<string>'}": true, "{type: object}": true, "{}": true,
		"{type: any}": false, "{type: 'list<string?>'}": false, "{type: 'map<string>'}": false} {
		_, found := checkText(t, "Main.yaml", "configuration: {x: "+declaration+", y: 1}\n",
			func(o *check.Options) { o.Schemas = nil })
		require.Equal(t, warned, slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == diag.Deprecated }),
			"%s: %v", declaration, found)
	}
}

// All uses of one old spelling give one warning, and its fix corrects them all.
func TestOldSpellingsAreFolded(t *testing.T) {
	t.Parallel()
	const text = `configuration: {x: 1}
variables:
  a: {Fn::ToBase64: x}
  b: {Fn::ToBase64: y}
  c: {Fn::Invoke: {Function: 'zoo:echo', Arguments: {}, Return: result, Options: {Version: 1.2.3}}}
  d: {Fn::Invoke: {Function: 'zoo:echo', Return: result}}
`
	_, found := checkText(t, "Main.yaml", text, func(o *check.Options) { o.Schemas = nil })
	folded := diag.Folded(found)
	var lines []string
	for _, d := range folded {
		lines = append(lines, d.Summary)
	}
	require.ElementsMatch(t, []string{"`configuration` is deprecated: write `config`",
		"write `Fn::ToBase64` as `fn::toBase64`",
		"write `Fn::Invoke` as `fn::invoke`", "write `Function` as `function`", "write `Arguments` as `arguments`",
		"write `Return` as `return`", "write `Version` as `version`", "write `Options` as `options`"}, lines)
	fixed, _ := applied(text, folded)
	require.Equal(t, `config: {x: 1}
variables:
  a: {fn::toBase64: x}
  b: {fn::toBase64: y}
  c: {fn::invoke: {function: 'zoo:echo', arguments: {}, return: result, options: {version: 1.2.3}}}
  d: {fn::invoke: {function: 'zoo:echo', return: result}}
`, fixed)
}
