package langhost_test

import (
	"os"
	"path/filepath"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/value"
)

// kubernetesSchemas maps plugin/extension to the schemas of a plugin and its extension.
var kubernetesSchemas = map[string]string{
	"kubernetes/": `{"name": "kubernetes", "version": "4.0.0", "resources": {"kubernetes:core/v1:ConfigMap": {
"inputProperties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}},
"properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}}}}}`,
	"kubernetes/acme": `{"name": "kubernetes", "version": "4.0.0", "resources": {"kubernetes:acme.example.com/v1:Thing": {
"inputProperties": {"spec": {"type": "object", "additionalProperties": {"type": "integer"}}}, "properties": {"spec": {
"type": "object", "additionalProperties": {"type": "integer"}}}}}}`,
}

const acmePackage = "packageDeclarationVersion: 1\nname: kubernetes\nversion: 4.0.0\nextension: {name: acme, version: " +
	"1.0.0, value: eA==}\n"

// L1.41: an extension adds to the package of its plugin under another engine too. Both are required packages.
func TestExtensionOfBase(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	host, _ := serveHost(t, e)
	files := map[string]string{"Pulumi.yaml": project, "sdks/acme.yaml": acmePackage, "Main.yaml": `resources:
  map: {type: "kubernetes:core/v1:ConfigMap", properties: {data: {a: b}}}
  thing: {type: "kubernetes:acme.example.com/v1:Thing", properties: {spec: {size: 4}}}
`}
	dir := writeFiles(t, files)
	r := newRecorder()
	got, err := host.Run(t.Context(), runRequest(e, serveMonitor(t, r), dir))
	require.NoError(t, err)
	require.False(t, got.GetBail(), e.said())
	thing, found := r.Registered("thing")
	require.True(t, found)
	require.Equal(t, "kubernetes:acme.example.com/v1:Thing", thing.Type)
	require.NotEmpty(t, thing.PackageRef)
	plain, found := r.Registered("map")
	require.True(t, found)
	require.NotEqual(t, plain.PackageRef, thing.PackageRef)

	required, err := host.GetRequiredPackages(t.Context(), &pulumirpc.GetRequiredPackagesRequest{Info: info(dir)})
	require.NoError(t, err)
	var names []string
	for _, p := range required.GetPackages() {
		names = append(names, p.GetName()+"/"+p.GetExtension().GetName())
	}
	require.ElementsMatch(t, []string{"kubernetes/", "kubernetes/acme"}, names)

	files["Main.yaml"] = `resources:
  thing: {type: "kubernetes:acme.example.com/v1:Thing", properties: {spce: {size: 4}}}
`
	got, err = host.Run(t.Context(), runRequest(e, serveMonitor(t, newRecorder()), writeFiles(t, files)))
	require.NoError(t, err)
	require.True(t, got.GetBail())
	require.Contains(t, e.said(), "did you mean `spec`?")
}

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: shop.example.com
  names: {kind: Widget}
  versions:
    - name: v1
      served: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

// D21: kinds that the project defines are types under another engine too. Their schemas are cached in Pulumi's home
// folder.
func TestDefinedKinds(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	home := t.TempDir()
	host, _ := serveHost(t, e, "PULUMI_HOME="+home)
	files := map[string]string{"Pulumi.yaml": project + "crds: crds\n", "crds/widgets.yaml": widgets, "Main.yaml": `resources:
  map: {type: "kubernetes:core/v1:ConfigMap", properties: {data: {a: b}}}
  first: {type: "kubernetes:shop.example.com/v1:Widget", properties: {spec: {size: "${size}"}}}
config: {size: {type: integer}}
`}
	r := newRecorder()
	got, err := host.Run(t.Context(), runRequest(e, serveMonitor(t, r), writeFiles(t, files)))
	require.NoError(t, err)
	require.False(t, got.GetBail(), e.said())
	first, found := r.Registered("first")
	require.True(t, found)
	require.True(t, value.SameContent(value.Int(4), first.Inputs.Get("spec").Get("size")))
	require.Equal(t, value.String("shop.example.com/v1"), first.Inputs.Get("apiVersion"))
	require.Equal(t, value.String("Widget"), first.Inputs.Get("kind"))
	kept, err := os.ReadDir(filepath.Join(home, "yamlhost", "schemas"))
	require.NoError(t, err)
	require.NotEmpty(t, kept)

	files["Main.yaml"] = `resources: {first: {type: "kubernetes:shop.example.com/v1:Widget", properties: {spec: {sise: 1}}}}
`
	got, err = host.Run(t.Context(), runRequest(e, serveMonitor(t, newRecorder()), writeFiles(t, files)))
	require.NoError(t, err)
	require.True(t, got.GetBail())
	require.Contains(t, e.said(), "did you mean `size`?")
}
