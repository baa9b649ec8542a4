package project

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
)

// TestInherit: the stack's own values win, maps are merged, and unknown values count as set (F3.5, F3.11).
func TestInherit(t *testing.T) {
	t.Parallel()
	p, diags := Parse(diag.NewSource("Pulumi.yaml", []byte(`name: p
runtime: yaml
config:
  p:need: {type: string}
  p:size: {type: integer}
  p:flag: {type: boolean, default: true}
  p:token: {type: string, secret: true}
  p:plain: {type: string, secret: true}
`)))
	require.Empty(t, diags)
	s, diags := ParseSettings(diag.NewSource("Pulumi.dev.yaml", []byte(
		"environment: [e]\nconfig: {p:own: mine, p:map: {b: own, c: null, n: {x: 1}}, p:list: [1]}\n")), "p")
	require.Empty(t, diags)
	item := func(key string, v value.Value) value.Entry { return value.Entry{Key: key, Value: v} }
	require.Empty(t, s.Inherit(value.MapOf(item("own", value.String("theirs")), item("size", value.Number(1e6)),
		item("map", value.MapOf(item("a", value.String("hush").Secret()), item("b", value.Int(2)), item("c", value.Int(3)),
			item("n", value.MapOf(item("y", value.Int(2)))))),
		item("list", value.List(value.Int(2))), item("aws:region", value.String("eu")),
		item("need", value.Unknown(value.KindAny)),
		item("flag", value.String("maybe")), item("token", value.String("t").Secret()),
		item("plain", value.String("open"))), true, func(string) diag.Range { return *s.Environment }))
	config, diags, err := Merge(p, s, "dev", nil)
	require.NoError(t, err)
	type short struct {
		text           string
		secret, unread bool
	}
	got := map[string]short{}
	for key, text := range config {
		got[key.String()] = short{text.Text, text.Secret, text.Unread}
	}
	require.Equal(t, map[string]short{"p:own": {text: "mine"}, "p:size": {text: "1000000"},
		"p:map":  {text: `{"a":"hush","b":"own","c":null,"n":{"x":1,"y":2}}`, secret: true},
		"p:list": {text: "[1]"}, "aws:region": {text: "eu"}, "p:need": {secret: true, unread: true},
		"p:flag": {text: "maybe"}, "p:token": {text: "t", secret: true}, "p:plain": {text: "open"}}, got)
	var found []string
	for _, d := range diags {
		found = append(found, d.Subject.Source.Name()+": "+d.Summary)
	}
	require.ElementsMatch(t, []string{
		"Pulumi.dev.yaml: config p:flag in stack dev: `maybe` is not a boolean",
		"Pulumi.dev.yaml: config p:plain: the value in stack dev is not encrypted, but the key is secret"}, found)
}

// TestImports edits the list of a stack's environments in each of its forms.
func TestImports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, added, removed string }{
		"none": {"Pulumi.dev.yaml", "config:\n  p:a: b\n", "environment:\n  - new\nconfig:\n  p:a: b\n",
			"config:\n  p:a: b\n"},
		"empty": {"Pulumi.dev.yaml", "", "environment:\n  - new\n", ""},
		"list": {"Pulumi.dev.yaml", "environment:\n  - old # why\n", "environment:\n  - old # why\n  - new\n",
			"environment:\n  - old # why\n"},
		"document": {"Pulumi.dev.yaml", "environment:\n  values: {a: 1}\n",
			"environment:\n  imports:\n    - new\n  values: {a: 1}\n",
			"environment:\n  imports: []\n  values: {a: 1}\n"},
		"json": {"Pulumi.dev.json", `{"environment": ["old"]}`,
			"{\n    \"environment\": [\n        \"old\",\n        \"new\"\n    ]\n}\n",
			"{\n    \"environment\": [\n        \"old\"\n    ]\n}\n"},
	} {
		s, diags := ParseSettings(diag.NewSource(c.file, []byte(c.text)), "p")
		require.Empty(t, diags, name)
		s.Path = filepath.Join(t.TempDir(), c.file)
		require.True(t, s.AddImport("new"), name)
		require.False(t, s.AddImport("new"), name)
		text, err := s.Text()
		require.NoError(t, err, name)
		require.Equal(t, c.added, string(text), name)
		require.False(t, s.RemoveImport("other"), name)
		require.True(t, s.RemoveImport("new"), name)
		text, err = s.Text()
		require.NoError(t, err, name)
		require.Equal(t, c.removed, string(text), name)
	}
}
