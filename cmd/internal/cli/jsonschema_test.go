package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/testschema"
	"gopkg.in/yaml.v3"
)

// editorSchema returns the compiled output of `schema --json-schema`, after validation against the metaschema.
func editorSchema(t *testing.T, x *terminal, args ...string) *jsonschema.Schema {
	t.Helper()
	require.Equal(t, 0, x.run(append([]string{"schema", "--json-schema"}, args...)...), x.err.String())
	require.Empty(t, x.err.String())
	return testschema.Compile(t, x.out.Bytes(), nil)
}

func validateText(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var document any
	require.NoError(t, yaml.Unmarshal([]byte(text), &document))
	return s.Validate(document)
}

// TestJSONSchemaAcceptsExamples validates every program, included file and stack file of the examples with the schemas
// of its project, with and without the inputs of all types.
func TestJSONSchemaAcceptsExamples(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../../examples")
	require.NoError(t, err)
	count := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "schemas" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".json" {
			return err
		}
		if filepath.Base(filepath.Dir(path)) == "crds" { // no programs
			return nil
		}
		count++
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			x := newTerminal(t, onePet)
			dir := filepath.Dir(path)
			var schemas []string
			if filepath.Base(filepath.Dir(dir)) == "policies" {
				schemas = []string{"--schema-dir", filepath.Join(root, "policies", "schemas")}
			}
			if filepath.Base(path) == "portable.yaml" {
				dir = path // a separate program beside the project's
			} else if filepath.Base(dir) == "parts" {
				dir = filepath.Dir(dir)
			}
			if base := filepath.Base(path); strings.Count(base, ".") == 2 {
				require.NoError(t, validateText(t, editorSchema(t, x, append(schemas, dir, "--stack-file")...), string(text)))
				return
			}
			require.NoError(t, validateText(t, editorSchema(t, x, append(schemas, dir)...), string(text)))
			require.NoError(t, validateText(t, editorSchema(t, x, append(schemas, dir, "--all")...), string(text)))
		})
		return nil
	}))
	require.Greater(t, count, 20)
}

const schemaProgram = `name: p
runtime: yaml
config:
  size: {type: integer}
  zones: {type: list<string>, default: [a]}
components:
  Pair:
    inputs:
      of: {type: string}
    resources:
      pet: {type: random:RandomPet, properties: {prefix: "${of}"}}
dynamic:
  Note:
    provider: ./note.py
    inputs: {title: {type: string}}
hooks:
  say: {command: [echo, hello]}
transforms:
  - match: {type: "random:*"}
    when: ${args.custom}
    options: {retainOnDelete: true}
variables:
  run: {fn::invoke: {function: command:local:run, arguments: {command: date}, return: stdout}}
resources:
  password:
    type: random:RandomPassword
    properties: {length: 8, special: true}
  shell:
    type: command:local:Command
    forEach: ${zones}
    if: ${size > 1}
    properties: {create: date, logging: stdout}
    options: {dependsOn: ["${password}"], protect: false, hooks: {beforeCreate: say}}
  pair: {type: components:Pair, properties: {of: x}}
  note: {type: dynamic:Note, properties: {title: x}}
outputs:
  out: ${password.result}
`

// TestJSONSchemaRefuses changes a valid program: the schema rejects each mistake and accepts each valid variant.
func TestJSONSchemaRefuses(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, schemaProgram)
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "note.py"), nil, 0o644))
	s := editorSchema(t, x)
	require.NoError(t, validateText(t, s, schemaProgram))
	for old, changed := range map[string]string{
		"resources:\n  password":      "resource:\n  password",
		"random:RandomPassword":       "random:RandomPasword",
		"components:Pair":             "components:Pear",
		"dynamic:Note":                "dynamic:Node",
		"{length: 8, ":                "{lenght: 8, length: 8, ",
		"length: 8, ":                 "",
		"length: 8":                   "length: eight",
		"length: 8, s":                "length: [8], s",
		"special: true":               "special: sometimes",
		"logging: stdout":             "logging: nowhere",
		"{of: x}":                     "{off: x}",
		"{title: x}":                  "{title: [x]}",
		"forEach: ":                   "for: ",
		"protect: false":              "protect: {a: b}",
		"protect: false,":             "protected: false,",
		"match: {type":                "match: {kind",
		"retainOnDelete: true":        "parent: x",
		"when: ":                      "if: ",
		"[\"${password}\"]":           "[password]",
		"beforeCreate":                "beforeCreation",
		"fn::invoke: ":                "fn::invok: ",
		"command:local:run,":          "command:local:walk,",
		"{command: date}":             "{commands: date}",
		"arguments: {command: date},": "",
		"return: stdout":              "return: [stdout]",
		"type: integer":               "type: integral",
		"default: [a]":                "defaults: [a]",
		"provider: ./note.py":         "file: ./note.py",
		"command: [echo, hello]":      "commands: [echo, hello]",
		"    type: random:RandomPassword\n    properties: {length: 8, special: true}": "    type: random:RandomPassword",
	} {
		require.Contains(t, schemaProgram, old)
		require.Error(t, validateText(t, s, strings.Replace(schemaProgram, old, changed, 1)), "%s", changed)
	}
	for old, changed := range map[string]string{
		"length: 8":                   "length: '${size}'",
		"special: true":               "special: {fn::can: 1}",
		"logging: stdout":             "logging: '${run}'",
		"{length: 8, special: true}":  "${settings}",
		"prefix: \"${of}\"":           "prefix: null",
		"random:RandomPassword":       "random:index/randomPassword:RandomPassword",
		"type: random:RandomPassword": "type: random:index:RandomPassword",
		"type: dynamic:Note":          "type: kubernetes:apps/v1:Deployment",
		"{type: list<string>":         "{type: 'List<String>?'",
		"{type: integer}":             "5",
		"[\"${password}\"]":           "'${password}'",
		"length: 8, special: true}":   "length: '8'}",
		"    properties: {length: 8,": "    get: {id: x, state: {result: y}}\n    options: {version: \"1\"} #",
		"type: components:Pair":       "type: pulumi:providers:aws",
	} {
		require.Contains(t, schemaProgram, old)
		text := strings.Replace(schemaProgram, old, changed, 1)
		if strings.Contains(changed, "providers:aws") {
			text = strings.Replace(text, "{of: x}", "{region: x}", 1)
		}
		require.NoError(t, validateText(t, s, text), "%s", changed)
	}
}

// TestJSONSchemaOfAll checks the inputs of a type that the program does not use: the schema with --all rejects wrong
// ones, the default schema accepts them.
func TestJSONSchemaOfAll(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	other := "name: p\nresources:\n  b: {type: random:RandomId, properties: {byteLength: eight}}\n"
	short := editorSchema(t, x)
	size := x.out.Len()
	require.NoError(t, validateText(t, short, other))
	x.out.Reset()
	all := editorSchema(t, x, "--all")
	require.Greater(t, x.out.Len(), size)
	require.Error(t, validateText(t, all, other))
	t.Logf("random and what is built in: %d bytes, with all types %d", size, x.out.Len())
}

func TestJSONSchemaOfStackFiles(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, `name: p
runtime: yaml
config:
  size: {type: integer}
  zones: {type: list<string>, default: [a]}
  on: {type: boolean, default: true}
  key: {type: string, secret: true}
  limits: {type: object, default: {a: 1}}
  text: {type: string, name: words}
`)
	s := editorSchema(t, x, "--stack-file")
	for _, sound := range []string{"",
		"config: {p:size: 3, size: '4', p:zones: [b, {secure: x}], zones: '[\"a\"]', p:on: 'true'}",
		"config: {p:key: {secure: abc}, aws:region: x, p:limits: {a: {secure: x}}, p:words: 7}\nencryptionsalt: " +
			"v1:x\nenvironment: [dev]"} {
		require.NoError(t, validateText(t, s, sound), sound)
	}
	for _, wrong := range []string{"config: {p:size: big}", "config: {size: [3]}", "config: {p:zones: b}",
		"config: {p:on: 1}",
		"config: {p:words: [x]}", "config: {p:limits: 3}", "config: {p:key: {secure: 3}}", "config: [a]",
		"encryptionsalt: [1]"} {
		require.Error(t, validateText(t, s, wrong), wrong)
	}
}

func TestJSONSchemaCommandLine(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, onePet)
	for args, says := range map[string]string{
		"schema --all random":                     "--all and --stack-file go with --json-schema",
		"schema --json-schema a b":                "and nothing more",
		"schema --json-schema --all --stack-file": "none of the others can be",
		"schema --json-schema nowhere":            "nowhere does not exist",
	} {
		require.NotEqual(t, 0, x.run(strings.Fields(args)...), args)
		require.Contains(t, x.err.String(), says)
	}
	// A faulty program gets a schema of its readable parts. Types of a missing package accept any inputs.
	x = newTerminal(t,
		"name: p\nruntime: yaml\nresources:\n  a: {type: nosuch:Thing}\n  b: {type: random:RandomPet, properties: {size: "+
			"3}}\n")
	require.Equal(t, 0, x.run("schema", "--json-schema"), x.err.String())
	require.Contains(t, x.err.String(), "any type of package nosuch is allowed")
	s := testschema.Compile(t, x.out.Bytes(), nil)
	require.NoError(t, validateText(t, s,
		"resources:\n  a: {type: nosuch:Thing}\n  b: {type: random:RandomPet, properties: {length: 3}}\n"))
	require.Error(t, validateText(t, s, "resources:\n  b: {type: random:RandomPet, properties: {size: 3}}\n"))
}

// TestJSONSchemaStartsNothing has a project with a plugin: `schema PACKAGE` starts it, --json-schema does not.
func TestJSONSchemaStartsNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a shell script")
	}
	x := newTerminal(t, `name: p
runtime: yaml
plugins: {providers: [{name: thing, path: ./plug}]}
packages: {other: {source: ./plug/pulumi-resource-thing, parameters: [a]}}
resources:
  a: {type: thing:Any, properties: {b: c}}
  d: {type: other:Any}
`)
	marker := filepath.Join(x.world.Dir, "started")
	require.NoError(t, os.Mkdir(filepath.Join(x.world.Dir, "plug"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(x.world.Dir, "plug", "pulumi-resource-thing"),
		[]byte("#!/bin/sh\n: > '"+marker+"'\nexit 1\n"), 0o755))
	for _, args := range [][]string{{"schema", "--json-schema"}, {"schema", "--json-schema", "--all"},
		{"schema", "--json-schema", "--stack-file"}} {
		require.Equal(t, 0, x.run(args...), x.err.String())
		require.NoFileExists(t, marker)
		testschema.Compile(t, x.out.Bytes(), nil)
	}
	require.NotEqual(t, 0, x.run("schema", "thing"))
	require.FileExists(t, marker)
}
