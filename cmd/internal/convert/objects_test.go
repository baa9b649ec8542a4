package convert_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// manifests returns the objects in manifests as a cluster receives them.
func manifests(text []byte) ([]map[string]any, error) {
	var objects []map[string]any
	var take func(doc any)
	take = func(doc any) {
		if list, ok := doc.([]any); ok {
			for _, item := range list {
				take(item)
			}
		}
		object, _ := doc.(map[string]any)
		if items, ok := object["items"].([]any); ok {
			take(items)
			return
		}
		if version, _ := object["apiVersion"].(string); object["kind"] != nil && version != "" &&
			!strings.HasPrefix(version, "kustomize") && !strings.HasPrefix(version, "skaffold") {
			objects = append(objects, object)
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		take(doc)
	}
}

// anySchema returns a schema with the kinds of objects; their fields accept any value.
func anySchema(objects []map[string]any) []byte {
	resources := map[string]any{}
	for _, object := range objects {
		version := object["apiVersion"].(string)
		if !strings.Contains(version, "/") {
			version = "core/" + version
		}
		if strings.Contains(version, "example.com") {
			continue
		}
		fields := map[string]any{}
		for name := range object {
			if name != "status" && name != "unknown" {
				fields[name] = map[string]any{"$ref": "pulumi.json#/Any"}
			}
		}
		resources["kubernetes:"+version+":"+object["kind"].(string)] = map[string]any{"properties": fields, "inputProperties": fields}
	}
	group := map[string]any{"objs": map[string]any{"type": "array", "items": map[string]any{"$ref": "pulumi.json#/Any"}}}
	resources["kubernetes:yaml/v2:ConfigGroup"] = map[string]any{"inputProperties": group, "isComponent": true}
	text, _ := json.Marshal(map[string]any{"name": "kubernetes", "version": "4.0.0", "resources": resources})
	return text
}

var setting = regexp.MustCompile("--secret (.+)`: it is ([A-Za-z]+)\\.(.+) of the manifest")

// run converts manifests, runs the program, and returns the objects that a provider gets.
func run(t rapid.TB, text, pkg []byte, objects []map[string]any) []map[string]any {
	t.Helper()
	loader := schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) { return pkg, nil })
	loaded, err := loader.Load(context.Background(), schema.Descriptor{Name: "kubernetes"})
	require.NoError(t, err)
	program, diags := convert.Kubernetes([]*diag.Source{diag.NewSource("objects.yaml", text)}, convert.Options{Name: "converted",
		Schema: func(string) *schema.Package { return loaded }})
	require.Empty(t, diags)
	config := map[string]check.ConfigText{}
	for i, item := range slices.DeleteFunc(slices.Clone(program.Items), func(i *convert.Item) bool { return i.As == "" }) {
		for _, remark := range item.Remarks {
			if m := setting.FindStringSubmatch(remark); m != nil {
				config["converted:"+m[1]] = check.ConfigText{Text: objects[i][m[2]].(map[string]any)[m[3]].(string), Secret: true}
			}
		}
	}
	var checked *check.Program
	var findings diag.Diagnostics
	for again := true; again; {
		content, err := program.Text()
		require.NoError(t, err)
		file, found := parser.Parse(diag.NewSource("Pulumi.yaml", content), parser.Options{})
		checked, findings = check.Check(context.Background(), file, check.Options{Project: "converted", Config: config,
			ConfigKnown: true, Schemas: loader})
		again = false
		for _, d := range append(found, findings...) {
			again = d.Severity == diag.Error && program.Repair(d) || again
		}
	}
	require.False(t, findings.HasErrors(), "%v", findings)
	recorder := &monitortest.Recorder{Deployment: monitor.Info{Project: "converted", Stack: "dev"}}
	_, diags = eval.Run(context.Background(), checked, recorder, eval.Options{Workers: 1})
	require.False(t, diags.HasErrors(), "%v", diags)
	var got []map[string]any
	for _, request := range recorder.Requests() {
		g, ok := request.(monitor.RegisterRequest)
		if !ok || !strings.HasPrefix(string(g.Type), "kubernetes:") {
			continue
		}
		plain, err := value.JSON(g.Inputs)
		require.NoError(t, err)
		written, _ := plain.Bare().AsString()
		var inputs map[string]any
		require.NoError(t, json.Unmarshal([]byte(written), &inputs))
		if objs, ok := inputs["objs"].([]any); ok {
			got = append(got, objs[0].(map[string]any))
			continue
		}
		_, version, _ := strings.Cut(string(g.Type), ":")
		version, kind, _ := strings.Cut(version, ":")
		inputs["apiVersion"], inputs["kind"] = strings.TrimPrefix(version, "core/"), kind
		got = append(got, inputs)
	}
	return got
}

var (
	number = regexp.MustCompile(`:(-?[0-9.]+)([,}\]])`)
	absent = regexp.MustCompile(`"[^"]+":null,|,?"[^"]+":null`)
)

// requireSame compares the objects of manifests with those that a provider gets. Quantities may be numbers or texts.
func requireSame(t rapid.TB, text, pkg []byte, objects []map[string]any) {
	t.Helper()
	texts := func(objects []map[string]any) []string {
		var all []string
		for _, object := range objects {
			delete(object, "status") // the cluster writes it
			one, err := json.Marshal(object)
			require.NoError(t, err)
			all = append(all, absent.ReplaceAllString(number.ReplaceAllString(string(one), `:"$1"$2`), ""))
		}
		slices.Sort(all)
		return all
	}
	got := run(t, text, pkg, objects)
	require.Equal(t, texts(objects), texts(got))
}

// A provider gets from a converted program the objects of the manifests.
func TestSameObjects(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/kubernetes.yaml")
	require.NoError(t, err)
	text = bytes.Replace(text, []byte("hostNetwork: no"), []byte("hostNetwork: false"), 1) // yaml.v3 reads a text there
	objects, err := manifests(text)
	require.NoError(t, err)
	require.Len(t, objects, 7)
	requireSame(t, text, anySchema(objects), objects)

	// What turns out to have no type is referred to no longer.
	text = bytes.Replace(text, []byte("    data:\n"), []byte("    unknown: 1\n    data:\n"), 1)
	objects, err = manifests(text)
	require.NoError(t, err)
	requireSame(t, text, anySchema(objects), objects)
}

// A service waits for its workload unless the pods call the service; what has no type waits for its namespace and
// definition.
func TestOrderOfObjects(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {selector: {app: db}}\n---\n" +
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  template:\n    metadata: {labels: {app: db}}\n" +
		"    spec: {containers: [{name: db, command: [start, --join=%s]}]}\n"
	for called, selector := range map[string]string{"db:80": "{app: db}", "dbs:80": "'${dbStatefulSet.spec.template.metadata.labels}'"} {
		program, diags := convertText("kubernetes", "all.yaml", fmt.Sprintf(service, called))
		require.Empty(t, diags)
		content, err := program.Text()
		require.NoError(t, err)
		require.Contains(t, string(content), "selector: "+selector)
	}
	text, err := os.ReadFile("testdata/kubernetes.golden")
	require.NoError(t, err)
	require.Contains(t, string(text), "namespace: '${shopNamespace.metadata.name}'}\n          spec: {discount: 0.15}\n    options:\n"+
		"      dependsOn:\n        - ${couponsExampleComCustomResourceDefinition}\n")
}

// So it is with the manifests of strangers.
func TestSameObjectsOfRealManifests(t *testing.T) {
	t.Parallel()
	templates, schemas := os.Getenv("YAMLHOST_TEMPLATES"), os.Getenv("YAMLHOST_SCHEMAS_TODAY")
	if templates == "" || schemas == "" {
		t.Skip("YAMLHOST_TEMPLATES and YAMLHOST_SCHEMAS_TODAY do not name folders with templates and with schemas")
	}
	files, err := filepath.Glob(filepath.Join(schemas, "kubernetes-*.json.gz"))
	require.NoError(t, err)
	packed, err := os.ReadFile(files[0])
	require.NoError(t, err)
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	pkg, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	compared := 0
	err = filepath.WalkDir(filepath.Join(templates, "kubernetes"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		objects, err := manifests(text)
		if err != nil { // convert takes the last one of equal keys, yaml.v3 takes none
			t.Logf("%s: %v", path, err)
		}
		if len(objects) > 0 {
			compared += len(objects)
			t.Run(filepath.Base(path), func(t *testing.T) { requireSame(t, text, pkg, objects) })
		}
		return nil
	})
	require.NoError(t, err)
	t.Logf("%d objects are the same", compared)
}
