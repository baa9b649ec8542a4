package life

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// coder is a package with a dynamic type and a component that uses it.
var coder = map[string]string{
	"Pulumi.yaml": `name: proj
runtime: yaml
packages: {coder: ./coder}
resources:
  word: {type: "coder:Word", properties: {text: hello, token: hush}}
  pair: {type: "coder:Pair", properties: {text: both}}
outputs: {shout: "${word.shout}", pair: "${pair.shouts}"}
`,
	"coder/PulumiPlugin.yaml": `name: coder
runtime: yaml
version: 0.2.0
dynamic:
  Word:
    provider: ./word.ts
    onCodeChange: replace
    inputs:
      text: {type: string, replace: true}
      token: {type: string, secret: true, optional: true}
    outputs: {shout: string}
components:
  Pair:
    inputs: {text: {type: string}}
    resources:
      one: {type: "coder:Word", properties: {text: "${text} one"}}
      two: {type: "coder:index:Word", properties: {text: "${one.shout} two"}}
    outputs: {shouts: ["${one.shout}", "${two.shout}"]}
`,
	"coder/word.ts": `import * as fs from "node:fs";
const note = (text: string) => fs.appendFileSync("calls.txt", text + "\n");
let mark = "!";
export default {
  configure(req: any) { mark = req.config.get("mark") ?? mark; },
  create(inputs: any) {
    note("first create");
    return { id: inputs.text, outs: { text: inputs.text, shout: inputs.text.toUpperCase() + mark } };
  },
  read(id: string, props: any) { return { id, props: { ...props, text: id } }; },
  delete(id: string) { note("first delete"); },
};
`,
}

// TestPackageWithCode uses a package with a dynamic type by path, with yamlhost and with the Pulumi CLI and our
// language host. Both leave the same state, take turns at one stack, and replace objects with the code that created
// them.
func TestPackageWithCode(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node on PATH")
	}
	start := func() *sandbox {
		s := newSandbox(t)
		for name, text := range coder {
			s.write(name, text)
		}
		s.run(0, "stack", "init", "dev")
		s.run(0, "config", "set", "coder:mark", "?")
		return s
	}
	ours, theirs := start(), start()
	ours.run(0, "preview")
	ours.run(0, "up", "--yes", "--skip-preview")
	theirs.pulumi("preview")
	theirs.pulumi("up", "--yes", "--skip-preview")
	require.Equal(t, map[string]any{"shout": "HELLO?", "pair": []any{"BOTH ONE?", "BOTH ONE? TWO?"}}, ours.outputs())
	require.Equal(t, ours.timeless(), theirs.timeless())

	for _, s := range []*sandbox{ours, theirs} {
		s.run(0, "refresh", "--yes", "--skip-preview")
		s.pulumi("refresh", "--yes", "--skip-preview")
		s.run(0, "preview", "--expect-no-changes")
		s.pulumi("preview", "--expect-no-changes")
	}

	t.Log("code that changes replaces what it made, and the old code deletes it")
	changed := strings.NewReplacer("first", "second", "mark }", "mark + mark }").Replace(coder["coder/word.ts"])
	for _, s := range []*sandbox{ours, theirs} {
		s.write("coder/word.ts", changed)
		s.write("coder/calls.txt", "")
	}
	ours.run(0, "up", "--yes", "--skip-preview")
	theirs.pulumi("up", "--yes", "--skip-preview")
	for _, s := range []*sandbox{ours, theirs} {
		require.Equal(t, []string{"first delete", "first delete", "first delete", "second create", "second create",
			"second create"}, s.calls())
	}
	require.Equal(t, ours.timeless(), theirs.timeless())

	t.Log("each destroys what the other made, without the source")
	for _, s := range []*sandbox{ours, theirs} {
		require.NoError(t, os.Remove(filepath.Join(s.dir, "coder", "word.ts")))
	}
	theirs.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(t, theirs.resources())
	ours.pulumi("destroy", "--yes", "--skip-preview")
	require.Empty(t, ours.resources())
}

// calls returns the calls of the package's code, sorted.
func (s *sandbox) calls() []string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "coder", "calls.txt"))
	require.NoError(s.t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	return lines
}

// timeless returns the state without times, without the IDs that engines give to providers, and without the places of
// components: other hosts report a place in the package, and we the one in the program that uses it.
func (s *sandbox) timeless() string {
	s.t.Helper()
	out, _ := s.run(0, "stack", "export", "--show-secrets")
	var export struct {
		Deployment struct{ Resources []map[string]any }
	}
	require.NoError(s.t, json.Unmarshal([]byte(out), &export))
	all := export.Deployment.Resources
	slices.SortFunc(all, func(a, b map[string]any) int { return strings.Compare(a["urn"].(string), b["urn"].(string)) })
	for _, r := range all {
		delete(r, "created")
		delete(r, "modified")
		if r["type"] == "coder:index:Pair" {
			delete(r, "sourcePosition")
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	require.NoError(s.t, err)
	ids := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	return ids.ReplaceAllString(string(text), "ID")
}
