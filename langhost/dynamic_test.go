package langhost_test

import (
	"encoding/json"
	"os/exec"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// L1.35, L10.C16: a package with dynamic types provides resources besides components. Its schema lists them, its code
// gets the package's configuration and is a secret input of the provider, and the engine logs the output of the code.
func TestPluginWithDynamicTypes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node on PATH")
	}
	e := startEngine(t)
	provider := servePlugin(t, e, map[string]string{"PulumiPlugin.yaml": `name: parts
version: 1.1.0
runtime: yaml
components:
  Pair:
    resources: {one: {type: "parts:Screw", properties: {size: 3}}}
    outputs: {made: "${one.made}"}
`, "screws.yaml": `dynamic:
  Screw:
    provider: ./screw.ts
    description: Holds things
    inputs:
      size: {type: integer, replace: true}
      head: {type: string, default: flat}
      code: {type: string, secret: true, optional: true}
    outputs:
      made: {type: string, stable: true}
`, "screw.ts": `import { word } from "./word";
let by: string;
export default {
  configure(req: any) { by = req.config.require("by"); },
  create(inputs: any) {
    console.log("turning");
    if (inputs.size > 9) throw new Error("too large");
    return { id: "s" + inputs.size, outs: { ...inputs, made: word + by } };
  },
};
`, "word.ts": `export const word = "by ";`})
	got, err := provider.GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{})
	require.NoError(t, err)
	var schema struct{ Resources map[string]json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(got.GetSchema()), &schema))
	require.JSONEq(t, `{"description": "Holds things", "inputProperties": {"size": {"type": "integer"},
		"head": {"type": "string", "default": "flat"}, "code": {"type": "string", "secret": true}},
		"requiredInputs": ["size"], "properties": {"made": {"type": "string"}}}`, string(schema.Resources["parts:index:Screw"]))
	require.JSONEq(t, `{"isComponent": true, "inputProperties": {}, "properties": {"made": {"type": "string"}}}`,
		string(schema.Resources["parts:index:Pair"]))

	news, err := structpb.NewStruct(map[string]any{"by": "hand"})
	require.NoError(t, err)
	checked, err := provider.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: news,
		Urn: "urn:pulumi:dev::p::pulumi:providers:parts::default"})
	require.NoError(t, err)
	code := checked.GetInputs().GetFields()["__code"].GetStructValue().GetFields()
	require.Equal(t, "1b47061264138c4ac30d75fd1eb44270", code["4dabf18193072939515e22adb298388d"].GetStringValue(), "sealed")
	require.Contains(t, code["value"].GetStringValue(), "too large")
	_, err = provider.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: checked.GetInputs(), AcceptSecrets: true})
	require.NoError(t, err)

	const screw = "urn:pulumi:dev::p::parts:index:Screw::s"
	inputs, err := structpb.NewStruct(map[string]any{"size": 3})
	require.NoError(t, err)
	ready, err := provider.Check(t.Context(), &pulumirpc.CheckRequest{Urn: screw, News: inputs})
	require.NoError(t, err)
	require.Contains(t, ready.GetInputs().GetFields()["__provider"].GetStringValue(), "sha256:")
	previewed, err := provider.Create(t.Context(), &pulumirpc.CreateRequest{Urn: screw, Properties: ready.GetInputs(), Preview: true})
	require.NoError(t, err)
	require.Empty(t, previewed.GetProperties().GetFields())
	require.Empty(t, e.said(), "a preview runs nothing")
	made, err := provider.Create(t.Context(), &pulumirpc.CreateRequest{Urn: screw, Properties: ready.GetInputs()})
	require.NoError(t, err)
	require.Equal(t, "s3", made.GetId())
	require.Equal(t, "by hand", made.GetProperties().GetFields()["made"].GetStringValue())
	require.Contains(t, e.said(), "turning")

	inputs.Fields["size"] = structpb.NewNumberValue(10)
	_, err = provider.Create(t.Context(), &pulumirpc.CreateRequest{Urn: screw, Properties: inputs})
	require.ErrorContains(t, err, "screw.ts:7: too large")
}
