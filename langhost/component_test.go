package langhost_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

// servePlugin lets a host serve a folder of components and returns a client of the provider.
func servePlugin(t *testing.T, e *fakeEngine, files map[string]string) pulumirpc.ResourceProviderClient {
	t.Helper()
	host, _ := serveHost(t, e)
	dir := writeFiles(t, files)
	stream, err := host.RunPlugin(t.Context(), &pulumirpc.RunPluginRequest{Pwd: dir, Info: info(dir), Kind: "resource",
		LoaderTarget: e.address, Env: []string{"PATH=" + os.Getenv("PATH")}})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(string(first.GetStdout())),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return pulumirpc.NewResourceProviderClient(conn)
}

// L1.33, L1.34: the schema of a plugin has the types of inputs, the required ones and literal defaults, but nothing
// from the environment. Outputs have the types that the checker infers, or any if it infers none or lacks a schema.
func TestPluginSchema(t *testing.T) {
	t.Parallel()
	provider := servePlugin(t, startEngine(t), map[string]string{"PulumiPlugin.yaml": `name: parts
version: 1.1.0
namespace: acme
description: Parts of all kinds
runtime: yaml
components:
  Whole:
    description: Everything there is
    inputs:
      text: {type: string}
      flag: {type: boolean, default: true}
      whole: {type: integer, default: 3}
      number: {type: number, default: 1.5}
      names: {type: array, items: {type: string}}
      any: {type: object}
      hidden: {type: string, secret: true, default: hush}
    resources:
      one: {type: 'pkg:Thing', properties: {size: "${whole}"}}
    outputs:
      size: ${one.size}
      texts: ["${text}", "${hidden}"]
      unclear: {fn::fromJSON: "${text}"}
`})
	got, err := provider.GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{})
	require.NoError(t, err)
	require.NotContains(t, got.GetSchema(), "environment")
	require.NotContains(t, got.GetSchema(), "csharp")
	var schema struct {
		Name, Version, Namespace, Description string
		Resources                             map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(got.GetSchema()), &schema))
	require.Equal(t, []string{"parts", "1.1.0", "acme", "Parts of all kinds"},
		[]string{schema.Name, schema.Version, schema.Namespace, schema.Description})
	want := `{
		"description": "Everything there is", "isComponent": true,
		"inputProperties": {
			"text": {"type": "string"}, "flag": {"type": "boolean", "default": true}, "whole": {"type": "integer", "default": 3},
			"number": {"type": "number", "default": 1.5}, "names": {"type": "array", "items": {"type": "string"}},
			"any": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
			"hidden": {"type": "string", "secret": true, "default": "hush"}},
		"requiredInputs": ["text", "names", "any"],
		"properties": {"size": {"type": "integer"}, "texts": {"type": "array", "items": {"type": "string"}}, "unclear": {"$ref": "pulumi.json#/Any"}},
		"required": ["texts", "unclear"]}`
	text, err := json.Marshal(schema.Resources["parts:index:Whole"])
	require.NoError(t, err)
	require.JSONEq(t, want, string(text))

	provider = servePlugin(t, startEngine(t), map[string]string{"PulumiPlugin.yaml": `name: parts
components:
  Part:
    resources: {one: {type: 'gone:Thing'}, two: {type: 'pkg:Thing'}}
    outputs: {size: "${one.size}", other: "${two.size}"}
`})
	got, err = provider.GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{})
	require.NoError(t, err)
	require.JSONEq(t, `{"name": "parts", "version": "0.0.0", "meta": {"supportPack": true}, "resources": {"parts:index:Part": {"isComponent": true,
		"inputProperties": {}, "properties": {"size": {"$ref": "pulumi.json#/Any"}, "other": {"type": "integer"}}, "required": ["size"]}}}`, got.GetSchema())
}

// L1.35: Configure accepts the capabilities of engines; Construct accepts secrets and outputs with dependencies.
func TestConstructWithSecretsAndDependencies(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	provider := servePlugin(t, e, map[string]string{"PulumiPlugin.yaml": `name: parts
runtime: yaml
components:
  Pair:
    inputs: {size: {type: integer}, note: {type: string}}
    resources:
      one: {type: 'pkg:Thing', properties: {size: "${size}"}}
    outputs: {note: "${note}!", size: "${one.size}", data: {fn::fromYAML: "a: 1"}}
`})
	configured, err := provider.Configure(t.Context(), &pulumirpc.ConfigureRequest{AcceptSecrets: true,
		AcceptResources: true, SendsOldInputs: true})
	require.NoError(t, err)
	require.True(t, configured.GetAcceptSecrets())
	require.True(t, configured.GetAcceptResources())
	require.True(t, configured.GetAcceptOutputs())

	const other = "urn:pulumi:dev::proj::pkg:index:Thing::other"
	secret := map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "psst"}
	output := map[string]any{"4dabf18193072939515e22adb298388d": "d0e6a833031e9bbcd3f4e8bde6ca49a4", "value": 3,
		"dependencies": []any{other}}
	inputs, err := structpb.NewStruct(map[string]any{"note": secret, "size": output})
	require.NoError(t, err)
	r := newRecorder()
	made, err := provider.Construct(t.Context(), &pulumirpc.ConstructRequest{
		Project: "proj", Stack: "dev", MonitorEndpoint: serveMonitor(t, r), Type: "parts:index:Pair", Name: "pair",
		Inputs: inputs, AcceptsOutputValues: true,
	})
	require.NoError(t, err)
	child, found := r.Registered("pair-one")
	require.True(t, found)
	require.Contains(t, child.Dependencies, child.PropertyDependencies.Map()["size"][0])
	require.EqualValues(t, other, child.PropertyDependencies.Map()["size"][0])
	note := made.GetState().GetFields()["note"].GetStructValue().GetFields()
	require.NotNil(t, note, made.GetState())
	require.Equal(t, "psst!", note["value"].GetStringValue())
	require.Equal(t, 1.0, made.GetState().GetFields()["data"].GetStructValue().GetFields()["a"].GetNumberValue(), "L10.C4")
	require.NotEqual(t, "", note["4dabf18193072939515e22adb298388d"].GetStringValue())
}
