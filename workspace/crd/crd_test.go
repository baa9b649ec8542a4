package crd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/internal/confine"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/testfile"
	"github.com/yamlhost/yamlhost/schema"
	"github.com/yamlhost/yamlhost/workspace/crd"
)

// nothing is a loader without packages.
type nothing struct{}

func (nothing) Load(context.Context, schema.Descriptor) (*schema.Package, error) {
	return nil, schema.ErrNotFound
}

// read reads files of testdata and returns the package of their kinds alone.
func read(t *testing.T, c *crd.Cache, paths ...string) (*schema.Package, diag.Diagnostics) {
	t.Helper()
	files := make([]crd.File, len(paths))
	for i, path := range paths {
		absolute, err := filepath.Abs(path)
		require.NoError(t, err)
		files[i] = crd.File{Path: absolute, Shown: filepath.Base(path)}
	}
	set, diags := c.Read(confine.Anywhere(), files)
	if set.Empty() {
		return nil, diags
	}
	pkg, err := set.Loader(nothing{}).Load(t.Context(), schema.Descriptor{Name: "kubernetes"})
	require.NoError(t, err)
	require.ErrorIs(t, pkg.Missing(), schema.ErrNotFound)
	return pkg, diags
}

// D21: the kinds of a file are resources. The file has every type of the OpenAPI schemas in definitions.
func TestKinds(t *testing.T) {
	t.Parallel()
	pkg, diags := read(t, new(crd.Cache), "testdata/widgets.yaml", "testdata/list.json")
	require.Empty(t, diags)
	require.NoError(t, pkg.Verify())
	require.ElementsMatch(t, []string{"kubernetes:shop.example.com/v1:Widget", "kubernetes:shop.example.com/v1alpha1:Widget",
		"kubernetes:shop.example.com/v1:Shop"}, pkg.ResourceTokens())

	widget, err := pkg.ResolveResource("kubernetes:shop.example.com/v1:Widget")
	require.NoError(t, err)
	require.Equal(t, "A Widget is something to sell.", widget.Description)
	require.Equal(t, "shop.example.com/v1", widget.Inputs.Property("apiVersion").Const)
	require.Equal(t, "Widget", widget.Inputs.Property("kind").Const)
	require.Nil(t, widget.Inputs.Property("status"), "the cluster writes it")
	require.NotNil(t, widget.Outputs.Property("status"))
	spec := widget.Inputs.Property("spec")
	require.True(t, spec.Required)
	types, required := map[string]string{}, []string{}
	for _, p := range schema.Required(spec.Type).(*schema.Object).Properties() {
		types[p.Name] = schema.TypeName(p.Type)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	require.Equal(t, map[string]string{"name": "string", "size": "integer", "weight": "number?", "active": "bool?",
		"currency": "string?", "colour": "enum(blue, green, red)?", "port": "(integer or string)?", "labels": "map<string>?",
		"tags": "list<string>?", "owner": "object", "parts": "list<object>?", "settings": "any", "template": "object?"},
		sortedEnum(types))
	require.ElementsMatch(t, []string{"name", "size", "owner"}, required, "the cluster fills in what has a default")
	object := schema.Required(spec.Type).(*schema.Object)
	require.Contains(t, object.Property("currency").Description, "Default: `EUR`")
	require.Nil(t, object.Property("currency").Default, "the program does not send it")
	require.True(t, schema.Required(object.Property("owner").Type).(*schema.Object).Closed)
	require.False(t, schema.Required(object.Property("template").Type).(*schema.Object).Closed)

	old, err := pkg.ResolveResource("kubernetes:shop.example.com/v1alpha1:Widget")
	require.NoError(t, err)
	require.Contains(t, old.Deprecation, "use v1")
	require.Equal(t, "any", schema.TypeName(old.Inputs.Property("spec").Type))
	shop, err := pkg.ResolveResource("kubernetes:shop.example.com/v1:Shop")
	require.NoError(t, err)
	require.Equal(t, "object?", schema.TypeName(shop.Inputs.Property("spec").Type))
}

// sortedEnum makes the test independent of the order of an enum's values.
func sortedEnum(types map[string]string) map[string]string {
	if types["colour"] == "enum(red, green, blue)?" {
		types["colour"] = "enum(blue, green, red)?"
	}
	return types
}

// D21: a file that cannot be read has one finding at its place.
func TestFaults(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
	for name, c := range map[string]struct{ text, place, summary string }{
		"no YAML":     {head + "spec:\n\tgroup: a\n", "4:1", "the file is no YAML"},
		"a template":  {"{{ if .Values.crds }}\n" + head + "{{ end }}\n", "", "the file is no YAML"},
		"no group":    {head + "spec:\n  names: {kind: A}\n", "3:1", "no spec.group"},
		"no kind":     {head + "spec:\n  group: a.b\n  names: {plural: as}\n", "5:3", "no spec.names.kind"},
		"no spec":     {head, "1:1", "no spec.group"},
		"no versions": {head + "spec:\n  group: a.b\n  names: {kind: A}\n  versions: []\n", "6:3", "has no versions"},
		"a nameless version": {head + "spec:\n  group: a.b\n  names: {kind: A}\n  versions:\n    - {served: true}\n", "7:7",
			"has no name"},
		"a schema that is none": {head + "spec:\n  group: a.b\n  names: {kind: A}\n  versions:\n" +
			"    - name: v1\n      schema:\n        openAPIV3Schema: 5\n", "9:26", "is not a map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "crd.yaml")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
			pkg, diags := read(t, new(crd.Cache), path)
			require.Nil(t, pkg)
			require.Len(t, diags, 1)
			require.Equal(t, diag.BadDefinition, diags[0].Code)
			require.Contains(t, diags[0].Summary, c.summary)
			if c.place != "" {
				pos := diags[0].Subject.StartPosition()
				require.Equal(t, c.place, fmt.Sprintf("%d:%d", pos.Line, pos.Column))
			}
		})
	}
	t.Run("too deep", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "crd.yaml")
		text := head + "spec: {group: a.b, names: {kind: A}, versions: [{name: v1, schema: {openAPIV3Schema: {properties: {a: "
		const depth = 200
		text += strings.Repeat("{type: array, items: ", depth) + "{type: string}" + strings.Repeat("}", depth) + "}}}}]}\n"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, diags := read(t, new(crd.Cache), path)
		require.Len(t, diags, 1)
		require.Contains(t, diags[0].Summary, "too large or too deep")
	})
}

// An unchanged file is converted once, within a process and across processes.
func TestCache(t *testing.T) {
	t.Parallel()
	text := testfile.Text(t, "testdata/widgets.yaml")
	path := filepath.Join(t.TempDir(), "crd.yaml")
	then := time.Unix(1_700_000_000, 0)
	write := func(text string, when time.Time) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		require.NoError(t, os.Chtimes(path, when, when))
	}
	write(text, then)
	dir := t.TempDir()
	kept := &crd.Cache{Dir: dir}
	first, _ := read(t, kept, path)
	again, _ := read(t, kept, path)
	require.Same(t, first, again, "an editor sees the same package while the file stays")
	another, _ := read(t, &crd.Cache{Dir: dir}, path)
	require.ElementsMatch(t, first.ResourceTokens(), another.ResourceTokens())
	require.NoError(t, another.Verify())

	write(strings.ReplaceAll(text, "kind: Widget,", "kind: Gadget,"), then.Add(time.Second))
	changed, _ := read(t, kept, path)
	require.Contains(t, changed.ResourceTokens(), "kubernetes:shop.example.com/v1:Gadget")
	schemas := testfile.Match(t, filepath.Join(dir, "*.json"))
	require.Len(t, schemas, 1, "the schema of the earlier state is gone")

	require.NoError(t, os.WriteFile(schemas[0], []byte("{}"), 0o644))
	sound, _ := read(t, &crd.Cache{Dir: dir}, path)
	require.NoError(t, sound.Verify(), "a damaged file of the cache is made anew")
}

// If two files define a kind, the first one counts.
func TestTwice(t *testing.T) {
	t.Parallel()
	text := testfile.Bytes(t, "testdata/widgets.yaml")
	copied := filepath.Join(t.TempDir(), "copy.yaml")
	require.NoError(t, os.WriteFile(copied, text, 0o644))
	_, diags := read(t, new(crd.Cache), "testdata/widgets.yaml", copied)
	require.Len(t, diags, 1)
	require.Equal(t, diag.Warning, diags[0].Severity)
	require.Contains(t, diags[0].Summary, "is defined by widgets.yaml too")
}

// A file that defines no kind is a warning: its name is wrong, or its definition is lost.
func TestNoDefinition(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"} {
		path := filepath.Join(t.TempDir(), "map.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		set, diags := new(crd.Cache).Read(confine.Anywhere(), []crd.File{{Path: path, Shown: "map.yaml"}})
		require.True(t, set.Empty())
		require.Len(t, diags, 1)
		require.Equal(t, diag.Warning, diags[0].Severity)
		require.Equal(t, "map.yaml defines no kind", diags[0].Summary)
	}
}
