package convert_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/yamlhost/yamlhost/cmd/internal/convert"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/parser"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func convertText(kind, name, text string) (*convert.Program, diag.Diagnostics) {
	src := diag.NewSource(name, []byte(text))
	if kind == "kubernetes" {
		return convert.Kubernetes([]*diag.Source{src}, convert.Options{Name: "converted"})
	}
	return convert.CloudFormation(src, convert.Options{Name: "converted"})
}

// Each input in testdata converts to the program beside it with the expected remarks, and the program parses.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"kubernetes", "cloudformation"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", kind+".yaml"))
			require.NoError(t, err)
			program, diags := convertText(kind, kind+".yaml", string(text))
			require.Empty(t, diags)
			content, err := program.Text()
			require.NoError(t, err)
			_, found := parser.Parse(diag.NewSource("Pulumi.yaml", content), parser.Options{})
			require.False(t, found.HasErrors(), "%v", found)
			var b strings.Builder
			b.Write(content)
			b.WriteString("---\n")
			for _, item := range program.Items {
				fmt.Fprintf(&b, "# %s:%d %s %s -> %q\n", item.File, item.Line, item.Kind, item.Name, item.As)
				for _, remark := range item.Remarks {
					fmt.Fprintf(&b, "#   %s\n", remark)
				}
			}
			golden := filepath.Join("testdata", kind+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
			require.NotContains(t, string(content), "aHVzaA==")
			require.NotContains(t, string(content), "hush")
		})
	}
}

// A bad input gets a finding with its place.
func TestBadInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, text, place, summary string }{
		{"cut off", "kubernetes", "apiVersion: v1\nkind: Pod\nmetadata: {name: a", "bad.yaml:", "not YAML or JSON"},
		{"template of Helm", "kubernetes", "{{- if .Values.on }}\napiVersion: v1\n{{- end }}\n", "bad.yaml:",
			"not YAML or JSON"},
		{"no resources", "cloudformation", "Description: x\n", "bad.yaml:1", "it has no Resources"},
		{"empty resources", "cloudformation", "Resources: {}\n", "bad.yaml:1", "it has no Resources"},
		{"a list of outputs", "cloudformation", "Resources: {A: {Type: 'AWS::SQS::Queue'}}\nOutputs: [A]\n", "bad.yaml:2",
			"Outputs is not a map"},
		{"empty", "cloudformation", "", "bad.yaml:1", "the file is empty"},
		{"version", "cloudformation", "AWSTemplateFormatVersion: '2030-01-01'\nResources: {}\n", "bad.yaml:1",
			"the version 2030-01-01"},
		{"cycle", "cloudformation", "Resources:\n  A:\n    Type: AWS::SQS::Queue\n    DependsOn: B\n  B:\n    " +
			"Type: AWS::SQS::Queue\n    Properties: {QueueName: !Ref A}\n", "bad.yaml:2", "A -> B -> A"},
		{"runaway", "kubernetes", "a: &a [1]\nb: *a\nc: &c [*c]\n", "bad.yaml:3", "more than 500 lists and maps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, diags := convertText(c.kind, "bad.yaml", c.text)
			require.Len(t, diags, 1)
			pos := diags[0].Subject.StartPosition()
			require.Contains(t, fmt.Sprintf("bad.yaml:%d", pos.Line), c.place)
			require.Contains(t, diags[0].Summary, c.summary)
			require.NotEmpty(t, diags[0].Detail)
		})
	}
}

// Each file of a nested template becomes one component, with the parameters as inputs and the outputs as outputs.
func TestNestedTemplates(t *testing.T) {
	t.Parallel()
	const network = `Parameters:
  Cidr: {Type: String, MinLength: 9}
  Zones: {Type: CommaDelimitedList}
  Count: {Type: Number}
  Token: {Type: String, NoEcho: true, Default: hush}
Resources:
  Vpc: {Type: 'AWS::EC2::VPC', Properties: {CidrBlock: !Ref Cidr, InstanceTenancy: !GetAtt Custom.Value}}
  Custom: {Type: 'Custom::Thing'}
  Queue: {Type: 'AWS::SQS::Queue', Properties: {QueueName: !Sub '${AWS::StackName}-jobs'}}
Outputs:
  VpcId: {Value: !Ref Vpc}
`
	files := map[string]string{"nets/network.yaml": network, "loop.yaml": `Resources:
  Main: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: main.yaml}}
`, "broken.yaml": "Resources: [\n"}
	nest := func(main string) (*convert.Program, diag.Diagnostics) {
		return convert.CloudFormation(diag.NewSource("main.yaml", []byte(main)), convert.Options{Name: "converted",
			Template: func(parent, path string) (*diag.Source, error) {
				file := filepath.Join(filepath.Dir(parent), path)
				if text, has := files[file]; has {
					return diag.NewSource(file, []byte(text)), nil
				} else if file == "main.yaml" {
					return diag.NewSource(file, []byte(main)), nil
				}
				return nil, fs.ErrNotExist
			}})
	}
	program, diags := nest(`Resources:
  One:
    Type: AWS::CloudFormation::Stack
    Properties:
      TemplateURL: nets/network.yaml
      TimeoutInMinutes: 5
      Parameters: {Cidr: 10.0.0.0/16, Zones: !Sub '${AWS::Region}a,${AWS::Region}b', Wrong: x, Count: '2'}
  Three:
    Type: AWS::CloudFormation::Stack
    Properties:
      TemplateURL: nets/network.yaml
      Parameters: {Cidr: 10.0.0.0/16, Zones: !Join [',', [a, b]], Count: 2}
  Two:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: nets/network.yaml, Parameters: {Cidr: !GetAtt One.Outputs.VpcId, Zones: 'a, b', Count: 3}}
  Far: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: 'https://s3.amazonaws.com/b/t.yaml'}}
Outputs:
  Vpc: {Value: !GetAtt [Two, Outputs.VpcId]}
  Name: {Value: !Ref 'AWS::StackName'}
  Arn: {Value: !Ref One}
`)
	require.Empty(t, diags)
	content, err := program.Text()
	require.NoError(t, err)
	file, found := parser.Parse(diag.NewSource("Pulumi.yaml", content), parser.Options{})
	require.False(t, found.HasErrors(), "%v\n%s", found, content)
	require.Len(t, file.Components, 1)
	for _, part := range []string{"type: components:Network", "cidr: ${one.VpcId}", "count: 2\n", "        - b\n", `zones: ${split(",", "${awsRegion}a,${awsRegion}b")}`,
		"queueName: ${stackName}-jobs", "stackName: ${pulumi.stack}-One", "stackName: ${pulumi.stack}-Two", "Name: ${pulumi.stack}",
		"customValue: ${oneCustomValue}", "token: ${oneToken}", "VpcId: ${vpc.id}", "Vpc: ${two.VpcId}", "type: aws-native:cloudformation:Stack"} {
		require.Contains(t, string(content), part)
	}
	require.Equal(t, []string{"oneToken", "threeToken", "twoToken"}, program.Secrets())
	remarks := map[string]string{}
	for _, item := range program.Items {
		remarks[item.File+" "+item.Name] += strings.Join(item.Remarks, "; ")
	}
	require.Contains(t, remarks["main.yaml One"], "TimeoutInMinutes")
	require.Contains(t, remarks["main.yaml One"], "parameter Wrong")
	require.Contains(t, remarks["main.yaml Arn"], "a component here")
	require.Contains(t, remarks["nets/network.yaml Cidr"], "at least 9 characters")
	for name, want := range map[string]string{"loop.yaml": "main.yaml -> loop.yaml -> main.yaml", "none.yaml": "cannot be read",
		"broken.yaml": "not YAML or JSON"} {
		_, diags := nest("Resources:\n  A: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: " + name + "}}\n" +
			"  B: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: " + name + "}}\n")
		require.True(t, diags.HasErrors())
		require.Contains(t, diags[0].Summary, want)
		if name == "broken.yaml" {
			require.Len(t, diags, 1, "one file has its faults once")
		}
	}
}

// Ten thousand objects are converted, and each is there once.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const count = 10_000
	for i := range count {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: map-%d}\ndata: {n: \"%d\"}\n", i, i)
	}
	program, diags := convertText("kubernetes", "many.yaml", b.String())
	require.Empty(t, diags)
	require.Len(t, program.Items, count)
	content, err := program.Text()
	require.NoError(t, err)
	require.Equal(t, count, strings.Count(string(content), "type: kubernetes:core/v1:ConfigMap"))
}

// Comments about omitted parts contain no text of the source that may be secret.
func TestSecretsAreNotInComments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, kind, text string }{
		{"custom resource", "cloudformation", "Resources:\n  A:\n    Type: Custom::Login\n    Properties: {User: ann, " +
			"Password: hush, Nested: {ApiKey: hush, Secret: [hush]}, Url: 'db://ann:hush@host', Size: 3}\n"},
		{"substitution", "cloudformation", "Resources:\n  A:\n    Type: Custom::Login\n    Properties: {User: ann, " +
			"Password: !Sub 'hush${AWS::Region}', Size: 3}\n"},
		{"metadata", "cloudformation", "Metadata: {AdminToken: hush, User: ann, Size: 3}\nResources: {Q: {Type: 'AWS::SQS::Queue'}}\n"},
		{"environment", "cloudformation", "Resources:\n  A:\n    Type: Custom::Task\n    Properties: {User: ann, Env: [{Name: " +
			"DB_PASSWORD, Value: hush}], Size: 3}\n"},
		{"condition", "cloudformation", "Resources:\n  Login:\n    Type: Custom::Login\n    Properties: {Password: {'Fn::If': " +
			"[ann, hush, {'Fn::Join': ['', [hush, a]]}]}, Auth: {Token: hush, auth: hush, Type: x, Size: 3}}\n"},
		{"parameter", "cloudformation", "Metadata: {AdminPassword: {Type: String, Default: hush, User: ann, Size: 3}, User: ann, " +
			"Size: 3}\nResources: {Q: {Type: 'AWS::SQS::Queue'}}\n"},
		{"key", "cloudformation", "Resources:\n  A:\n    Type: Custom::Task\n    Properties:\n      User: ann\n      Size: 3\n" +
			"      Body: |\n        -----BEGIN PRIVATE KEY-----\n        hush\n"},
		{"secret without a version", "kubernetes", "kind: Secret\nmetadata: {name: ann}\ndata: {x: hush}\nspec: {size: 3}\n"},
		{"kustomization", "kubernetes", "apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\nuser: ann\n" +
			"secretGenerator: [{name: db-password, value: hush}]\nsize: 3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program, diags := convertText(c.kind, "input.yaml", c.text)
			require.Empty(t, diags)
			content, err := program.Text()
			require.NoError(t, err)
			require.NotContains(t, string(content), "hush")
			require.Contains(t, string(content), "[secret]")
			require.Contains(t, string(content), "ann")
			require.Regexp(t, `(?i)size: 3`, string(content))
		})
	}
}

// Without a schema, a map with the shape of a policy keeps its keys, wherever it stands, with a remark; and a secret
// parameter has no default, not even an empty one.
func TestPoliciesKeepTheirKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		property := rapid.StringMatching(`[A-Z][a-z]{2,8}(Policy|Rules|Text)`).Draw(rt, "property")
		action := rapid.SampledFrom([]string{"'*'", "[a, b]", "{AWS: x}"}).Draw(rt, "action")
		statement := "{Sid: one, Effect: Allow, Principal: {AWS: '*'}, Action: " + action + ", Resource: '*'}"
		if rapid.Bool().Draw(rt, "list") {
			statement = "[" + statement + "]"
		}
		p, diags := convertText("cloudformation", "t.yaml", "Parameters:\n  Password: {Type: String, NoEcho: true, Default: ''}\n"+
			"Resources:\n  Key:\n    Type: AWS::KMS::Key\n    Properties:\n      Other: {Version: 1}\n      "+property+
			": {Version: '2012-10-17', Statement: "+statement+"}\n")
		require.Empty(rt, diags)
		written, err := p.Text()
		require.NoError(rt, err)
		text := string(written)
		for _, key := range []string{"Version: ", "Statement:", "Sid: one", "Effect: Allow", "Principal:", "AWS: ", "Action:"} {
			require.Contains(rt, text, key, text)
		}
		require.Contains(rt, text, "version: 1", "what is no policy has the usual names")
		require.Contains(rt, text, "secret: true")
		require.NotContains(rt, text, "default:")
		remarks := 0
		for _, item := range p.Items {
			remarks += len(item.Remarks)
		}
		require.GreaterOrEqual(rt, remarks, 2, "one for the policy, one for the default")
	})
}
