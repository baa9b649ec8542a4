package editor_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/yamlhost/yamlhost/editor"
	"github.com/yamlhost/yamlhost/internal/diag"
	"github.com/yamlhost/yamlhost/internal/value"
	"github.com/yamlhost/yamlhost/parser"
	"github.com/yamlhost/yamlhost/workspace/project"
)

// recorder opens the file Pulumi.yaml as a program with a state, and other files as settings or environments of that
// program.
type recorder struct {
	opener
	state *editor.State
}

func noFindings(found diag.Diagnostics) diag.Diagnostics { return found }

func (r recorder) Open(ctx context.Context, path string, open func(string) *parser.Document) (*editor.Project, error) {
	if filepath.Base(path) != filepath.Base(file) {
		return &editor.Project{Main: path, SettingsOf: file, Join: noFindings,
			IsEnvironment: strings.Contains(path, "/environments/"),
			Environments:  func() []string { return []string{"base", "team/dev"} }}, nil
	}
	p, err := r.opener.Open(ctx, path, open)
	p.State = func(context.Context) *editor.State { return r.state }
	return p, err
}

const statefulProgram = `resources:
  pet:
    type: random:RandomPet
  password:
    type: random:RandomPassword
    properties: {length: 8}
  many:
    type: random:RandomPet
    forEach: {a: 1}
  new:
    type: random:RandomPet
  sealed:
    type: random:RandomPet
outputs:
  s: ${sealed.id}
  o: ${pet.separator}
  p: ${password.result}
  i: ${pet.id}
  q: ${password.bcryptHash}
`

func TestState(t *testing.T) {
	t.Parallel()
	pet := "random:index/randomPet:RandomPet"
	state := &editor.State{Stack: "dev", Resources: map[editor.Recorded]editor.Deployed{
		{Type: pet, Name: "pet"}: {ID: "good-eel", Protect: true, Pending: "to be replaced",
			Outputs: value.Map(map[string]value.Value{"separator": value.String("`-`")})},
		{Type: "random:index/randomPassword:RandomPassword", Name: "password"}: {ID: "none",
			Outputs: value.Map(map[string]value.Value{
				"result": value.String("canary-schema"), "bcryptHash": value.String("canary-sealed").Secret()})},
		{Type: pet, Name: "many-a"}: {ID: "x"},
		{Type: pet, Name: "sealed"}: {ID: "canary-id", Sealed: true},
	}}
	s := editor.NewSession(recorder{newOpener(), state})
	s.Open(file, statefulProgram)
	lenses, err := editor.Lenses(t.Context(), s.Snapshot(), file)
	require.NoError(t, err)
	shown := map[string]string{}
	for _, l := range lenses {
		shown[l.At.Text()] = l.Text
	}
	require.Equal(t, map[string]string{"pet": "dev: good-eel, protected, to be replaced", "password": "dev: none",
		"many": "dev: 1 instance", "new": "dev: not deployed", "sealed": "dev: deployed"}, shown)
	for path, want := range map[string]string{"pet:": "In the stack `dev`: `good-eel, protected, to be replaced`",
		"separator}": "``",
		"result}":    "[secret]", "bcryptHash}": "[secret]", "sealed.id}": "deployed", "id}\n  o": "[secret]",
		"id}\n  q": "`\"good-eel\"`"} {
		hover, err := editor.HoverAt(t.Context(), s.Snapshot(), file, strings.Index(statefulProgram, path)+1)
		require.NoError(t, err)
		require.NotNil(t, hover, path)
		require.Contains(t, hover.Text, want, path)
		require.NotContains(t, hover.Text, "canary")
	}
}

// A recorded resource is an instance of the resource with the longest name, unless it is declared itself.
func TestInstancesAreCountedOnce(t *testing.T) {
	t.Parallel()
	state := &editor.State{Stack: "dev", Resources: map[editor.Recorded]editor.Deployed{}}
	for _, name := range []string{"a-0", "a-1", "a-b", "a-c-0", "b-0"} {
		state.Resources[editor.Recorded{Type: "random:index/randomPet:RandomPet", Name: name}] = editor.Deployed{ID: name}
	}
	s := editor.NewSession(recorder{newOpener(), state})
	s.Open(file, "resources:\n  a: {type: random:RandomPet, forEach: 2}\n  a-b: {type: random:RandomPet}\n"+
		"  a-c: {type: random:RandomPet, forEach: 1}\n")
	lenses, err := editor.Lenses(t.Context(), s.Snapshot(), file)
	require.NoError(t, err)
	shown := map[string]string{}
	for _, l := range lenses {
		shown[l.At.Text()] = l.Text
	}
	require.Equal(t, map[string]string{"a": "dev: 2 instances", "a-b": "dev: a-b", "a-c": "dev: 1 instance"}, shown)
}

const configuredProgram = `config:
  size: {type: integer, description: how large}
  on: {type: boolean, default: true}
  password: {type: string, secret: true}
outputs:
  o: ${size}
`

// TestKeysOfSettings checks that completion, the JSON Schema and the reader of stacks' settings files know the same
// keys.
func TestKeysOfSettings(t *testing.T) {
	t.Parallel()
	const settings = "/project/Pulumi.dev.yaml"
	s := editor.NewSession(recorder{newOpener(), nil})
	s.Open(file, configuredProgram)
	s.Open(settings, "")
	found, err := editor.Complete(t.Context(), s.Snapshot(), settings, 0)
	require.NoError(t, err)
	p, err := s.Snapshot().Program(t.Context(), file)
	require.NoError(t, err)
	known, _ := editor.StackJSONSchema(p.Checked)["properties"].(map[string]any)
	require.Len(t, known, len(found.Items))
	for _, item := range found.Items {
		require.Contains(t, known, item.Label)
		_, misspelled := project.ParseSettings(diag.NewSource(settings, []byte(item.Label+"s: x\n")), "p")
		require.Len(t, misspelled, 1, item.Label)
		require.Contains(t, misspelled[0].Summary, "did you mean "+item.Label+"?")
	}
}

// TestEnvironments checks completion and hover in environments, both in separate files and in stacks' settings.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	for marks, want := range map[string][]string{
		"¦":                                   {"description", "imports", "values"},
		"imports: [¦]":                        {"base", "team/dev"},
		"imports:\n  - te¦":                   {"team/dev"},
		"values:\n  ¦":                        {"pulumiConfig", "environmentVariables", "files"},
		"values:\n  pulumiConfig:\n    ¦":     {"password", "size", "on"},
		"values:\n  a:\n    fn::op¦":          {"fn::open::env", "fn::open::command"},
		"values:\n  a:\n    - fn::open::e¦":   {"fn::open::env"},
		"values:\n  a: {fn::open::env: {n¦}}": {"name"},
		"values:\n  a:\n    fn::open::pulumi-stacks:\n      stacks:\n        one: {¦}": {"stack"},
	} {
		for path, text := range map[string]string{"/project/environments/team/dev.yaml": marks,
			"/project/Pulumi.dev.yaml": "environment:\n  " + strings.ReplaceAll(marks, "\n", "\n  ")} {
			text, i, _ := marked(t, text)
			s := editor.NewSession(recorder{newOpener(), nil})
			s.Open(file, configuredProgram)
			s.Open(path, text)
			found, err := editor.Complete(t.Context(), s.Snapshot(), path, i)
			require.NoError(t, err)
			var labels []string
			for _, item := range found.Items {
				labels = append(labels, item.Label)
			}
			require.Subset(t, labels, want, "%s in %s: %s", marks, path, text)
		}
	}
	const document = "values: {a: {fn::open::env: {name: X}}, files: {}}\n"
	for path, text := range map[string]string{"/project/environments/dev.yaml": document,
		"/project/Pulumi.dev.yaml": "environment:\n  " + document} {
		s := editor.NewSession(recorder{newOpener(), nil})
		s.Open(path, text)
		for place, want := range map[string]string{"values": "What the environment holds", "fn::open": "An environment variable.",
			"name": "The name of the variable.", "files": "written to files"} {
			hover, err := editor.HoverAt(t.Context(), s.Snapshot(), path, strings.Index(text, place)+1)
			require.NoError(t, err)
			require.NotNil(t, hover, place)
			require.Contains(t, hover.Text, want)
		}
	}
	s := editor.NewSession(recorder{newOpener(), nil})
	s.Open("/project/Pulumi.dev.yaml", "environment: [b]\n")
	found, err := editor.Complete(t.Context(), s.Snapshot(), "/project/Pulumi.dev.yaml", len("environment: [b"))
	require.NoError(t, err)
	require.Len(t, found.Items, 1)
	require.Equal(t, "base", found.Items[0].Insert)
}

// TestSettings checks completion and hover in a stack's settings file, based on the declarations of its program.
func TestSettings(t *testing.T) {
	t.Parallel()
	const settings = "/project/Pulumi.dev.yaml"
	opened := func(marks string) (*editor.Snapshot, int) {
		text, i, _ := marked(t, marks)
		s := editor.NewSession(recorder{newOpener(), nil})
		s.Open(file, configuredProgram)
		s.Open(settings, text)
		return s.Snapshot(), i
	}
	for marks, want := range map[string][]string{
		"con¦":                         {"config"},
		"config:\n  p:¦":               {"p:password", "p:size", "p:on"},
		"config:\n  p:o¦":              {"p:on", "p:password"},
		"config:\n  p:on: ¦":           {"false", "true"},
		"config:\n  p:size: ¦":         nil,
		"config:\n  p:x:\n    deep: ¦": nil,
	} {
		s, i := opened(marks)
		found, err := editor.Complete(t.Context(), s, settings, i)
		require.NoError(t, err)
		var labels []string
		for _, item := range found.Items {
			labels = append(labels, item.Label)
		}
		if want == nil {
			require.Empty(t, labels, marks)
			continue
		}
		require.Subset(t, labels, want[:1], marks)
	}
	s, i := opened("config:\n  p:pass¦word:\n    secure: canary\n")
	hover, err := editor.HoverAt(t.Context(), s, settings, i)
	require.NoError(t, err)
	require.NotNil(t, hover)
	require.Contains(t, hover.Text, "config password: string, secret")
	require.NotContains(t, hover.Text, "canary")
	places, err := editor.Definition(t.Context(), s, settings, i)
	require.NoError(t, err)
	require.Len(t, places, 1)
	require.Equal(t, file, places[0].Path)
	require.Equal(t, "password", places[0].At.Text())
}

func TestTypeDefinition(t *testing.T) {
	t.Parallel()
	const text = "components:\n  Pets:\n    outputs: {n: 1}\nresources:\n  mine:\n    type: components:Pets\n  pet:\n   " +
		" type: random:RandomPet\noutputs:\n  o: ${mine.n}\n  p: ${pet.id}\n"
	s := snapshotOf(text)
	for _, path := range []string{"components:Pets", "mine:", "mine.n", "n}"} {
		found, err := editor.TypeDefinition(t.Context(), s, file, strings.Index(text, path)+1)
		require.NoError(t, err)
		require.Len(t, found, 1, path)
		require.Equal(t, strings.Index(text, "Pets:"), int(found[0].At.Start), path)
	}
	found, err := editor.TypeDefinition(t.Context(), s, file, strings.Index(text, "pet.id")+1)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestMoved(t *testing.T) {
	t.Parallel()
	const text = "variables:\n  a: {fn::readFile: ./parts/a.txt}\n  b: ${readFile(\"parts/b.txt\")}\n  c:\n    " +
		"fn::fileAsset: other.txt\n"
	s := snapshotOf(text)
	dir := filepath.Dir(file)
	for move, want := range map[[2]string]string{
		{"parts/a.txt", "parts/new.txt"}: strings.Replace(text, "a.txt", "new.txt", 1),
		{"parts", "moved/far"}:           strings.ReplaceAll(text, "parts/", "moved/far/"),
		{"other.txt", "../other.txt"}:    strings.Replace(text, "other.txt", "../other.txt", 1),
		{"part", "no"}:                   text,
	} {
		edits, err := editor.Moved(t.Context(), s, filepath.Join(dir, move[0]), filepath.Join(dir, move[1]))
		require.NoError(t, err)
		require.Equal(t, want, applied(text, edits[file]), move)
	}
}

// TestRenameOffersTheAlias checks that an alias is offered for a resource that the stack has under another name, which
// the program no longer declares. An equal type alone must not suffice.
func TestRenameOffersTheAlias(t *testing.T) {
	t.Parallel()
	const pet = "random:index/randomPet:RandomPet"
	inputs := func(entries ...string) value.Value {
		m := map[string]value.Value{"length": value.Number(3)}
		for _, e := range entries {
			m[e] = value.String("x")
		}
		return value.Map(m)
	}
	state := &editor.State{Stack: "dev", Resources: map[editor.Recorded]editor.Deployed{
		{Type: pet, Name: "old"}:    {ID: "a", Inputs: inputs()},
		{Type: pet, Name: "other"}:  {ID: "b", Inputs: inputs("prefix")},
		{Type: pet, Name: "second"}: {ID: "c", Inputs: value.Map(map[string]value.Value{"length": value.Number(9)})},
		{Type: pet, Name: "kept"}:   {ID: "d", Inputs: inputs()},
	}}
	for text, want := range map[string]string{
		"resources:\n  new¦:\n    type: random:RandomPet\n    properties: {length: 3}\n  kept: {type: random:RandomPet, " +
			"properties: {length: 3}}\n": "resources:\n  new:\n    type: random:RandomPet\n    options:\n      aliases: [{name: old}]\n" +
			"    properties: {length: 3}\n  kept: {type: random:RandomPet, properties: {length: 3}}\n",
		"resources:\n  new: {type: random:¦RandomPet, properties: {length: 9}, options: {parent: \"${kept}\"}}\n" +
			"  kept: {type: random:RandomPet}\n": "resources:\n  new: {type: random:RandomPet, properties: {length: 9}, options: " +
			"{aliases: [{name: second, noParent: true}], parent: \"${kept}\"}}\n  kept: {type: random:RandomPet}\n",
		"resources:\n  kept¦:\n    type: random:RandomPet\n":                                                       "",
		"resources:\n  new¦:\n    type: random:RandomUuid\n":                                                       "",
		"resources:\n  new¦:\n    type: random:RandomPet\n    properties: {length: 4}\n":                           "",
		"resources:\n  new:\n    type: random:RandomPet\n    properties: {length: ¦3}\n":                           "",
		"resources:\n  new¦:\n    type: random:RandomPet\n    forEach: {a: 1}\n    properties: {length: 3}\n":      "",
		"resources:\n  new¦: {type: random:RandomPet, properties: {length: 3}, options: {aliases: [old, kept]}}\n": "",
	} {
		plain, start, end := marked(t, text)
		s := editor.NewSession(recorder{newOpener(), state})
		s.Open(file, plain)
		offered, err := editor.Actions(t.Context(), s.Snapshot(), file, start, end)
		require.NoError(t, err)
		var kept []string
		for _, a := range offered {
			if a.Kind == editor.KeepAction {
				require.Contains(t, a.Title, "new looks like a rename of it")
				kept = append(kept, applied(plain, a.Edits[file]))
			}
		}
		if want == "" {
			require.Empty(t, kept, text)
			continue
		}
		require.Contains(t, kept, want)
		lenses, err := editor.Lenses(t.Context(), s.Snapshot(), file)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(lenses), "dev: not deployed, looks like a rename of ")
	}
}
