package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"github.com/yamlhost/yamlhost/internal/testschema"
	"github.com/yamlhost/yamlhost/runtime/queue"
)

// closed makes a schema reject members that it does not name. The published schemas allow them.
func closed(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		_, isObject := s["properties"].(map[string]any)
		if _, said := s["additionalProperties"]; isObject && !said {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			closed(part)
		}
	case []any:
		for _, part := range s {
			closed(part)
		}
	}
}

// contracts holds the compiled schemas of docs/schemas and records which of them have validated a document.
type contracts struct {
	schemas map[string]*jsonschema.Schema
	lines   map[string]bool
	held    map[string]bool
}

func readContracts(t *testing.T) *contracts {
	t.Helper()
	c := &contracts{map[string]*jsonschema.Schema{}, map[string]bool{}, map[string]bool{}}
	for _, k := range Contracts() {
		text, err := os.ReadFile("../../../docs/schemas/" + k.Name + ".json")
		require.NoError(t, err, "go run ./cmd/internal/manual -schemas .")
		c.schemas[k.Name] = testschema.Compile(t, text, closed)
		c.lines[k.Name] = k.Lines
	}
	return c
}

// hold validates text against a schema, line by line if the schema is for lines.
func (c *contracts) hold(t *testing.T, name string, text []byte) {
	t.Helper()
	require.Contains(t, c.schemas, name)
	documents := [][]byte{text}
	if c.lines[name] {
		documents = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	}
	for _, d := range documents {
		require.NoError(t, testschema.Validate(t, c.schemas[name], d), "%s: %s", name, d)
	}
	c.held[name] = true
}

const contractProgram = `name: forms
runtime: yaml
config:
  pw: {type: string, default: blue}
resources:
  pet: {type: "random:RandomPet", properties: {length: 2}}
  id: {type: "random:RandomId", properties: {byteLength: 2}, options: {dependsOn: ["${pet}"]}}
outputs: {name: "${pet.id}", list: [1, {a: "${id.hex}"}]}
`

// TestOutputFitsItsSchemas validates the JSON output of commands, and the files that they write, against docs/schemas.
// A member that the schema does not name is an error here. Every schema has to be used.
func TestOutputFitsItsSchemas(t *testing.T) {
	t.Parallel()
	c := readContracts(t)
	x := newTerminal(t, contractProgram)
	x.streams.InTerminal, x.streams.ErrTerminal = false, false
	x.world.Env = append(x.world.Env, "PULUMI_CONFIG_PASSPHRASE=x", "PATH="+os.Getenv("PATH"))
	path := func(name string) string { return filepath.Join(x.world.Dir, name) }
	file := func(name string) []byte {
		text, err := os.ReadFile(path(name))
		require.NoError(t, err)
		return text
	}
	holds := func(name string, code int, args ...string) {
		t.Helper()
		require.Equal(t, code, x.run(args...), "%v: %s%s", args, x.out.String(), x.err.String())
		c.hold(t, name, x.out.Bytes())
	}
	run := func(args ...string) {
		t.Helper()
		require.Equal(t, 0, x.run(args...), "%v: %s", args, x.err.String())
	}

	// commands without a stack
	holds("version", 0, "version", "--json")
	holds("findings", 0, "check", "--format", "json")
	require.NoError(t, os.WriteFile(path("faulty.yaml"),
		[]byte("resources:\n  a: {type: random:RandomPet, properties: {legnth: "+
			"1}}\n  b: {type: random:RandomPet, options: {parent: \"${c}\"}}\n"), 0o600))
	holds("findings", 12, "check", "faulty.yaml", "--format", "json")
	require.NoError(t, os.Remove(path("faulty.yaml")))
	holds("graph", 0, "graph", "--format", "json")
	holds("code", 0, "explain", "Y210", "--json")
	holds("codes", 0, "explain", "--json")
	holds("function", 0, "functions", "join", "--json")
	holds("functions", 0, "functions", "--json")
	holds("package", 0, "schema", "random", "--json")
	for _, token := range []string{"random:RandomPet", "tls:getCertificate", "random:RandomString", "tls:ProviderProxy"} {
		holds("type", 0, "schema", token, "--json")
	}
	require.NoError(t, os.WriteFile(path("map.json"),
		[]byte(`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
"data": {"k": "eA=="}}`), 0o600))
	holds("convert", 0, "convert", "--from", "kubernetes", "--json", "map.json")
	require.NoError(t, os.Remove(path("map.json")))
	holds("plugins", 0, "plugin", "ls", "--json")
	holds("identity", 0, "whoami", "--json")
	x.run("doctor", "--json") // the exit code depends on this machine
	c.hold(t, "machine", x.out.Bytes())

	// the life of a stack
	run("stack", "init", "dev")
	run("config", "set", "plain", "1")
	run("config", "set", "--path", "deep.a[0]", "true")
	run("config", "set", "--secret", "token", "hush")
	holds("config", 0, "config", "--json")
	holds("value", 0, "config", "get", "token", "--json")
	holds("value", 0, "config", "get", "deep", "--json")
	holds("operation", 0, "preview", "--json", "--save-plan", "plan.json", "--import-file", "import.json")
	c.hold(t, "plan", file("plan.json"))
	c.hold(t, "import", file("import.json"))
	holds("plan-shown", 0, "plan", "show", "plan.json", "--format", "json")
	holds("event", 0, "up", "--yes", "--json", "--out", "json=out.json", "--out", "events=events.json")
	c.hold(t, "operation", file("out.json"))
	c.hold(t, "event", file("events.json"))
	program := file("Pulumi.yaml")
	require.NoError(t, os.WriteFile(path("Pulumi.yaml"),
		bytes.Replace(program, []byte("length: 2"), []byte("length: 3"), 1), 0o600))
	holds("operation", 0, "preview", "--json", "--diff", "--save-plan", "plan.json")
	c.hold(t, "plan", file("plan.json"))
	holds("plan-shown", 0, "plan", "show", "plan.json", "--format", "json")
	holds("event", 0, "up", "--yes", "--skip-preview", "--json")
	holds("operation", 0, "drift", "--json")
	run("stack", "tag", "set", "team", "web")
	holds("tags", 0, "stack", "tag", "ls", "--json")
	holds("stacks", 0, "stack", "ls", "--json")
	holds("history", 0, "stack", "history", "--json")
	holds("about", 0, "about", "--json")
	x.run("migrate", "--check", "--format", "json")
	c.hold(t, "migration", x.out.Bytes())
	holds("event", 0, "destroy", "--yes", "--json")

	// a failed update, and several projects
	require.NoError(t, os.WriteFile(path("Pulumi.yaml"), []byte("name: forms\nruntime: yaml\nresources:\n  c: {type: "+
		"\"command:local:Command\", properties: {create: exit 3}}\n"), 0o600))
	require.NotZero(t, x.run("up", "--yes", "--skip-preview", "--json"))
	c.hold(t, "event", x.out.Bytes())
	require.NoError(t, os.MkdirAll(path("all/one"), 0o755))
	require.NoError(t, os.WriteFile(path("all/one/Pulumi.yaml"), []byte(onePet), 0o600))
	x.world.Dir = path("all")
	holds("projects", 0, "graph", "--projects", "--format", "json")
	holds("event", 0, "run", "--all", "--json", "--out", "json=out.json")
	c.hold(t, "operations", file("out.json"))

	// documents of commands that need a registry or a database
	run("-C", "one", "new", "empty", "--dir", "../two", "--yes")
	c.hold(t, "lock", file("two/yamlhost.lock.json"))
	c.hold(t, "lock", []byte(`{"version": 1, "plugins": [{"name": "a", "version": "1.0.0", "server": "s", "checksums": `+
		`{"linux-amd64": "00"}}], "keys": {"a": "k"}}`))
	job := queue.Entry{ID: 1, Job: queue.Job{Run: "r", Command: "run", Flags: []string{"--remove"}, Environment: "e", Slots: 1},
		State: queue.Done, Needs: []int64{2}, Created: time.Unix(1, 0), Ended: time.Unix(2, 0), Errors: []string{"e"},
		Result: &queue.Result{Name: "ok"}}
	for name, document := range map[string]any{"job": job, "jobs": []queue.Entry{job, {}},
		"schedules": []queue.Schedule{{Name: "nightly", Every: 60, Next: time.Unix(3, 0), Jobs: []queue.Job{job.Job}}}} {
		text, err := json.Marshal(document)
		require.NoError(t, err)
		c.hold(t, name, text)
	}
	for _, k := range Contracts() {
		require.True(t, c.held[k.Name], "nothing was held against the schema %s", k.Name)
	}
}

// Schemas reject invalid documents, including documents with unknown members.
func TestSchemasRefuse(t *testing.T) {
	t.Parallel()
	c := readContracts(t)
	for name, text := range map[string]string{
		"findings": `{"diagnostics": [{"severity": "error", "summary": "s", "colour": "red"}]}`,
		"version":  `{"version": "v1"}`,
		"machine":  `{"wrong": "none", "findings": []}`,
		"lock":     `{"version": "1", "plugins": []}`,
	} {
		require.Error(t, testschema.Validate(t, c.schemas[name], []byte(text)), name)
	}
	names := map[string]bool{}
	for _, k := range Contracts() {
		require.False(t, names[k.Name], k.Name)
		names[k.Name] = true
		require.NotEmpty(t, k.About)
		require.NotEmpty(t, k.From)
	}
}
