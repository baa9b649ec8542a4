package workspace_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace"
	"github.com/yamlhost/yamlhost/workspace/crd"
)

// kubernetes returns a loader of the package kubernetes with the schema in a file.
func kubernetes(tb testing.TB, path string) schema.Loader {
	tb.Helper()
	return schema.NewLoader(func(_ context.Context, d schema.Descriptor) ([]byte, error) {
		if d.Name != "kubernetes" {
			return nil, schema.ErrNotFound
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if !strings.HasSuffix(path, ".gz") {
			return io.ReadAll(file)
		}
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	})
}

// checkProject returns the errors and warnings of the program in a folder.
func checkProject(tb testing.TB, dir string, l schema.Loader, o workspace.Options) diag.Diagnostics {
	tb.Helper()
	o.Shown = workspace.Relative(dir)
	ws, err := workspace.Open(dir, o)
	require.NoError(tb, err)
	_, found := ws.Check(context.Background(), workspace.CheckOptions{
		Schemas: func() (schema.Loader, func() bool) { return l, func() bool { return false } }})
	var kept diag.Diagnostics
	for _, d := range found.Sorted() {
		if d.Severity <= diag.Warning {
			kept.Add(d)
		}
	}
	return kept
}

// writeProject writes a project file and copies of definition files into a new folder.
func writeProject(tb testing.TB, text string, definitions ...string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(text), 0o644))
	require.NoError(tb, os.Mkdir(filepath.Join(dir, "crds"), 0o755))
	for _, path := range definitions {
		copied := testfile.Bytes(tb, path)
		require.NoError(tb, os.WriteFile(filepath.Join(dir, "crds", filepath.Base(path)), copied, 0o644))
	}
	return dir
}

const smallKubernetes = "crd/testdata/kubernetes.json"

// widgets is a valid program with the kinds of testdata.
const widgets = `name: shop
runtime: yaml
crds: [crds/*]
resources:
  apps:
    type: kubernetes:core/v1:Namespace
    properties: {metadata: {name: apps}}
  bolt:
    type: kubernetes:shop.example.com/v1:Widget
    properties:
      metadata:
        name: bolt
        namespace: ${apps.metadata.name}
      spec:
        name: Bolt
        size: 8
        colour: red
        active: true
        port: 80
        labels: {kind: metal}
        tags: [small, round]
        owner:
          team: hardware
          email: a@example.com
        parts:
          - part: nut
            amount: 2
        settings: {anything: [goes]}
        template: {image: bolt, other: true}
  corner:
    type: kubernetes:shop.example.com/v1:Shop
    properties:
      spec: {city: Bern}
outputs:
  size: ${bolt.spec.size}
  ready: ${bolt.status.ready}
`

// mistake is a change to a valid program with the expected finding.
type mistake struct {
	from, to string
	code     diag.Code
	at       string // the text of the place, up to the end of its line
	says     string
}

// D21: each mistake in an object of a project's kind is reported once, at its place.
func TestMistakesInCustomResources(t *testing.T) {
	t.Parallel()
	findEach(t, widgets, kubernetes(t, smallKubernetes), []mistake{
		{"size: 8", "sise: 8", diag.UnknownProperty, "sise", "`size`"},
		{"        size: 8\n", "", diag.RequiredMissing, "spec", "needs size"},
		{"size: 8", "size: large", diag.NotAssignable, "large", "expected integer"},
		{"size: 8", "size: [8]", diag.NotAssignable, "[8]", "expected integer"},
		{"colour: red", "colour: reed", diag.NotInEnum, "reed", "`red`"},
		{"colour: red", "color: red", diag.UnknownProperty, "color", "`colour`"},
		{"active: true", "active: soon", diag.NotAssignable, "soon", "expected bool"},
		{"port: 80", "port: {}", diag.NotAssignable, "{}", "integer or string"},
		{"labels: {kind: metal}", "labels: [metal]", diag.NotAssignable, "[metal]", ""},
		{"tags: [small, round]", "tags: small", diag.NotAssignable, "small", "list"},
		{"          team: hardware\n", "", diag.RequiredMissing, "owner", "needs team"},
		{"email: a@", "mail: a@", diag.UnknownProperty, "mail", "`email`"},
		{"- part: nut", "- prt: nut", diag.UnknownProperty, "prt", "`part`"},
		{"amount: 2", "amount: few", diag.NotAssignable, "few", "expected integer"},
		{"      spec:\n        name: Bolt", "      spce:\n        name: Bolt", diag.UnknownProperty, "spce", "`spec`"},
		{"name: bolt", "nmae: bolt", diag.UnknownProperty, "nmae", "`name`"},
		{"${bolt.spec.size}", "${bolt.spec.sise}", diag.NoMember, ".sise", "`size`"},
		{"${bolt.status.ready}", "${bolt.status.raedy}", diag.NoMember, ".raedy", "`ready`"},
		{"example.com/v1:Widget", "example.com/v1:Wigdet", diag.TokenNotFound,
			"kubernetes:shop.example.com/v1:Wigdet", "v1:Widget"},
		{"example.com/v1:Widget", "example.com/v1alpha1:Widget", diag.Deprecated,
			"kubernetes:shop.example.com/v1alpha1:Widget", "use v1"},
		{"spec: {city: Bern}", "spec: {town: Bern}", diag.UnknownProperty, "town", "city"},
		{"      spec: {city: Bern}", "      kind: Market\n      spec: {city: Bern}", diag.NotInEnum, "Market", "`Shop`"},
		{"${apps.metadata.name}", "apps", diag.UnwrittenOrder, "apps", "${apps.metadata.name}"},
		{"image: bolt", "image: [bolt]", diag.NotAssignable, "[bolt]", "expected string"},
	}, "crd/testdata/widgets.yaml", "crd/testdata/list.json")
}

func findEach(t *testing.T, program string, l schema.Loader, mistakes []mistake, definitions ...string) {
	t.Helper()
	require.GreaterOrEqual(t, len(mistakes), 20)
	dir := writeProject(t, program, definitions...)
	cache := &crd.Cache{Dir: t.TempDir()}
	require.Empty(t, checkProject(t, dir, l, workspace.Options{CRDs: cache}))
	for _, m := range mistakes {
		require.Equal(t, 1, strings.Count(program, m.from), m.from)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"),
			[]byte(strings.Replace(program, m.from, m.to, 1)), 0o644))
		found := checkProject(t, dir, l, workspace.Options{CRDs: cache})
		name := fmt.Sprintf("%q: %v", m.to, found)
		require.Len(t, found, 1, name)
		require.Equal(t, m.code, found[0].Code, name)
		line, _, _ := strings.Cut(found[0].Subject.Text(), "\n")
		require.Equal(t, m.at, line, name)
		require.Contains(t, found[0].Summary+"\n"+found[0].Detail, m.says, name)
	}
}

// A kind without a description is a warning, unless the token looks like a misspelling of a known kind or group.
func TestUndescribedKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token    string
		severity diag.Severity
		says     string
	}{
		"another group":         {"kubernetes:stable.example.org/v1:CronTab", diag.Warning, "under `crds` in the project file"},
		"a group of a file":     {"kubernetes:shop.example.com/v1:Voucher", diag.Warning, "is not described"},
		"a group of the base":   {"kubernetes:networking.k8s.io/v1:Ingres", diag.Error, "Ingress"},
		"a misspelt group":      {"kubernetes:netwrking.k8s.io/v1:Ingress", diag.Error, "kubernetes:networking.k8s.io/v1:Ingress"},
		"no group":              {"kubernetes:coer/v1:ConfigMap", diag.Error, "kubernetes:core/v1:ConfigMap"},
		"of other languages":    {"kubernetes:apiextensions.k8s.io:CustomResource", diag.Error, "kubernetes:GROUP/VERSION:Kind"},
		"slashes in the place":  {"kubernetes/core/v1/ConfigMap", diag.Error, "`kubernetes:core/v1:ConfigMap`"},
		"capitals in the place": {"kubernetes:core/v1:configmap", diag.Warning, "kubernetes:core/v1:ConfigMap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeProject(t, "name: p\nruntime: yaml\ncrds: crds\nresources:\n  a:\n    type: "+c.token+"\n",
				"crd/testdata/widgets.yaml")
			found := checkProject(t, dir, kubernetes(t, smallKubernetes), workspace.Options{})
			require.Len(t, found, 1)
			require.Equal(t, c.severity, found[0].Severity)
			require.Equal(t, c.token, found[0].Subject.Text())
			require.Contains(t, found[0].Summary+"\n"+found[0].Detail, c.says)
		})
	}
	t.Run("CustomResource with its kind", func(t *testing.T) {
		t.Parallel()
		dir := writeProject(t, "name: p\nruntime: yaml\nresources:\n  a:\n    type: kubernetes:apiextensions.k8s.io:CustomResource\n"+
			"    properties: {apiVersion: a.b/v1, kind: C}\n")
		found := checkProject(t, dir, kubernetes(t, smallKubernetes), workspace.Options{})
		require.Len(t, found, 1)
		require.Contains(t, found[0].Detail, "kubernetes:a.b/v1:C")
		require.Len(t, found[0].Fixes, 1)
	})
}

// Kinds defined by files are checked even without the schema of the package kubernetes.
func TestKindsWithoutTheirPackage(t *testing.T) {
	t.Parallel()
	const alone = "name: p\nruntime: yaml\ncrds: crds\nresources:\n  a:\n    type: kubernetes:shop.example.com/v1:Shop\n" +
		"    properties: {metadata: {name: a}, spec: {twon: Bern}}\n"
	none := schema.NewLoader(func(context.Context, schema.Descriptor) ([]byte, error) { return nil, schema.ErrNotFound })
	found := checkProject(t, writeProject(t, alone, "crd/testdata/list.json"), none, workspace.Options{})
	require.Len(t, found, 1)
	require.Equal(t, "twon", found[0].Subject.Text())
	found = checkProject(t, writeProject(t, strings.Replace(alone, "twon", "city", 1)+
		"  b: {type: 'kubernetes:core/v1:ConfigMap'}\n  c: {type: 'pulumi:providers:kubernetes', properties: {context: x}}\n",
		"crd/testdata/list.json"), none, workspace.Options{})
	require.Len(t, found, 1)
	require.Equal(t, diag.PackageMissing, found[0].Code)
	require.Len(t, found[0].Related, 1)
}

// A faulty file has one finding, and the other files are still read.
func TestFaultyDefinitions(t *testing.T) {
	t.Parallel()
	l := kubernetes(t, smallKubernetes)
	dir := writeProject(t, widgets, "crd/testdata/widgets.yaml", "crd/testdata/list.json")
	broken := filepath.Join(dir, "crds", "list.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"kind": `), 0o644))
	found := checkProject(t, dir, l, workspace.Options{})
	require.Len(t, found, 1)
	require.Equal(t, diag.BadDefinition, found[0].Code)
	require.Equal(t, "crds/list.json", found[0].Subject.Source.Name())

	for pattern, says := range map[string]string{"nowhere/*.yaml": "no file matches", "'[a'": "is malformed"} {
		text := "name: p\nruntime: yaml\ncrds: [" + strings.Trim(pattern, "'") + "]\n"
		if strings.HasPrefix(pattern, "'") {
			text = "name: p\nruntime: yaml\ncrds: [" + pattern + "]\n"
		}
		found = checkProject(t, writeProject(t, text), l, workspace.Options{})
		require.Len(t, found, 1)
		require.Contains(t, found[0].Summary, says)
	}
	outside := writeProject(t, "name: p\nruntime: yaml\ncrds: ['../*.yaml']\n")
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(outside), "a.yaml"), nil, 0o644))
	found = checkProject(t, outside, l, workspace.Options{Confined: true})
	require.Len(t, found, 1)
	require.Contains(t, found[0].Summary, "may not be read")
	found = checkProject(t, writeProject(t, "name: p\nruntime: yaml\npackages: {kubernetes: {crds: [a]}}\n"), l,
		workspace.Options{})
	require.Len(t, found, 1)
	require.Contains(t, found[0].Detail, "at the top of the project file")
}

// An object that needs another object of the program but does not depend on it is reported.
func TestUnwrittenOrder(t *testing.T) {
	t.Parallel()
	l := kubernetes(t, smallKubernetes)
	const head = `name: p
runtime: yaml
variables: {where: apps}
resources:
  apps:
    type: kubernetes:core/v1:Namespace
    properties: {metadata: {name: apps}}
  definition:
    type: kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition
    properties:
      spec:
        group: a.example.com
        names: {kind: Thing, plural: things}
        scope: Namespaced
        versions: [{name: v1, served: true, storage: true}]
`
	const shop = "    type: kubernetes:shop.example.com/v1:Shop\n    properties: {spec: {city: Bern}}\n"
	const thing = "    type: kubernetes:a.example.com/v1:Thing\n"
	const object = "    type: kubernetes:core/v1:ConfigMap\n    properties:\n      metadata:\n        namespace: "
	for name, c := range map[string]struct{ text, at, fixed string }{
		"a kind":              {"  a:\n" + thing, "kubernetes:a.example.com/v1:Thing", "  a:\n" + thing + "    options:\n      dependsOn: ${definition}\n"},
		"a kind with options": {"  a:\n" + thing + "    options:\n      protect: true\n", "kubernetes:a.example.com/v1:Thing", "  a:\n" + thing + "    options:\n      dependsOn: ${definition}\n      protect: true\n"},
		"a kind that waits":   {"  a:\n" + thing + "    options: {dependsOn: ['${definition}']}\n", "", ""},
		"waiting by another":  {"  a:\n" + thing + "    options: {dependsOn: ['${b}']}\n  b:\n" + thing + "    options: {parent: '${definition}'}\n", "", ""},
		"a namespace":         {"  a:\n" + object + "apps\n", "apps", "  a:\n" + object + "${apps.metadata.name}\n"},
		"by a variable":       {"  a:\n" + object + "${where}\n", "${where}", ""},
		"another namespace":   {"  a:\n" + object + "other\n", "", ""},
		"a reference":         {"  a:\n" + object + "${apps.metadata.name}\n", "", ""},
		"depending on":        {"  a:\n" + object + "apps\n    options: {dependsOn: '${apps}'}\n", "", ""},
		"a file": {"  made: {type: 'kubernetes:yaml/v2:ConfigFile', properties: {file: ./crds/list.json}}\n  a:\n" + shop,
			"kubernetes:shop.example.com/v1:Shop", "  made: {type: 'kubernetes:yaml/v2:ConfigFile', properties: {file: " +
				"./crds/list.json}}\n  a:\n    type: kubernetes:shop.example.com/v1:Shop\n    options:\n      dependsOn: ${made}\n" +
				"    properties: {spec: {city: Bern}}\n"},
		"a pattern": {"  made: {type: 'kubernetes:yaml/v2:ConfigGroup', properties: {files: ['crds/*.json']}}\n  a:\n" + shop,
			"kubernetes:shop.example.com/v1:Shop", ""},
		"a chart": {"  made: {type: 'kubernetes:helm.sh/v4:Chart', properties: {chart: .}}\n  a:\n" + shop,
			"kubernetes:shop.example.com/v1:Shop", ""},
		"a chart without kinds": {"  made: {type: 'kubernetes:helm.sh/v4:Chart', properties: {chart: ., skipCrds: true}}\n" +
			"  a:\n" + shop, "", ""},
		"a text": {"  made:\n    type: kubernetes:yaml/v2:ConfigGroup\n    properties:\n      yaml: |\n        apiVersion: v1\n" +
			"        kind: Namespace\n        metadata: {name: other}\n  a:\n" + object + "other\n", "other", ""},
		"one of two": {"  made: {type: 'kubernetes:yaml/v2:ConfigFile', properties: {file: crds/list.json}}\n" +
			"  again: {type: 'kubernetes:yaml/v2:ConfigFile', properties: {file: crds/list.json}}\n  a:\n" + shop +
			"    options: {dependsOn: ['${again}']}\n", "", ""},
		"a pattern out of the project": {"  made: {type: 'kubernetes:yaml/v2:ConfigGroup', properties: {files: " +
			"['../*/crds/*.json']}}\n  a:\n" + shop, "", ""},
		"a patch": {"  a:\n    type: kubernetes:a.example.com/v1:ThingPatch\n", "kubernetes:a.example.com/v1:ThingPatch", ""},
		"a kind of the name Patch": {"  made:\n    type: kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition\n" +
			"    properties:\n      spec:\n        group: a.example.com\n        names: {kind: Patch, plural: patches}\n" +
			"        scope: Namespaced\n        versions: [{name: v1, served: true, storage: true}]\n" +
			"  a:\n    type: kubernetes:a.example.com/v1:Patch\n", "kubernetes:a.example.com/v1:Patch", ""},
		"a perhaps of its kind": {"  a:\n    type: kubernetes:b.example.com/v1:Thing\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeProject(t, head+c.text, "crd/testdata/list.json")
			var order diag.Diagnostics
			for _, d := range checkProject(t, dir, l, workspace.Options{}) {
				require.Equal(t, diag.Warning, d.Severity, d.Summary)
				if d.Code == diag.UnwrittenOrder {
					order.Add(d)
				}
			}
			if c.at == "" {
				require.Empty(t, order)
				return
			}
			require.Len(t, order, 1)
			require.Equal(t, c.at, order[0].Subject.Text())
			if c.fixed != "" {
				fixed, n := diag.ApplyFixes(order[0].Subject.Source, order)
				require.Equal(t, 1, n)
				require.Equal(t, head+c.fixed, string(fixed))
			}
		})
	}
}

// A described kind whose name ends in List is none of the lists that the provider refuses.
func TestKindOfTheNameList(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, "name: p\nruntime: yaml\ncrds: [crds/*]\nresources:\n  a:\n    type: "+
		"kubernetes:shop.example.com/v1:WidgetList\n    properties: {spec: {size: 1}}\n", "crd/testdata/widgets.yaml")
	definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: w}\nspec:\n" +
		"  group: shop.example.com\n  names: {kind: WidgetList, plural: widgetlists}\n  scope: Namespaced\n  versions:\n" +
		"    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: " +
		"{type: object, properties: {size: {type: integer}}}}}}}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "crds", "lists.yaml"), []byte(definition), 0o600))
	require.Empty(t, checkProject(t, dir, kubernetes(t, smallKubernetes), workspace.Options{}))
}

// A patch of a kind is the kind with nothing required, and a list of objects is refused, as the provider does.
func TestPatchesAndLists(t *testing.T) {
	t.Parallel()
	l := kubernetes(t, smallKubernetes)
	const head = "name: p\nruntime: yaml\ncrds: [crds/*]\nresources:\n  a:\n    type: kubernetes:"
	for text, want := range map[string]string{
		"shop.example.com/v1:WidgetPatch\n    properties: {metadata: {name: b}, spec: {parts: [{amount: 3}]}}\n": "",
		"shop.example.com/v1:WidgetPatch\n    properties: {spec: {sise: 3}}\n":                                   "sise",
		"shop.example.com/v1:WidgetPatch\n    properties: {spec: {size: large}}\n":                               "large",
		"shop.example.com/v1:WidgetPatch\n    properties: {kind: WidgetPatch}\n":                                 "WidgetPatch",
		"shop.example.com/v1:WidgetList\n    properties: {items: []}\n":                                          "kubernetes:shop.example.com/v1:WidgetList",
	} {
		found := checkProject(t, writeProject(t, head+text, "crd/testdata/widgets.yaml"), l, workspace.Options{})
		if want == "" {
			require.Empty(t, found)
			continue
		}
		require.Len(t, found, 1, text)
		require.Equal(t, want, found[0].Subject.Text())
	}
}

// A definition that is pasted into a program keeps its keys: the provider takes them with dashes.
func TestPastedDefinitions(t *testing.T) {
	t.Parallel()
	text := testfile.Text(t, "crd/testdata/widgets.yaml")
	program, objects := programOf(text)
	require.Positive(t, objects)
	require.Contains(t, program, "x-kubernetes-int-or-string: true")
	program = strings.Replace(program, "crds: [crds/*.yaml]\n", "", 1)
	require.Empty(t, checkProject(t, writeProject(t, program), kubernetes(t, smallKubernetes), workspace.Options{}))
	wrong := strings.Replace(program, "x-kubernetes-int-or-string: true", "x-kubernetes-int-or-string: many", 1)
	found := checkProject(t, writeProject(t, wrong), kubernetes(t, smallKubernetes), workspace.Options{})
	require.Len(t, found, 1)
	require.Equal(t, "many", found[0].Subject.Text())
}

// The same for every definition of real projects.
func TestRealPastedDefinitions(t *testing.T) {
	files, _, l := realDefinitions(t)
	total := 0
	for _, path := range files {
		text := testfile.Text(t, path)
		program, objects := programOf(text)
		total += objects
		program = strings.Replace(program, "crds: [crds/*.yaml]\n", "", 1)
		for _, d := range checkProject(t, writeProject(t, program), l, workspace.Options{}) {
			t.Errorf("%s: %s: %s (%s)", filepath.Base(path), d.Subject.Text(), d.Summary, d.Detail)
		}
	}
	t.Logf("%d definitions", total)
}

// realDefinitions returns the definition files and the examples in YAMLHOST_CRDS, and a loader of the schema in
// YAMLHOST_SCHEMAS_TODAY.
func realDefinitions(tb testing.TB) (files []string, examples string, l schema.Loader) {
	tb.Helper()
	dir, schemas := os.Getenv("YAMLHOST_CRDS"), os.Getenv("YAMLHOST_SCHEMAS_TODAY")
	if dir == "" || schemas == "" {
		tb.Skip("YAMLHOST_CRDS and YAMLHOST_SCHEMAS_TODAY do not name folders with definitions and with schemas")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	require.NoError(tb, err)
	files = slices.DeleteFunc(files, func(path string) bool { // the check warns of files that define no kind
		text := testfile.Text(tb, path)
		return !strings.Contains(text, "\nkind: CustomResourceDefinition")
	})
	require.NotEmpty(tb, files)
	found := testfile.Match(tb, filepath.Join(schemas, "kubernetes-*.json.gz"))
	require.NotEmpty(tb, found)
	return files, filepath.Join(dir, "gateway-api", "examples"), kubernetes(tb, found[0])
}

// fieldOf returns a top-level field of a manifest.
func fieldOf(manifest, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + `: *(\S+)`).FindStringSubmatch(manifest)
	if m == nil {
		return ""
	}
	return m[1]
}

// programOf converts manifests to a program.
func programOf(manifests string) (text string, objects int) {
	var b strings.Builder
	b.WriteString("name: examples\nruntime: yaml\ncrds: [crds/*.yaml]\nresources:\n")
	for _, manifest := range regexp.MustCompile(`(?m)^---.*$`).Split(manifests, -1) {
		kind, version := fieldOf(manifest, "kind"), fieldOf(manifest, "apiVersion")
		if kind == "" {
			continue
		}
		if !strings.Contains(version, "/") {
			version = "core/" + version
		}
		objects++
		fmt.Fprintf(&b, "  r%d:\n    type: kubernetes:%s:%s\n    properties:\n", objects, version, kind)
		for line := range strings.Lines(manifest) {
			b.WriteString("      " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return b.String(), objects
}

// Every example of the Gateway API checks without findings.
func TestRealExamples(t *testing.T) {
	files, examples, l := realDefinitions(t)
	paths := testfile.Match(t, filepath.Join(examples, "*.yaml"))
	dir := writeProject(t, "", files...)
	cache := &crd.Cache{Dir: t.TempDir()}
	total := 0
	for _, path := range paths {
		text := testfile.Text(t, path)
		program, objects := programOf(text)
		total += objects
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(program), 0o644))
		for _, d := range checkProject(t, dir, l, workspace.Options{CRDs: cache}) {
			if d.Code != diag.UnwrittenOrder {
				t.Errorf("%s: %s: %s (%s)", filepath.Base(path), d.Subject.Text(), d.Summary, d.Detail)
			}
		}
	}
	t.Logf("%d examples with %d objects", len(paths), total)
	require.Greater(t, total, 30)
}

// gateway is a valid program with kinds of the Gateway API and of cert-manager.
const gateway = `name: real
runtime: yaml
crds: [crds/*.yaml]
resources:
  class:
    type: kubernetes:gateway.networking.k8s.io/v1:GatewayClass
    properties:
      spec: {controllerName: example.com/controller}
  entry:
    type: kubernetes:gateway.networking.k8s.io/v1:Gateway
    properties:
      metadata: {name: entry, namespace: web}
      spec:
        gatewayClassName: ${class.metadata.name}
        listeners:
          - name: https
            protocol: HTTPS
            port: 443
            hostname: "*.example.com"
            tls: {mode: Terminate, certificateRefs: [{kind: Secret, name: site-tls}]}
            allowedRoutes: {namespaces: {from: Same}}
  route:
    type: kubernetes:gateway.networking.k8s.io/v1:HTTPRoute
    properties:
      metadata: {namespace: web}
      spec:
        parentRefs: [{name: "${entry.metadata.name}", sectionName: https}]
        hostnames: [shop.example.com]
        rules:
          - matches: [{path: {type: PathPrefix, value: /cart}, headers: [{name: x-version, value: "2"}]}]
            backendRefs:
              - name: cart
                port: 8080
                weight: 90
            timeouts: {request: 10s}
  issuer:
    type: kubernetes:cert-manager.io/v1:Issuer
    properties:
      metadata: {name: acme, namespace: web}
      spec:
        acme:
          server: https://acme.example.com/directory
          privateKeySecretRef: {name: account}
          solvers: [{http01: {ingress: {ingressClassName: nginx}}}]
  site:
    type: kubernetes:cert-manager.io/v1:Certificate
    properties:
      metadata: {name: site, namespace: web}
      spec:
        secretName: site-tls
        dnsNames: [shop.example.com]
        duration: 2160h
        issuerRef: {name: "${issuer.metadata.name}"}
        privateKey: {algorithm: ECDSA, size: 256, rotationPolicy: Always}
outputs:
  addresses: ${entry.status.addresses}
`

// Mistakes in objects of real kinds are reported at their places.
func TestRealMistakes(t *testing.T) {
	files, _, l := realDefinitions(t)
	findEach(t, gateway, l, []mistake{
		{"controllerName:", "controlerName:", diag.UnknownProperty, "controlerName", "`controllerName`"},
		{"gatewayClassName:", "gatewayClass:", diag.UnknownProperty, "gatewayClass", "gatewayClassName"},
		{"            port: 443\n", "", diag.RequiredMissing, "name: https", "needs port"},
		{"port: 443", "port: https", diag.NotAssignable, "https", "expected integer"},
		{"protocol: HTTPS", "protcol: HTTPS", diag.UnknownProperty, "protcol", "`protocol`"},
		{"mode: Terminate", "mode: Terminat", diag.NotInEnum, "Terminat", "`Terminate`"},
		{"{kind: Secret, name: site-tls}", "{kind: Secret}", diag.RequiredMissing, "{kind: Secret}", "needs name"},
		{"from: Same", "from: Smae", diag.NotInEnum, "Smae", "`Same`"},
		{"sectionName:", "section:", diag.UnknownProperty, "section", "sectionName"},
		{"hostnames: [shop.example.com]", "hostnames: shop.example.com", diag.NotAssignable, "shop.example.com", "list"},
		{"type: PathPrefix", "type: Prefix", diag.NotInEnum, "Prefix", ""},
		{"value: \"2\"", "vaule: \"2\"", diag.UnknownProperty, "vaule", "`value`"},
		{"backendRefs:", "backends:", diag.UnknownProperty, "backends", ""},
		{"weight: 90", "weight: heavy", diag.NotAssignable, "heavy", "expected integer"},
		{"timeouts: {request: 10s}", "timeouts: {requests: 10s}", diag.UnknownProperty, "requests", "`request`"},
		{"          server: https://acme.example.com/directory\n", "", diag.RequiredMissing, "acme", "needs server"},
		{"ingressClassName: nginx", "ingressClass: nginx", diag.UnknownProperty, "ingressClass", "ingressClassName"},
		{"secretName: site-tls", "secret: site-tls", diag.UnknownProperty, "secret", "secretName"},
		{"algorithm: ECDSA", "algorithm: ECSDA", diag.NotInEnum, "ECSDA", "`ECDSA`"},
		{"size: 256", "size: big", diag.NotAssignable, "big", "expected integer"},
		{"cert-manager.io/v1:Certificate", "cert-manager.io/v1:Certifcate", diag.TokenNotFound,
			"kubernetes:cert-manager.io/v1:Certifcate", "Certificate"},
		{"${entry.status.addresses}", "${entry.status.adresses}", diag.NoMember, ".adresses", "`addresses`"},
	}, files...)
}

// BenchmarkRealCheck measures a check with and without the definitions.
func BenchmarkRealCheck(b *testing.B) {
	files, _, l := realDefinitions(b)
	kept := b.TempDir()
	inMemory := &crd.Cache{Dir: kept}
	dir := writeProject(b, gateway, files...)
	checkProject(b, dir, l, workspace.Options{CRDs: inMemory})
	for _, c := range []struct {
		name  string
		cache func() *crd.Cache
	}{
		{"nothing kept", func() *crd.Cache { return new(crd.Cache) }},
		{"kept in a folder", func() *crd.Cache { return &crd.Cache{Dir: kept} }},
		{"kept in memory", func() *crd.Cache { return inMemory }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				checkProject(b, dir, l, workspace.Options{CRDs: c.cache()})
			}
		})
	}
	without := writeProject(b, strings.Replace(gateway, "crds: [crds/*.yaml]\n", "", 1))
	b.Run("without definitions", func(b *testing.B) {
		for b.Loop() {
			checkProject(b, without, l, workspace.Options{})
		}
	})
}
