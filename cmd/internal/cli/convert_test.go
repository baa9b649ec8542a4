package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/cmd/internal/console"
)

const cronTab = `apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: mine}
spec: {cronSpec: "* * * * */5", replicas: 2}
---
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: wrong}
spec: {cronSpec: [], replicas: 2}
---
apiVersion: v1
kind: List
items:
  - apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: crontabs.stable.example.com}
    spec:
      group: stable.example.com
      names: {plural: crontabs, singular: crontab, kind: CronTab}
      scope: Namespaced
      versions:
        - name: v1
          served: true
          storage: true
          schema:
            openAPIV3Schema:
              type: object
              properties:
                spec: {type: object, properties: {cronSpec: {type: string}, replicas: {type: integer}}}
`

// Custom resource definitions among the manifests become files of the project, so that their kinds have types. An
// object that does not fit its definition is passed on unchanged. Both objects depend on the definition.
func TestConvertDefinitions(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "all.yaml"), []byte(cronTab), 0o600))
	require.Equal(t, console.CodeOK, x.run("convert", "--from", "kubernetes", "--out", "shop", "all.yaml"), x.err.String())
	require.Contains(t, x.err.String(), "all.yaml:6: stable.example.com/v1/CronTab wrong: property `spec.cronSpec`: "+
		"expected string, got list<any>; the program passes it on as it is")
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "shop", "Pulumi.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "crds:\n  - crds/*.yaml\n")
	require.Contains(t, string(text), "  mineCronTab:\n    type: kubernetes:stable.example.com/v1:CronTab\n")
	require.Contains(t, string(text), "  wrongCronTab:\n    type: kubernetes:yaml/v2:ConfigGroup\n")
	require.Equal(t, 2, strings.Count(string(text), "- ${crontabsStableExampleComCustomResourceDefinition}"))
	require.FileExists(t, filepath.Join(x.world.Dir, "shop", "crds", "crontabs.stable.example.com.yaml"))
	misspelt := strings.Replace(string(text), "spec: {cronSpec: \"", "spec: {cronSpek: \"", 1)
	require.NotEqual(t, string(text), misspelt)
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "shop", "Pulumi.yaml"), []byte(misspelt), 0o600))
	x.run("check", "shop")
	require.Contains(t, x.out.String(), "cronSpek")
	require.Equal(t, console.CodeOK, x.run("convert", "--from", "kubernetes", "all.yaml"), x.err.String())
	require.NotContains(t, x.out.String(), "crds:", "standard output has no place for files")
}

// Files that a tool renders lead to the command that does and to the format of what it prints, be it a file or a
// folder.
func TestConvertRendersFirst(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "compose.yaml"), []byte("services: {}\n"), 0o600))
	for tool, want := range map[string]string{"helm": "`helm template CHART` prints with `--from kubernetes`",
		"kustomize": "`kustomize build DIR` prints with `--from kubernetes`",
		"compose":   "`kompose convert --stdout` prints with `--from kubernetes`",
		"cdk":       "`cdk synth` prints with `--from cloudformation`",
		"sam":       "`sam validate --debug` prints with `--from cloudformation`"} {
		for _, path := range []string{"compose.yaml", "."} {
			require.Equal(t, console.CodeUsage, x.run("convert", "--from", tool, path), tool)
			require.Contains(t, x.err.String(), "convert what "+want)
			x.err.Reset()
		}
	}
}

// Features that only CloudFormation has are left out and reported with line and reason. References to them read the
// configuration.
func TestConvertWhatCloudFormationAloneCanDo(t *testing.T) {
	t.Parallel()
	const template = `AWSTemplateFormatVersion: '2010-09-09'
Transform: [AWS::Serverless-2016-10-31, Mine]
Resources:
  Function:
    Type: AWS::Serverless::Function
    Properties: {Handler: index.handler}
  Word:
    Type: Custom::Word
    Properties: {ServiceToken: arn}
  Other:
    Type: AWS::CloudFormation::CustomResource
    Properties: {ServiceToken: arn}
  Fn::Transform: {Name: AWS::Include, Parameters: {Location: s3://b/c.yaml}}
  Nested:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: https://example.com/t.yaml}
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !GetAtt Word.Text
      Fn::Transform: {Name: AWS::Include, Parameters: {Location: s3://b/d.yaml}}
`
	x := newTerminal(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "t.yaml"), []byte(template), 0o600))
	require.Equal(t, console.CodeOK, x.run("convert", "--from", "cloudformation", "--out", "out", "t.yaml"), x.err.String())
	for _, line := range []string{"t.yaml:2: section Transform: CloudFormation runs the macros that it names",
		"t.yaml:4: AWS::Serverless::Function Function: AWS SAM replaces it by types of CloudFormation: convert the transformed template",
		"t.yaml:7: Custom::Word Word: custom resources run by CloudFormation only",
		"t.yaml:10: AWS::CloudFormation::CustomResource Other: custom resources run by CloudFormation only",
		"t.yaml:13: Fn::Transform: CloudFormation writes resources with it before it creates them",
		"t.yaml:14: AWS::CloudFormation::Stack Nested: the nested template is not converted",
		"t.yaml:17: AWS::SQS::Queue Queue: Text of Word, which was left out (Custom::Word): the program takes it from its " +
			"configuration", "t.yaml:17: AWS::SQS::Queue Queue: Fn::Transform: CloudFormation computes it", "5 left out"} {
		require.Contains(t, x.err.String(), line)
	}
	text, err := os.ReadFile(filepath.Join(x.world.Dir, "out", "Pulumi.yaml"))
	require.NoError(t, err)
	for _, kept := range []string{"s3://b/c.yaml", "s3://b/d.yaml", "AWS::Serverless::Function", "Custom::Word"} {
		require.Contains(t, string(text), kept, "as a comment")
	}
	require.Contains(t, string(text), "queueName: ${wordText}")
}

// check accepts the converted programs of 99% of real Kubernetes manifests and 95% of real CloudFormation templates.
func TestConvertRealTemplates(t *testing.T) {
	t.Parallel()
	templates, schemas := os.Getenv("YAMLHOST_TEMPLATES"), os.Getenv("YAMLHOST_SCHEMAS_TODAY")
	if templates == "" || schemas == "" {
		t.Skip("YAMLHOST_TEMPLATES and YAMLHOST_SCHEMAS_TODAY do not name folders with templates and with schemas")
	}
	for kind, least := range map[string]int{"kubernetes": 99, "cloudformation": 95} {
		x := newTerminal(t, "")
		all, sound, clean := 0, 0, 0
		err := filepath.WalkDir(filepath.Join(templates, kind), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			all++
			code := x.run("convert", "--from", kind, "--json", "--schema-dir", schemas, path)
			var report struct {
				WithRemarks, LeftOut int
				Checked              bool
			}
			if code != console.CodeOK || json.Unmarshal(x.out.Bytes(), &report) != nil || !report.Checked {
				t.Logf("%s: exit code %d: %s", path, code, strings.TrimSpace(x.err.String()))
				return nil
			}
			sound++
			if report.WithRemarks+report.LeftOut == 0 {
				clean++
			}
			return nil
		})
		require.NoError(t, err)
		t.Logf("%s: of %d files %d make a program that check accepts, %d of them without a remark", kind, all, sound, clean)
		require.GreaterOrEqual(t, sound*100, all*least, kind)
	}
}
